"""Rules about clusters, their networks, and what they cost."""
