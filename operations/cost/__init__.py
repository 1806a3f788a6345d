"""``llmd-gke cost``: what a stack will cost, and what a change of its file would cost."""
