"""Status on one screen: nodes, pods, routes and a test request."""
