package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cert-manager/cert-manager/internal/kube"
	"github.com/cert-manager/cert-manager/pkg/util/cmapichecker"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
)

// runCheck is `check api` of the chart's Job after an installation: it waits until a Certificate can be created.
func runCheck(ctx context.Context, arguments []string) error {
	if len(arguments) < 2 || arguments[0] != "check" || arguments[1] != "api" {
		return fmt.Errorf("usage: cert-manager startupapicheck check api [--wait=1m]")
	}
	flags := pflag.NewFlagSet("startupapicheck", pflag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; default: the pod's own service account")
	namespace := flags.StringP("namespace", "n", os.Getenv("POD_NAMESPACE"), "where to try")
	patience := flags.Duration("wait", 0, "how long to go on trying")
	interval := flags.Duration("interval", 5*time.Second, "between two attempts")
	flags.CountP("verbose", "v", "accepted, as the chart passes it; every attempt is reported anyway")
	if err := flags.Parse(arguments[2:]); err != nil {
		return err
	}
	config, err := kube.BuildClientConfig("", *kubeconfig)
	if err != nil {
		return err
	}
	checker, err := cmapichecker.New(config, *namespace)
	if err != nil {
		return err
	}
	last := checker.Check(ctx)
	if last != nil && *patience > 0 {
		_ = wait.PollUntilContextTimeout(ctx, *interval, *patience, false, func(ctx context.Context) (bool, error) {
			last = checker.Check(ctx)
			if last != nil {
				fmt.Printf("Not ready: %v\n", cmapichecker.TranslateToSimpleError(last))
			}
			return last == nil, nil
		})
	}
	if last == nil {
		fmt.Println("The cert-manager API is ready")
	}
	return last
}
