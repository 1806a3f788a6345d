// Command cert-manager is cert-manager's controller, CA injector, webhook and API check in one binary.
//
// Upstream's own commands are Go modules of their own (cmd/controller, cmd/cainjector, cmd/webhook) that are not
// published; everything they start is in the root module, which this one wraps. It lies below cert-manager's import path
// on purpose: Go's `internal` rule goes by import path, and the webhook is in `internal/webhook`.
//
// The first argument chooses the part; the flags after it are those that the chart passes
// (deploy/charts/cert-manager). Left out: ACME, Vault and Venafi issuers, and the shims for Ingress and Gateway. They
// bring most of the cloud SDKs, and neither KServe's nor LeaderWorkerSet's chart uses them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

type part func(ctx context.Context, arguments []string) error

func main() {
	parts := map[string]part{
		"controller":      runController,
		"cainjector":      runInjector,
		"webhook":         runWebhook,
		"startupapicheck": runCheck,
	}
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: cert-manager controller|cainjector|webhook|startupapicheck [flags]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	logf.InitLogs()
	ctrl.SetLogger(logf.Log)
	err := parts[os.Args[1]](logf.NewContext(ctx, logf.Log, os.Args[1]), os.Args[2:])
	logf.FlushLogs()
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "cert-manager %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// parse reads the flags of one part and sets logging up as they say.
func parse(flags *pflag.FlagSet, logging *logsapi.LoggingConfiguration, arguments []string) error {
	if flags.Lookup("logging-format") == nil { // upstream's webhook options bring them along
		logf.AddFlags(logging, flags)
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if rest := flags.Args(); len(rest) > 0 {
		return fmt.Errorf("unexpected arguments: %s", strings.Join(rest, " "))
	}
	return logf.ValidateAndApply(logging)
}

// ignored accepts flags that only concern what was left out.
func ignored(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flags.StringSlice(name, nil, "accepted, without effect here")
	}
}
