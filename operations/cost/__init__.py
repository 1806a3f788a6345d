"""``llmd-gke cost``: what a stack costs before it is up, and what a change of its file would cost."""
