"""``llmd-gke rollout``: moving requests from one version of a model to another, and back."""
