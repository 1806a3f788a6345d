"""Rules about what a cluster needs in order to serve models."""
