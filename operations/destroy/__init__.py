"""``llmd-gke destroy``: destroys a stack, and waits while Google still uses its network."""
