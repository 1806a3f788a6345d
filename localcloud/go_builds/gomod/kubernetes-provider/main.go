// Command pulumi-resource-kubernetes is Pulumi's Kubernetes provider: upstream's package with its own schema.
//
// Upstream's command is in the same module and embeds two generated files that its build makes; the builder takes them
// from the module (cmd/pulumi-resource-kubernetes), writes the version into the schema and puts them beside this file.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

var (
	//go:embed schema.json
	schema []byte
	//go:embed terraform-mapping.json
	mapping []byte
)

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
