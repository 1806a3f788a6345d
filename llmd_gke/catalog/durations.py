"""How long the steps of a first ``pulumi up`` take, in seconds, each with its source.

*Measured* figures are single runs published by others, not averages; *estimate* marks figures that nobody published. A
figure may be lowered only with a source that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ESTIMATE = "estimate"
BY_HAND = "measured once, in a first deployment by hand"


@dataclass(frozen=True)
class Duration:
    """Duration of a step in seconds, and its source."""

    seconds: float
    source: str = ESTIMATE


BY_TYPE: Mapping[str, Duration] = {
    "gcp:container/cluster:Cluster": Duration(300, BY_HAND),
    "gcp:container/nodePool:NodePool": Duration(120),
    "gcp:projects/service:Service": Duration(30),
    "gcp:compute/network:Network": Duration(20),
    "gcp:compute/subnetwork:Subnetwork": Duration(20),
    "gcp:compute/routerNat:RouterNat": Duration(15),
    "kubernetes:helm.sh/v3:Release": Duration(60),
    "kubernetes:gateway.networking.k8s.io/v1:Gateway": Duration(120),
    "kubernetes:gateway.networking.k8s.io/v1:GatewayClassPatch": Duration(10),
}
"""Seconds until a resource of a type exists and is ready. The Gateway API is enabled when the cluster is created:
enabled later, its classes took 30 to 45 minutes to appear."""

BY_CHART: Mapping[str, Duration] = {
    "kserve-runtime-configs": Duration(10, "no pods to wait for: 2 s on the laptop cloud (timeline --measured)")
}
"""Seconds until a release of a chart is installed that differs from other releases."""

OTHER = Duration(2)
"""Any other resource: one request to an API."""

POLICY_IN_FORCE = Duration(120, "30 to 120 s, measured once on a load balancer of GKE")
"""From the last route or policy to the load balancer that applies it."""

HOST_FROM_ZERO = Duration(600, "about 10 min for a v6e pool at zero hosts: " + BY_HAND)
HOST_RESERVED = Duration(119, "v6e 1t host from a reservation until Ready: vllm-project/ci-infra")
IMAGE = Duration(21, "image pull of a cold v6e-4 pod: " + BY_HAND)
INITIALISE = Duration(30, "server start until compilation on v6e-4: " + BY_HAND)
COMPILE_COLD = Duration(190, "XLA, v6e-1, Qwen3-1.7B, mean of 3: sgl-project/sglang-jax#1263")
COMPILE_CACHED = Duration(97, "the same with a warm Cloud Storage FUSE cache: sgl-project/sglang-jax#1263")
WARM_UP = Duration(10)
REQUEST_NOTICED = Duration(60)
"""From a request for an idle model until KEDA starts its servers: a scrape, the delay of Managed Service for
Prometheus, and KEDA's 15 s."""

DOWNLOAD_GB_PER_SECOND = 6 / 35
DOWNLOAD_SOURCE = "6 GB in 35 s from Hugging Face: " + BY_HAND
BUFFERED_GB_PER_SECOND = 480 / (14 * 60)
BUFFERED_SOURCE = "480 GB in 14 min to TPU hosts, with a Rapid Cache: Google Cloud's blog, Cloud Storage FUSE profiles"
"""Of weights in a bucket. The program sets the options for reading of the profile that was measured
(``gcsfusecsi-serving``), but makes no Rapid Cache: without one, no figure is published."""
FILE_CACHE_GB_PER_SECOND = 16 / 97
FILE_CACHE_SOURCE = "16 GB in 97 s to a TPU host, through a file cache: marin-community/marin#1208"
"""Of weights in a bucket with ``parallelDownload``."""

UNKNOWN_GB = 30.0
