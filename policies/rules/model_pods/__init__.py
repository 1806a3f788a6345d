"""Rules about model pods."""
