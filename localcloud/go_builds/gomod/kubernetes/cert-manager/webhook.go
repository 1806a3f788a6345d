package main

import (
	"context"

	"github.com/cert-manager/cert-manager/internal/webhook"
	_ "github.com/cert-manager/cert-manager/internal/webhook/feature"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	utilfeature "github.com/cert-manager/cert-manager/pkg/util/feature"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
	"github.com/spf13/pflag"
)

// runWebhook serves upstream's own admission webhooks, with upstream's own flags.
func runWebhook(ctx context.Context, arguments []string) error {
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	options.AddConfigFlags(flags, config)
	if err := parse(flags, &config.Logging, arguments); err != nil {
		return err
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return err
	}
	server, err := webhook.NewCertManagerWebhookServer(logf.FromContext(ctx), *config)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
