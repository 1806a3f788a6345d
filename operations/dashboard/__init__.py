"""``llmd-gke dashboard``: the link to a stack's dashboard, and its panels for Grafana."""
