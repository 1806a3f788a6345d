"""``llmd-gke destroy``: destroys a stack, and retries while Google still uses its network."""
