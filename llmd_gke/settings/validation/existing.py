"""Rules about what exists already: cluster and Gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding

CLUSTER, GATEWAY = "llmd-gke:cluster", "llmd-gke:gateway"

NO_EFFECT: Mapping[str, frozenset[str]] = {
    CLUSTER: frozenset({"release_channel", "authorized_networks", "deletion_protection", "protect", "system_zone"})
    | {"system_pool", "maintenance", "binary_authorization", "secret_manager", "audit"},
    GATEWAY: frozenset(("tls", "redirect_http", "allow_global_access")),
}
"""Fields about what the program creates, which have no effect on what exists."""


def existing(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that nothing is set that the program would have to change about what belongs to others."""
    cluster, gateway = settings.cluster.existing, settings.gateway.existing
    for key, section in ((CLUSTER, settings.cluster), (GATEWAY, settings.gateway)):
        for field in sorted(NO_EFFECT[key] & section.model_fields_set if section.existing is not None else ()):
            name = str(type(section).model_fields[field].alias)
            problem = "the program does not change what exists already, so this has no effect"
            yield _finding(f"{key}.{name}", None, problem, f"remove {name}", f"{key}.existing")
    if cluster is None:
        at = {f"{key}.existing": pool.existing for key, pool in zip(settings.pool_keys, settings.pools, strict=True)}
        for key, there in {f"{GATEWAY}.existing": gateway is not None, **at}.items():
            if there:
                problem, fix = "a new cluster does not have it yet", "remove it, or set llmd-gke:cluster.existing"
                yield _finding(key, None, problem, fix, f"{CLUSTER}.existing")
        return
    if settings.network.existing is None:
        problem, fix = "the cluster exists, so its network does, too", "set it; `llmd-gke adopt` proposes the values"
        yield _finding("llmd-gke:network.existing", None, problem, fix, f"{CLUSTER}.existing")
    elif gateway is not None and settings.network.existing.proxies == "create":
        problem = "the existing Gateway has proxies already, and would keep the stack's subnet in use after a destroy"
        yield _finding("llmd-gke:network.existing.proxies", "create", problem, "set existing", f"{GATEWAY}.existing")
    if cluster.project not in (None, settings.project):
        problem = "everything of the stack is in the cluster's project, and gcp:project is another one"
        fix = f"pulumi config set gcp:project {cluster.project}"
        yield _finding(f"{CLUSTER}.existing.project", cluster.project, problem, fix, "gcp:project")
    for index, name in enumerate(cluster.namespaces):
        if name not in settings.namespaces:
            key, fix = f"{CLUSTER}.existing.namespaces[{index}]", "remove it, or set the namespace of a model"
            yield _finding(key, name, f"no model is in the namespace {name}", fix, "llmd-gke:models")


def _finding(key: str, value: str | None, problem: str, fix: str, need: str) -> SettingFinding:
    return SettingFinding(key, value, Finding("existing", problem, fix=fix), (need,))
