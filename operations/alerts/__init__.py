"""``llmd-gke alerts``: the alerts of a stack as a Prometheus rules file, or as Cloud Monitoring's policies."""
