package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"github.com/hashicorp/terraform-provider-google/google/registry"
	// Each registers its resources. Upstream's own provider package would bring all of its 184 services.
	_ "github.com/hashicorp/terraform-provider-google/google/services/artifactregistry"
	_ "github.com/hashicorp/terraform-provider-google/google/services/compute"
	_ "github.com/hashicorp/terraform-provider-google/google/services/container"
	_ "github.com/hashicorp/terraform-provider-google/google/services/dns"
	_ "github.com/hashicorp/terraform-provider-google/google/services/monitoring"
	_ "github.com/hashicorp/terraform-provider-google/google/services/resourcemanager"
	_ "github.com/hashicorp/terraform-provider-google/google/services/storage"
	"github.com/hashicorp/terraform-provider-google/google/transport"
)

// upstream is the published provider, cut to our types, with those of its settings that the program gives.
func upstream() *schema.Provider {
	provider := &schema.Provider{
		Schema: map[string]*schema.Schema{
			"project": text(), "region": text(), "zone": text(), "billing_project": text(),
			"impersonate_service_account":     text(),
			"user_project_override":           {Type: schema.TypeBool, Optional: true},
			"add_terraform_attribution_label": {Type: schema.TypeBool, Optional: true, Default: true},
			"default_labels": {
				Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString},
			},
		},
		ResourcesMap: map[string]*schema.Resource{}, DataSourcesMap: map[string]*schema.Resource{},
	}
	for name := range resources {
		provider.ResourcesMap[name] = known(registry.ResourceMap()[name], name)
	}
	for name := range functions {
		if name == "google_client_config" {
			provider.DataSourcesMap[name] = clientConfig()
		} else {
			provider.DataSourcesMap[name] = known(registry.DatasourceMap()[name], name)
		}
	}
	provider.ConfigureContextFunc = configure
	return provider
}

// ofBeta are properties that the program sets, and that only google-beta has, which is in the official plugin. They are
// planned and stored, and not sent.
var ofBeta = map[string]map[string]*schema.Schema{
	"google_container_cluster": {"managed_opentelemetry_config": {
		Type: schema.TypeList, Optional: true, MaxItems: 1,
		Elem: &schema.Resource{Schema: map[string]*schema.Schema{"scope": text()}},
	}},
}

func text() *schema.Schema { return &schema.Schema{Type: schema.TypeString, Optional: true} }

func known(found *schema.Resource, name string) *schema.Resource {
	if found == nil {
		panic("upstream has no " + name)
	}
	for property, field := range ofBeta[name] {
		found.Schema[property] = field
	}
	return found
}

// configure points every API at the emulator and gives upstream a token that is worth nothing. It looks for no
// credentials: impersonation is left out, too.
func configure(_ context.Context, data *schema.ResourceData) (any, diag.Diagnostics) {
	root, err := emulator()
	if err != nil {
		return nil, diag.FromErr(err)
	}
	config := transport.Config{
		Project: data.Get("project").(string), Region: data.Get("region").(string), Zone: data.Get("zone").(string),
		BillingProject: data.Get("billing_project").(string), AccessToken: "emulator",
		UserProjectOverride:                       data.Get("user_project_override").(bool),
		AddTerraformAttributionLabel:              data.Get("add_terraform_attribution_label").(bool),
		TerraformAttributionLabelAdditionStrategy: transport.CreateOnlyAttributionStrategy,
		UniverseDomain:                            "googleapis.com",
		UserAgent:                                 "pulumi-gcp/" + version,
		CustomEndpoints:                           map[string]string{}, DefaultLabels: map[string]string{},
		PollInterval: pollInterval,
	}
	for key, value := range data.Get("default_labels").(map[string]any) {
		config.DefaultLabels[key] = value.(string)
	}
	for _, product := range registry.ListProducts() {
		config.CustomEndpoints[product.CustomEndpointField] = at(root, product.BaseUrl)
	}
	batching := []any{map[string]any{"send_after": sendAfter, "enable_batching": true}}
	if config.BatchingConfig, err = transport.ExpandProviderBatchingConfig(batching); err != nil {
		return nil, diag.FromErr(err)
	}
	// Not the call's context: it ends with the call, and the batches of later calls with it ("Parent context canceled").
	if err := config.LoadAndValidate(context.Background()); err != nil {
		return nil, diag.FromErr(err)
	}
	return &config, nil
}

// clientConfig is upstream's data source of that name, which is written for another plugin framework there.
func clientConfig() *schema.Resource {
	return &schema.Resource{
		Schema: map[string]*schema.Schema{
			"project": computed(), "region": computed(), "zone": computed(),
			"access_token": {Type: schema.TypeString, Computed: true, Sensitive: true},
			"default_labels": {
				Type: schema.TypeMap, Computed: true, Elem: &schema.Schema{Type: schema.TypeString},
			},
		},
		ReadContext: func(_ context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
			config := meta.(*transport.Config)
			data.SetId("client-config")
			for key, value := range map[string]any{
				"project": config.Project, "region": config.Region, "zone": config.Zone,
				"access_token": config.AccessToken, "default_labels": config.DefaultLabels,
			} {
				if err := data.Set(key, value); err != nil {
					return diag.FromErr(err)
				}
			}
			return nil
		},
	}
}

func computed() *schema.Schema { return &schema.Schema{Type: schema.TypeString, Computed: true} }
