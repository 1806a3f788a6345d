"""Stand-in of GKE's managed adapter of metrics: AutoscalingMetrics in, answers to the HorizontalPodAutoscaler out.

Source of what it imitates: https://docs.cloud.google.com/kubernetes-engine/docs/how-to/autoscale-using-metrics (read
2026-11-22). Kubernetes' side, discovery and the list of values, is that of ``custom.metrics.k8s.io/v1beta2``:
https://github.com/kubernetes/metrics/blob/v0.36.3/pkg/apis/custom_metrics/v1beta2/types.go. Not imitated: metrics by
PromQL, filters by labels of a metric, and the minutes until a new metric is registered.
"""
