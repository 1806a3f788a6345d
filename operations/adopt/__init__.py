"""``llmd-gke adopt``: from a cluster to a stack file, and the list of what its engine imports."""
