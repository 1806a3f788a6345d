"""The Kubernetes provider's stand-in: returns what it gets, with an API server's additions and errors."""
