"""Pure functions from settings to Kubernetes objects and Helm values. No cloud, no engine."""
