"""The library behind the llmd-gke Pulumi program: catalogue, rules, settings and manifests without any cloud call."""
