"""``llmd-gke audit``."""
