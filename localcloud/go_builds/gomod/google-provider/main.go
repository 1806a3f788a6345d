// The published Google provider (hashicorp/terraform-provider-google) as Pulumi's plugin "gcp", for the resource types
// that the program uses, served to an emulator of Google's APIs on this machine and to nothing else.
package main

import (
	"encoding/json"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
)

// version is that of the Pulumi SDK whose properties the plugin serves. The build sets it.
var version = "0.0.0"

func main() {
	schema, err := json.Marshal(map[string]any{"name": "gcp", "version": version})
	if err != nil {
		panic(err)
	}
	tfbridge.Main("gcp", version, bridged(), schema)
}
