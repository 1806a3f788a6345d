"""``llmd-gke start``: starts a model that ``llmd-gke stop`` has stopped."""
