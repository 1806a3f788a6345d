"""Google's managed Prometheus in the laptop cloud: a real Prometheus that scrapes what PodMonitorings name.

Runs only where it is asked for (``LLMD_GKE_PROMETHEUS=1``). What shows of Google's collectors is the same:
targets and labels by their rules (:mod:`.targets`), tokens with their rights (:mod:`.collector`), and only what the
cluster's NetworkPolicies let them reach (:mod:`.network_policies`). Kube state metrics come from the real
kube-state-metrics, cut down to GKE's package (:mod:`.kube_state`).
"""
