"""Errors of nodes that Google has no room for: quota, addresses, hosts, reservations."""

from __future__ import annotations

from llmd_gke.google_errors.entry import GoogleError

CAPACITY = (
    GoogleError(
        "quota",
        "`GCE_QUOTA_EXCEEDED`, `Quota … exceeded`, `Insufficient regional quota to satisfy request`",
        r"(?s)\A(?!.*(rate_?limit|per (minute|second|100 seconds))).*"
        r"(QUOTA_EXCEEDED|Quota ['\"][^'\"]*['\"] exceeded|quota ?exceeded|"
        r"Insufficient ((regional|global|project) )?quota)",
        "the project's quota is exhausted, or was never granted",
        "request more (IAM & Admin > Quotas); `llmd-gke doctor --stack {stack}` names the quota and the amount",
    ),
    GoogleError(
        "ip-space",
        "`IP_SPACE_EXHAUSTED`, `IP space of … is exhausted`",
        r"IP_SPACE_EXHAUSTED|IP space of \S+ is exhausted|does not have available private IP space|"
        r"(insufficient|not enough|no) (free |available )+IP (addresses|space)",
        "the range that the message names has no addresses left for another node or its pods: each node takes a /24 "
        "of the pods' range",
        "lower `maxNodes`, or free addresses of the range. Nodes get a larger one by `network.nodes`, if "
        "it contains the old one; that of the pods is fixed: `network.pods` of a new cluster (docs/network.md)",
    ),
    GoogleError(
        "stock-out",
        "`GCE_STOCKOUT`, `ZONE_RESOURCE_POOL_EXHAUSTED`, `does not have enough resources`",
        r"GCE_STOCKOUT|RESOURCE_POOL_EXHAUSTED|does not have enough resources|no more capacity in the zone|"
        r"currently unavailable in the \S+ zone",
        "the zone has no free host of this type right now; GKE keeps trying",
        "wait, or set another zone or capacity (docs/pools.md); `llmd-gke doctor --stack {stack} --probe` finds one",
    ),
    GoogleError(
        "reservation",
        "`Specified reservation … does not have available resources`",
        r"reservation .{0,120}(does not have available resources|insufficient capacity|does not exist|was not found)",
        "the reservation has no free host of this machine type, or does not exist in the project and zone of the "
        "settings",
        "`gcloud compute reservations list --project PROJECT` shows zones, machine types and hosts in use: correct "
        "`reservation` of the pool",
    ),
    GoogleError(
        "pool-in-error",
        '`NodePool … was created in the error state "ERROR"`',
        r"NodePool \S+ was created in the error state",
        "GKE could not create the pool's nodes and keeps trying; the provider does not report why: either no host "
        "is free in the zone, or the quota is exhausted",
        "`llmd-gke status --stack {stack}` shows GKE's reason, `llmd-gke doctor --stack {stack} --probe` finds a host",
    ),
)
