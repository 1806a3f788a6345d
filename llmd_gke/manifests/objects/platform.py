"""All objects of the platform, in the order that its controllers require."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import charts, platform_firewall, pod_security
from llmd_gke.manifests.named import Named, named, names
from llmd_gke.settings import NetworkSettings, PlatformSettings

GATEWAY_API = "gateway-api"
"""What the component brings: KServe's controller checks only at its start which CRDs exist."""
CERT_MANAGER = charts.cert_manager().name


def objects(
    settings: PlatformSettings,
    *,
    network: NetworkSettings,
    mirrors: Mirrors,
    private_nodes: bool,
    issuer: bool = False,
    existing: Collection[str] = (),
) -> list[Named]:
    """Namespaces with labels and NetworkPolicies, then one Helm release for each chart.

    Nothing is made for the namespaces of the controllers in ``existing``; the others wait for these charts by
    :func:`names_in`. ``issuer``: cert-manager makes the Gateway's certificate.
    """
    prepared = {
        space: _namespace(space, network if settings.network_policies else None, private_nodes=private_nodes)
        for space in charts.WEBHOOK_PORTS
        if space not in existing
    }

    if issuer and settings.network_policies and CERT_MANAGER in prepared:
        allowed = platform_firewall.issuer_policy()
        prepared[CERT_MANAGER].append(Named("cert-manager-allow-issuer", allowed, ("cert-manager-namespace",)))

    def release(spec: charts.Release, *after: str) -> Named:
        return Named(
            spec.name, replace(spec, create_namespace=True), (*names(prepared.get(spec.namespace, ())), *after)
        )

    folder = settings.chart_folder
    # The CRDs only carry an annotation for cert-manager, which it follows whenever it starts.
    first = [release(make(folder, mirrors)) for make in (charts.cert_manager, charts.lws, charts.kserve_crds)]
    controller = release(charts.kserve_controller(folder, mirrors), *names(first), GATEWAY_API)
    presets = release(charts.kserve_presets(folder, mirrors), controller.name)
    releases = [*first, controller, presets]
    theirs = {name for space in existing for name in names_in(space)}
    return [*(one for some in prepared.values() for one in some), *(one for one in releases if one.name not in theirs)]


def names_in(space: str) -> list[str]:
    """The names of the releases in a namespace."""
    return [spec.name for spec in (make() for make in charts.PLATFORM) if spec.namespace == space]


def _namespace(space: str, network: NetworkSettings | None, *, private_nodes: bool) -> list[Named]:
    """It is a patch, because a patch creates a missing namespace and labels an existing one: in older stacks Helm
    created it (``createNamespace``). There a ``Namespace`` would fail because it already exists, and this program would
    delete what it did not create.
    """
    patch = Named(f"{space}-namespace", {**pod_security.namespace(space, "baseline"), "kind": "NamespacePatch"})
    closed = {} if network is None else platform_firewall.policies(space, network, private_nodes=private_nodes)
    return [patch, *named({f"{space}-{key}": policy for key, policy in closed.items()}, patch.name)]
