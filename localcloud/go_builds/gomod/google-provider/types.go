package main

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// resources maps upstream's names to module and name in Pulumi's SDK (pulumi-gcp 10.2).
var resources = map[string][2]string{
	"google_compute_address":                 {"compute", "Address"},
	"google_compute_firewall":                {"compute", "Firewall"},
	"google_compute_network":                 {"compute", "Network"},
	"google_compute_region_ssl_certificate":  {"compute", "RegionSslCertificate"},
	"google_compute_region_ssl_policy":       {"compute", "RegionSslPolicy"},
	"google_compute_resource_policy":         {"compute", "ResourcePolicy"},
	"google_compute_router":                  {"compute", "Router"},
	"google_compute_router_nat":              {"compute", "RouterNat"},
	"google_compute_subnetwork":              {"compute", "Subnetwork"},
	"google_container_cluster":               {"container", "Cluster"},
	"google_container_node_pool":             {"container", "NodePool"},
	"google_dns_record_set":                  {"dns", "RecordSet"},
	"google_monitoring_alert_policy":         {"monitoring", "AlertPolicy"},
	"google_monitoring_dashboard":            {"monitoring", "Dashboard"},
	"google_monitoring_notification_channel": {"monitoring", "NotificationChannel"},
	"google_monitoring_uptime_check_config":  {"monitoring", "UptimeCheckConfig"},
	"google_project_iam_member":              {"projects", "IAMMember"},
	"google_project_service":                 {"projects", "Service"},
	"google_service_account":                 {"serviceaccount", "Account"},
	"google_service_account_iam_member":      {"serviceaccount", "IAMMember"},
	"google_storage_bucket":                  {"storage", "Bucket"},
	"google_storage_bucket_iam_member":       {"storage", "BucketIAMMember"},
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

func resource(name string, token [2]string, fields map[string]*schema.Schema) *tfbridge.ResourceInfo {
	module := token[0] + "/" + strings.ToLower(token[1][:1]) + token[1][1:]
	info := &tfbridge.ResourceInfo{
		Tok:    tokens.Type("gcp:" + module + ":" + token[1]),
		Fields: map[string]*tfbridge.SchemaInfo{},
	}
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
