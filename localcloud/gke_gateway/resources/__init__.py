"""What the Gateway API objects, Services and policies in the cluster mean, before anything is configured."""
