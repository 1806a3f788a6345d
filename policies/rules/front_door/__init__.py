"""Rules about the front door."""
