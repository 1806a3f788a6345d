"""Google's managed Prometheus in the laptop cloud: a real Prometheus that scrapes what PodMonitorings name.

Runs only if enabled (``LLMD_GKE_PROMETHEUS=1``). Its visible behaviour is that of Google's collectors: targets and
labels by their rules (:mod:`.targets`), tokens with their rights (:mod:`.collector`), and only what the cluster's
NetworkPolicies let them reach (:mod:`.network_policies`). Kube state metrics come from the real kube-state-metrics,
reduced to GKE's package (:mod:`.kube_state`).
"""
