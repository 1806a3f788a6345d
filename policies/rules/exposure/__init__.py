"""Rules about what is exposed too widely."""
