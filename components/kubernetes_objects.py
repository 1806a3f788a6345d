"""Kubernetes objects and Helm releases from what :mod:`llmd_gke.manifests` makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import cast

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.batch import v1 as batch
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.helm import v3 as helm
from pulumi_kubernetes.networking import v1 as networking
from pulumi_kubernetes.rbac import v1 as rbac

from llmd_gke.json_types import JsonObject
from llmd_gke.manifests.charts import Release
from llmd_gke.manifests.named import Named

BUILT_IN: Mapping[str, ModuleType] = {
    "v1": core,
    "apps/v1": apps,
    "batch/v1": batch,
    "networking.k8s.io/v1": networking,
    "rbac.authorization.k8s.io/v1": rbac,
}
"""The SDK's classes for Kubernetes' own kinds, by ``apiVersion``. Any other object becomes a CustomResource: the
provider goes by its kind."""

NAMESPACE_TIMES = pulumi.CustomTimeouts(delete="30m")
"""Time limit of the deletion. GKE's finalizer keeps a Service, and with it the namespace, until the load balancer no
longer uses its network endpoint groups. The provider's own limit is 10 minutes."""


def create(
    prefix: str,
    objects: Iterable[Named],
    opts: pulumi.ResourceOptions,
    *,
    earlier: Mapping[str, Sequence[pulumi.Resource]] | None = None,
    special: Mapping[str, pulumi.ResourceOptions] | None = None,
) -> dict[str, Sequence[pulumi.Resource]]:
    """Creates objects in their order, each after what it names, as ``PREFIX-NAME``.

    ``earlier``: resources of others, by a name in ``after``; ``special``: further options, by the name of an object
    that may be in the list. Returns ``earlier`` and the objects' resources, by name.
    """
    made = dict(earlier or {})
    for one in objects:
        waits = pulumi.ResourceOptions(depends_on=[resource for name in one.after for resource in made[name]])
        options = pulumi.ResourceOptions.merge(opts, (special or {}).get(one.name))
        made[one.name] = [
            resource(f"{one.of or prefix}-{one.name}", one.manifest, pulumi.ResourceOptions.merge(options, waits))
        ]
    return made


def resource(name: str, manifest: JsonObject | Release, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """One object as a separate resource, so that policies see it also in the first preview, or one Helm release."""
    if isinstance(manifest, Release):
        return helm.Release(
            name,
            name=manifest.name,
            chart=manifest.chart,
            version=manifest.version,
            namespace=manifest.namespace,
            create_namespace=manifest.create_namespace or None,
            values=manifest.values,
            timeout=900,
            opts=opts,
        )
    version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
    fields = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}
    if version not in BUILT_IN:
        metadata = cast("JsonObject", fields.pop("metadata"))
        return CustomResource(name, api_version=version, kind=kind, metadata=metadata, **fields, opts=opts)
    if kind == "Namespace":
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(custom_timeouts=NAMESPACE_TIMES))
    built_in = cast("Callable[..., pulumi.Resource]", getattr(BUILT_IN[version], kind))
    arguments = {re.sub("([A-Z])", r"_\1", key).lower(): value for key, value in fields.items()}
    return built_in(name, **arguments, opts=opts)
