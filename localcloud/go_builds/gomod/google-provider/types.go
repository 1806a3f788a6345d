package main

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// named are the resource types that the program uses: upstream's names and their tokens in Pulumi's SDK.
//
//go:embed resources.json
var named []byte

// resources maps upstream's names to Pulumi's tokens.
var resources = listed()

func listed() map[string]tokens.Type {
	table := map[string]tokens.Type{}
	if err := json.Unmarshal(named, &table); err != nil {
		panic(err)
	}
	return table
}

// functions are the data sources that the program may ask.
var functions = map[string][2]string{
	"google_client_config": {"organizations", "getClientConfig"},
	"google_project":       {"organizations", "getProject"},
}

// bridged is the provider with Pulumi's names. Upstream's names are turned into Pulumi's by the bridge; for these types
// the SDK differs in nothing else than what stands here.
func bridged() tfbridge.ProviderInfo {
	provider := upstream()
	info := tfbridge.ProviderInfo{
		P: shim.NewProvider(provider), Name: "google", ResourcePrefix: "google", Version: version,
		MetadataInfo: tfbridge.NewProviderMetadata([]byte("{}")),
		Config: map[string]*tfbridge.SchemaInfo{
			"add_terraform_attribution_label": {Name: "addPulumiAttributionLabel"},
		},
		Resources:                      map[string]*tfbridge.ResourceInfo{},
		DataSources:                    map[string]*tfbridge.DataSourceInfo{},
		EnableZeroDefaultSchemaVersion: true, EnableAccurateBridgePreview: true, EnableRawStateDelta: true,
	}
	for name, token := range resources {
		info.Resources[name] = resource(name, token, provider.ResourcesMap[name].SchemaMap())
	}
	for name, token := range functions {
		info.DataSources[name] = &tfbridge.DataSourceInfo{
			Tok: tokens.ModuleMember("gcp:" + token[0] + "/" + token[1] + ":" + token[1]),
		}
	}
	info.SetAutonaming(255, "-")
	return info
}

func resource(name string, token tokens.Type, fields map[string]*schema.Schema) *tfbridge.ResourceInfo {
	info := &tfbridge.ResourceInfo{Tok: token, Fields: map[string]*tfbridge.SchemaInfo{}}
	switch name {
	case "google_storage_bucket":
		info.Fields["name"] = tfbridge.AutoName("name", 222, "-")
	case "google_service_account":
		info.Fields["account_id"] = tfbridge.AutoName("", 30, "-")
	case "google_dns_record_set": // a record's name is its FQDN: there is none to make up
		info.Fields["name"] = &tfbridge.SchemaInfo{Name: "name"}
	case "google_project_iam_member":
		info.DeleteBeforeReplace = true
	default:
		if field, has := fields["name"]; has && (field.Required || field.Optional) {
			info.Fields["name"] = tfbridge.AutoNameWithCustomOptions("name", tfbridge.AutoNameOptions{
				Separator: "-", Maxlen: longest(name), Randlen: 7, Transform: strings.ToLower,
			})
		}
	}
	if _, has := fields["terraform_labels"]; has {
		info.Fields["terraform_labels"] = &tfbridge.SchemaInfo{Name: "pulumiLabels", Secret: tfbridge.True()}
	}
	if _, has := fields["effective_labels"]; has {
		info.Fields["effective_labels"] = &tfbridge.SchemaInfo{Secret: tfbridge.True()}
	}
	return info
}

// longest is how long a made-up name may be: 63 characters in Compute Engine, 40 in GKE.
func longest(name string) int {
	if strings.HasPrefix(name, "google_container_") {
		return 40
	}
	return 63
}
