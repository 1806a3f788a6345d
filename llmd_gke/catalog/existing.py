"""The controllers that a cluster may have before a stack comes: where they usually are, and which versions work.

``images``: the end of the repository, by which a Deployment is recognised in any namespace. ``floor``: the oldest
version that works, for the reason beside it. ``tested``: the one that the program installs and its tests run.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog import front_door, kserve, versions


@dataclass(frozen=True, kw_only=True)
class Part:
    """A controller. ``key``: its name below ``cluster.existing.controllers``; empty if a stack cannot share it, for the
    reason ``alone``. ``gateway``: the ``gateway.class`` that needs it (default: any). ``namespace``: where the program
    installs it. ``crd``: a kind of every installation, KIND.GROUP.
    """

    title: str
    key: str = ""
    namespace: str
    images: tuple[str, ...]
    crd: str
    floor: str
    tested: str
    alone: str = ""
    gateway: str = ""


CERT_MANAGER = Part(
    title="cert-manager",
    key="certManager",
    namespace="cert-manager",
    images=("cert-manager-controller",),
    crd="Certificate.cert-manager.io",
    floor="1.17.0",  # what the floor of KServe is tested with (kserve/kserve ``hack/setup/quick-install``)
    tested=versions.chart("cert-manager").version,
)
LEADER_WORKER_SET = Part(
    title="LeaderWorkerSet",
    key="leaderWorkerSet",
    namespace="lws-system",
    images=("lws/lws",),
    crd="LeaderWorkerSet.leaderworkerset.x-k8s.io",
    floor="0.8.0",  # an upgrade from 0.7 deletes the CRD and every LeaderWorkerSet (kubernetes-sigs/lws#880)
    tested=versions.chart("lws").version,
)
KSERVE = Part(
    title="KServe",
    key="kserve",
    namespace=kserve.NAMESPACE,
    images=("llmisvc-controller", "kserve-controller"),  # of Open Data Hub: one for both kinds of services
    crd=f"{kserve.SERVICE}.{kserve.GROUP}",
    floor=kserve.FLOOR,
    tested=versions.chart(kserve.CONTROLLER_CHART).version,
)
KEDA = Part(
    title="KEDA",
    key="keda",
    namespace="keda",
    images=("kedacore/keda",),
    crd="ScaledObject.keda.sh",
    floor="2.18.0",  # as cert-manager's
    tested=versions.archive("keda").version,
)
ENVOY_GATEWAY = Part(
    title="Envoy Gateway",
    namespace=front_door.PROXIES_NAMESPACE,
    images=("envoyproxy/gateway",),
    crd="EnvoyProxy.gateway.envoyproxy.io",
    floor=front_door.FLOOR,
    tested=versions.chart(front_door.GATEWAY_CHART).version,
    alone="AI Gateway is an extension in its one configuration, and would see every route of its other Gateways",
)
ISTIO = Part(
    title="Istio",
    namespace="istio-system",
    images=("istio/pilot",),
    crd="DestinationRule.networking.istio.io",
    floor="1.29.0",  # the oldest that llm-d's guide for Istio names
    tested=versions.chart("istiod").version,
    alone="the GatewayClass istio is one istiod's, whose version and settings this stack's Gateway would get",
    gateway="istio",
)
PARTS = (CERT_MANAGER, LEADER_WORKER_SET, KSERVE, KEDA, ENVOY_GATEWAY, ISTIO)

INFERENCE_POOLS = "v1.inference.networking.k8s.io"
"""The API of the CRD that GKE installs from 1.34.0-gke.1626000 on (llm-d ``guides/prereq/gateways/gke.md`` @a14492ca).

The API server creates an APIService for every CRD that it serves. The CRD itself cannot be patched: the provider
rejects one without group and kind, and updates a CRD by replacing it (pulumi-kubernetes v4.25.0, ``groupKindFromCRD``
in provider/pkg/clients/cache.go, ``updateResource`` in provider/pkg/await/await.go).
"""
