"""Rules about production stacks."""
