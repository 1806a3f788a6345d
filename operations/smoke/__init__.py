"""``llmd-gke smoke``: checks everything that clients of a model rely on, through the stack's gateway."""
