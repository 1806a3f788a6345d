"""Facts about GKE's Gateway: classes, address, policies, limits, conditions."""
