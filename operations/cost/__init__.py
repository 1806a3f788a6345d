"""``llmd-gke cost``: the price of a stack, and the price of a change to its file."""
