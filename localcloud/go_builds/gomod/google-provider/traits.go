package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
)

// property is what the schema says of one property; its path is in Pulumi's names, without list indices.
type property struct {
	Path      string `json:"path"`
	Type      string `json:"type"`
	Input     bool   `json:"input"`
	Computed  bool   `json:"computed"`
	ForceNew  bool   `json:"forceNew"`
	Secret    bool   `json:"secret"`
	Suppress  bool   `json:"suppress"`
	Validated bool   `json:"validated"`
	Default   any    `json:"default,omitempty"`
}

// printTraits writes the properties of every type as JSON: what tables of the hand-written provider are checked against.
func printTraits(info tfbridge.ProviderInfo) error {
	types := map[string][]property{}
	for name, found := range upstream().ResourcesMap {
		token := info.Resources[name].Tok
		types[string(token)] = walk(found.SchemaMap(), "", info.Resources[name].Fields)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(types)
}

func walk(fields map[string]*schema.Schema, above string, named map[string]*tfbridge.SchemaInfo) []property {
	names, found := []string{}, []property{}
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	known := shim.NewSchemaMap(fields)
	for _, name := range names {
		field := fields[name]
		path := above + tfbridge.TerraformToPulumiNameV2(name, known, named)
		found = append(found, property{
			Path: path, Type: strings.ToLower(strings.TrimPrefix(field.Type.String(), "Type")),
			Input: field.Required || field.Optional, Computed: field.Computed, ForceNew: field.ForceNew,
			Secret: field.Sensitive, Suppress: field.DiffSuppressFunc != nil,
			Validated: field.ValidateFunc != nil || field.ValidateDiagFunc != nil, Default: field.Default,
		})
		if block, is := field.Elem.(*schema.Resource); is {
			found = append(found, walk(block.SchemaMap(), path+".", nil)...)
		}
	}
	return found
}
