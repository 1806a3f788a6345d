"""Rules about what exists already: cluster and Gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import AddressValueError, IPv4Address

from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding

CLUSTER, GATEWAY = "llmd-gke:cluster", "llmd-gke:gateway"

OWNERS_KEYS: Mapping[str, Mapping[str, str]] = {
    CLUSTER: {
        "release_channel": "releaseChannel",
        "authorized_networks": "authorizedNetworks",
        "deletion_protection": "deletionProtection",
        "protect": "protect",
        "system_zone": "systemZone",
        "system_pool": "systemPool",
        "maintenance": "maintenance",
        "binary_authorization": "binaryAuthorization",
        "secret_manager": "secretManager",
        "audit": "audit",
    },
    GATEWAY: {
        "tls": "tls",
        "redirect_http": "redirectHttp",
        "allow_global_access": "allowGlobalAccess",
    },
}
"""Settings of what the program creates, by field; they have no effect on what exists already."""


def existing(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that nothing is set that the program would have to change about what belongs to others."""
    cluster, gateway = settings.cluster.existing, settings.gateway.existing
    for key, section, there in ((CLUSTER, settings.cluster, cluster), (GATEWAY, settings.gateway, gateway)):
        given = section.model_fields_set if there is not None else frozenset[str]()
        for field, name in OWNERS_KEYS[key].items():
            if field in given:
                problem = f"the program does not change what exists already, so {name} has no effect"
                yield _finding(f"{key}.{name}", getattr(section, field), problem, f"remove {name}", f"{key}.existing")
    if cluster is not None:
        if settings.network.existing is None:
            problem = "the cluster exists, so its network does, too"
            fix = "set llmd-gke:network.existing; `llmd-gke adopt` reads it from the cluster"
            yield _finding("llmd-gke:network.existing", None, problem, fix, f"{CLUSTER}.existing")
        if cluster.project not in (None, settings.project):
            problem = "everything of the stack is in the cluster's project, and gcp:project is another one"
            fix = f"pulumi config set gcp:project {cluster.project}"
            yield _finding(f"{CLUSTER}.existing.project", cluster.project, problem, fix, "gcp:project")
        for index, name in enumerate(cluster.namespaces):
            if name not in settings.namespaces:
                problem = f"no model is in the namespace {name}"
                fix = "remove it, or set the namespace of a model"
                yield _finding(f"{CLUSTER}.existing.namespaces[{index}]", name, problem, fix, "llmd-gke:models")
    else:
        for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
            if pool.existing:
                problem, fix = (
                    "a new cluster has no node pools yet",
                    "remove existing, or set llmd-gke:cluster.existing",
                )
                yield _finding(f"{key}.existing", True, problem, fix, f"{CLUSTER}.existing")
        if gateway is not None:
            problem, fix = "a new cluster has no Gateway yet", "remove it, or set llmd-gke:cluster.existing"
            yield _finding(f"{GATEWAY}.existing", gateway.name, problem, fix, f"{CLUSTER}.existing")
    if gateway is not None and not _is_address(gateway.address):
        problem, fix = "this is no IPv4 address", f"kubectl -n {gateway.namespace} get gateway {gateway.name}"
        yield _finding(f"{GATEWAY}.existing.address", gateway.address, problem, fix)


def _finding(key: str, value: object, problem: str, fix: str, *needs: str) -> SettingFinding:
    shown = value if isinstance(value, str | bool | int | None) else None
    return SettingFinding(key, shown, Finding("existing", problem, fix=fix), needs)


def _is_address(text: str) -> bool:
    try:
        return bool(IPv4Address(text))
    except AddressValueError:
        return False
