"""``llmd-gke graph``: the picture of a stack, from the graph that its program registers."""
