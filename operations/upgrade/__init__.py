"""``llmd-gke upgrade``: from the versions that a stack runs to those of this release."""
