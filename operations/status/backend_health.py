"""The pods that Google's load balancer considers healthy, which is not the same as Ready in Kubernetes.

Compute Engine reports it: every backend service of the stack's region and network has groups of endpoints, and each
endpoint is the address of a pod
(https://cloud.google.com/compute/docs/reference/rest/v1/regionBackendServices/getHealth). So nothing depends on names
that GKE generates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from llmd_common.kubernetes.fields import Object, condition_is_true, each, text
from llmd_gke.catalog.front_door import PROXIES_NAMESPACE as PROXIES
from llmd_gke.manifests import naming
from llmd_gke.settings import StackSettings
from operations.doctor.google import GoogleClient, GoogleRequestError, login
from operations.status import front_door
from operations.status.objects import Line, Snapshot, State, labelled

HEALTHY = "HEALTHY"
Health = Mapping[str, Sequence[str]]
"""States by endpoint address: a pod may be in several backend services."""


def ask(settings: StackSettings) -> Health:
    """The health of every endpoint behind the region's load balancers. Raises ``GoogleRequestError``."""
    google = GoogleClient(settings.project, login())
    where = {"project": settings.project, "region": settings.cluster.region}
    states: dict[str, list[str]] = {}
    for service in each(google.ask("compute.regionBackendServices.list", **where), "items"):
        if not _ours(service, settings):
            continue
        for backend in each(service, "backends"):
            answer = google.ask(
                "compute.regionBackendServices.getHealth",
                **where,
                backendService=service["name"],
                body={"group": backend["group"]},
            )
            for endpoint in each(answer, "healthStatus"):
                states.setdefault(text(endpoint, "ipAddress"), []).append(text(endpoint, "healthState"))
    return states


def _ours(service: Mapping[str, object], settings: StackSettings) -> bool:
    """Whether a backend service belongs to the stack's network, or does not name its network: then the pods' addresses
    decide.
    """
    network = text(service, "network")
    return (
        not network or settings.network.existing is not None or network.endswith(f"/networks/{settings.cluster.name}")
    )


def lines(snapshot: Snapshot, settings: StackSettings, health: Health) -> list[Line]:
    """A line for each backend: the front door's proxies, and each model that the load balancer reaches without it."""
    behind = settings.front_door is not None
    lines = [_line(front_door.NAME, PROXIES, front_door.proxies(snapshot), health)] if behind else []
    if not settings.routes_pools_at_the_edge:
        return lines
    for model in settings.models:
        if not model.stopped:
            pods = labelled(snapshot.pods, model.namespace, naming.workload_labels(model.name))
            lines.append(_line(model.name, model.namespace, pods, health))
    return lines


def _line(owner: str, where: str, pods: Iterable[Object], health: Health) -> Line:
    subject = f"{owner}: backends"
    addresses = (text(pod, "status", "podIP") for pod in pods if condition_is_true(pod, "Ready"))
    ready = [address for address in addresses if address]
    if not ready:
        return Line(subject, State.BUSY, "no pod is Ready yet")
    seen = {address: health.get(address, ()) for address in ready}
    good = [address for address, states in seen.items() if states and set(states) == {HEALTHY}]
    message = f"{len(good)} of {len(ready)} Ready pods are HEALTHY for Google's load balancer"
    if len(good) == len(ready):
        return Line(subject, State.GOOD, message)
    other = [
        f"{address}: {', '.join(states) or 'in no backend'}" for address, states in seen.items() if address not in good
    ]
    fix = f"kubectl -n {where} get healthcheckpolicy,networkpolicy"
    # A new endpoint needs some probes; an unhealthy one does not recover by itself.
    bad = any(state not in (HEALTHY, "") for states in seen.values() for state in states)
    return Line(subject, State.BAD if bad else State.BUSY, f"{message}; {'; '.join(other)}", fix)


def section(snapshot: Snapshot, settings: StackSettings) -> list[Line]:
    """Lines on the backends' health, or one line with the reason why Google cannot be queried; none where
    proxies in the cluster follow the pods' readiness.
    """
    if not settings.gateway.is_googles:
        return []
    try:
        return lines(snapshot, settings, ask(settings))
    except GoogleRequestError as error:
        return [Line("load balancer", State.UNKNOWN, f"cannot be queried: {error}")]
