"""The pack on anything, without an engine: manifests, charts, clusters, plans of Terraform, previews of Pulumi."""
