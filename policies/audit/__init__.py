"""The pack on anything, without a Pulumi engine: manifests, charts, clusters, plans of Terraform, previews of Pulumi."""
