"""Rules about egress of pods."""
