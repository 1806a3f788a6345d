"""``llmd-gke ask``: a question to each server of a model, past gateway and endpoint picker."""
