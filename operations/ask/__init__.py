"""``llmd-gke ask``: a request to each server of a model, bypassing gateway and endpoint picker."""
