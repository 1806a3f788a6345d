"""The CRDs that a GKE cluster with the Gateway API brings."""
