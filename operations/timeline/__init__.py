"""``llmd-gke timeline``: how long a first update takes until each model answers, simulated over the graph."""
