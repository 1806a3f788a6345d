"""``llmd-gke destroy``: destroys a stack, and waits for Google where it has to."""
