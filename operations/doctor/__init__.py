"""``llmd-gke doctor``: finds what would make ``pulumi up`` fail, before anything is created."""
