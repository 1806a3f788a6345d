"""A Kubernetes client for the daemons: objects as plain data, watches, a cache."""
