"""The Kubernetes provider's stand-in: an echo with an API server's manners."""
