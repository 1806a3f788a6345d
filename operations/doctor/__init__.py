"""``llmd-gke doctor``: what would stop ``pulumi up``, asked before anything is created."""
