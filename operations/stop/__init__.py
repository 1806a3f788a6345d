"""``llmd-gke stop``: releases a model's hosts until ``llmd-gke start``."""
