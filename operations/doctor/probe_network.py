"""The subnet of a probe's host: an existing one of the project, or a temporary one."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from llmd_common.kubernetes.fields import each
from llmd_gke.probe import LABEL
from operations.doctor.context import Context
from operations.doctor.google import GoogleRequestError, MissingResource

RANGE = "10.255.255.240/28"
OPERATION_SECONDS = 120


@contextmanager
def subnet_in(context: Context, region: str) -> Generator[dict[str, str]]:
    """A network interface in ``region``. If the project has no subnet there, a VPC is created, and deleted afterwards.

    Raises ``GoogleRequestError``. If the VPC cannot be deleted, standard error shows the command for it; a VPC costs
    nothing.
    """
    existing = _existing(context, region)
    if existing is not None:
        yield existing
        return
    name, project = f"{LABEL}-{secrets.token_hex(4)}", context.settings.project
    network = {"name": name, "autoCreateSubnetworks": False}
    subnet = {"name": name, "network": f"projects/{project}/global/networks/{name}", "ipCidrRange": RANGE}
    try:
        _global(context, context.google.ask("compute.networks.insert", project=project, body=network))
        made = context.google.ask("compute.subnetworks.insert", project=project, region=region, body=subnet)
        _regional(context, made, region)
        yield {"subnetwork": f"projects/{project}/regions/{region}/subnetworks/{name}"}
    finally:
        _remove(context, region, name)


def _existing(context: Context, region: str) -> dict[str, str] | None:
    """A subnet of the region: the one in the settings, otherwise any; ``None`` if there is none."""
    settings = context.settings
    if settings.network.existing is not None and region == settings.cluster.region:
        return {"subnetwork": settings.network.existing.subnet_path(settings.project, region)}
    try:
        answer = context.google.ask("compute.subnetworks.list", project=settings.project, region=region)
    except MissingResource:
        return None
    usable = [one for one in each(answer, "items") if one.get("purpose") in (None, "PRIVATE")]
    return {"subnetwork": str(usable[0]["selfLink"])} if usable else None


def _global(context: Context, operation: Mapping[str, object]) -> None:
    _checked(context.google.settle("compute.globalOperations.wait", operation, OPERATION_SECONDS))


def _regional(context: Context, operation: Mapping[str, object], region: str) -> None:
    _checked(context.google.settle("compute.regionOperations.wait", operation, OPERATION_SECONDS, region=region))


def _checked(done: Mapping[str, object]) -> None:
    if done.get("error"):
        raise GoogleRequestError(str(done["error"]))


def _remove(context: Context, region: str, name: str) -> None:
    project = context.settings.project
    try:
        with suppress(MissingResource):
            gone = context.google.ask("compute.subnetworks.delete", project=project, region=region, subnetwork=name)
            _regional(context, gone, region)
        with suppress(MissingResource):
            _global(context, context.google.ask("compute.networks.delete", project=project, network=name))
    except GoogleRequestError as error:
        message = f"gcloud compute networks subnets delete {name} --region {region} --project {project}"
        print(
            f"The probe's VPC {name} may still exist ({error}); it costs nothing.\nFix: {message}, then gcloud "
            f"compute networks delete {name} --project {project}",
            file=sys.stderr,
        )
