"""``llmd-gke timeline``: the duration of a first update until each model answers, simulated over the graph."""
