"""Rules about InferencePools."""
