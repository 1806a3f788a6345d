"""``llmd-gke usage``: requests and tokens by caller and model."""
