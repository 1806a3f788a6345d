"""GKE's ComputeClass: an order of node pools that the cluster autoscaler tries one after the other.

Sources: https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass (fields; 2026-11) and
https://docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes (own node pools need
label and taint; pods that select a class get the toleration). GKE 1.30.3-gke.1451000 and later have the kind, which
every control plane that the program accepts is.
"""

from __future__ import annotations

GROUP = "cloud.google.com"
VERSION = f"{GROUP}/v1"
KIND = "ComputeClass"
PLURAL = "computeclasses"

LABEL = "cloud.google.com/compute-class"
"""Key of the label and taint of a class's own node pools, and of its pods' node selector. The value: the class."""

TAINT_EFFECT = "NoSchedule"
NODE_POOL_TAINT_EFFECT = "NO_SCHEDULE"
"""The effect of the same taint, as the API of node pools spells it."""

MOST_PRIORITIES = 10
"""A priority without stock is tried again after about five minutes. With more than ten of them the first are tried
again before the last has had its turn (gke-labs/kube-agents, debugging guide of ComputeClasses, 2026-09)."""

MAX_HOSTS = "llmd-gke/max-hosts"
"""Annotation of our classes: hosts that run in all node pools together at most, which no field of the class limits."""

RECLAIMABLE = "llmd-gke/reclaimable-only"
"""Annotation of our classes: ``accepted`` if Google may reclaim every host, and the settings say so."""

ACCEPTED = "accepted"
