"""Rules about routes."""
