"""Checks that GKE and Compute Engine offer the stack's version, zones and machine types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_common.kubernetes.fields import each, get, part, text, texts
from llmd_gke.catalog import versions
from llmd_gke.rules.versions import version_of
from operations.doctor.context import Context
from operations.doctor.google import MissingResource
from operations.doctor.result import Result, failed, ok, warning


def gke_version(context: Context) -> Iterator[Result]:
    """The release channel offers a version that the program supports and that satisfies the settings."""
    cluster, project = context.settings.cluster, context.settings.project
    if cluster.existing is not None:
        return
    name = f"projects/{project}/locations/{cluster.location}"
    config = context.google.ask("container.projects.locations.getServerConfig", name=name)
    channels = {text(channel, "channel"): channel for channel in each(config, "channels")}
    offered = texts(channels.get(cluster.release_channel), "validVersions")
    floor = version_of(versions.gke_floor()) or ()
    fit = [version for version in offered if (version_of(version) or ()) >= floor and _matches(version, cluster)]
    if fit:
        yield ok("GKE version", f"channel {cluster.release_channel} offers {_newest(fit)} in {cluster.location}")
        return
    yield failed(
        "GKE version",
        f"channel {cluster.release_channel} offers in {cluster.location} {', '.join(offered) or 'nothing'}; "
        f"cluster.minVersion requires {cluster.min_version}, and GKE installs the InferencePool CRD from "
        f"{versions.gke_floor()} on",
        f"set llmd-gke:cluster.minVersion to an offered version, or releaseChannel to another "
        f"({_others(channels, floor)})",
    )


def _matches(version: str, cluster: object) -> bool:
    wanted = str(getattr(cluster, "min_version", ""))
    if len(wanted.split(".")) > 2:  # a full version must be offered exactly
        return version == wanted
    return (version_of(version) or ())[:2] >= (version_of(wanted) or ())[:2]


def _newest(offered: list[str]) -> str:
    return max(offered, key=lambda version: version_of(version) or ())


def _others(channels: Mapping[str, Mapping[str, object]], floor: tuple[int, ...]) -> str:
    fit = {
        name: _newest(versions)
        for name, channel in channels.items()
        if (versions := [one for one in texts(channel, "validVersions") if (version_of(one) or ()) >= floor])
    }
    return ", ".join(f"{name} has {version}" for name, version in fit.items()) or "none has a newer one"


def zones(context: Context) -> Iterator[Result]:
    """The zones exist and are up."""
    settings = context.settings
    wanted = {settings.cluster.node_zone, *(pool.zone_in(settings.cluster.zone) for pool in settings.node_pools)}
    for zone in sorted(wanted):
        try:
            answer = context.google.ask("compute.zones.get", project=settings.project, zone=zone)
        except MissingResource:
            yield failed(
                "zone", f"zone {zone} does not exist, or is not available to this project", "gcloud compute zones list"
            )
            continue
        status = str(answer.get("status"))
        if status == "UP":
            yield ok("zone", f"{zone} is up")
        else:
            yield warning("zone", f"{zone} is {status}", "https://status.cloud.google.com")


def machine_types(context: Context) -> Iterator[Result]:
    """Compute Engine, which provides GKE's nodes, offers each pool's machine type in its zone.

    The Cloud TPU API is not queried: it lists zones in which GKE offers no TPUs.
    """
    settings = context.settings
    wanted = {(pool.machine_type, pool.zone_in(settings.cluster.zone)) for pool in settings.node_pools}
    wanted.add((settings.cluster.system_pool.machine_type, settings.cluster.node_zone))
    for machine, zone in sorted(wanted):
        try:
            context.google.ask("compute.machineTypes.get", project=settings.project, zone=zone, machineType=machine)
        except MissingResource:
            elsewhere = ", ".join(_zones_with(context, machine)) or "no zone of this project"
            yield failed(
                "machine type",
                f"{machine} is not offered in {zone}; it is offered in {elsewhere}",
                "set llmd-gke:cluster.zone (or the pool's zone) to one of them",
            )
        else:
            yield ok("machine type", f"{machine} is offered in {zone}")


def _zones_with(context: Context, machine: str) -> list[str]:
    answer = context.google.ask(
        "compute.machineTypes.aggregatedList", project=context.settings.project, filter=f"name={machine}"
    )
    scopes = part(answer, "items").items()
    return sorted(scope.removeprefix("zones/") for scope, entry in scopes if get(entry, "machineTypes"))
