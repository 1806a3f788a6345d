"""Pure functions from settings to Kubernetes objects and Helm values. They import neither Pulumi nor a client of a
cloud.
"""
