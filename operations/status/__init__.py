"""One screen from the cluster's nodes to a model's first token."""
