package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/cert-manager/cert-manager/internal/kube"
	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/metrics"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	"github.com/cert-manager/cert-manager/pkg/healthz"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
	utilfeature "github.com/cert-manager/cert-manager/pkg/util/feature"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	logsapi "k8s.io/component-base/logs/api/v1"
)

const workers = 5

// runController starts the controllers that are built in, after winning the election. Defaults are upstream's
// (internal/apis/config/controller/v1alpha1/defaults.go); the health and metrics servers run from the start.
func runController(ctx context.Context, arguments []string) error {
	flags, logging := pflag.NewFlagSet("controller", pflag.ContinueOnError), logsapi.NewLoggingConfiguration()
	var options controller.ContextOptions
	var leader election
	leader.addFlags(flags)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "kubeconfig; default: the pod's own service account")
	flags.Float32Var(&options.KubernetesAPIQPS, "kube-api-qps", 20, "requests a second to the API server")
	flags.IntVar(&options.KubernetesAPIBurst, "kube-api-burst", 50, "requests at once to the API server")
	flags.StringVar(&options.Namespace, "namespace", "", "only this namespace; default: all")
	flags.StringVar(&options.ClusterResourceNamespace, "cluster-resource-namespace", "kube-system", "of ClusterIssuers' Secrets")
	flags.BoolVar(&options.EnableOwnerRef, "enable-certificate-owner-ref", false, "Secrets belong to their Certificate")
	chosen := flags.StringSlice("controllers", []string{"*"}, "names to run; `*` is all, `-name` all but that")
	metricsAddress := flags.String("metrics-listen-address", "0.0.0.0:9402", "where metrics are served")
	healthAddress := flags.String("healthz-listen-address", "0.0.0.0:9403", "where /livez is served")
	gates := flags.String("feature-gates", "", "name=true|false, ...")
	ignored(flags, "acme-http01-solver-image", "acme-http01-solver-extra-labels", "acme-http01-solver-runtime-class-name",
		"max-concurrent-challenges", "dns01-recursive-nameservers", "dns01-recursive-nameservers-only",
		"default-issuer-name", "default-issuer-kind", "default-issuer-group")
	if err := parse(flags, logging, arguments); err != nil {
		return err
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		return err
	}
	options.MaxConcurrentChallenges = 60
	options.ClusterIssuerAmbientCredentials = true
	options.CopiedAnnotationPrefixes = []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"}
	options.CertificateRequestMinimumBackoffDuration = time.Hour
	options.CertificateRequestMaximumBackoffDuration = 32 * time.Hour

	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	context_, err := factory.Build()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	health := healthz.NewServer(20 * time.Second)
	if err := serve(ctx, group, *healthAddress, health.Start); err != nil {
		return err
	}
	if *metricsAddress != "0" {
		if err := serve(ctx, group, *metricsAddress, func(ctx context.Context, listener net.Listener) error {
			server := context_.Metrics.NewServer(listener)
			go func() { <-ctx.Done(); _ = server.Close() }()
			return ignoreEnd(ctx, server.Serve(listener))
		}); err != nil {
			return err
		}
	}
	config, err := kube.BuildClientConfig("", options.Kubeconfig)
	if err != nil {
		return err
	}
	config = util.RestConfigWithUserAgent(config, "leader-election")
	group.Go(func() error {
		return leader.lead(ctx, config, "cert-manager-controller", health.LeaderHealthzAdaptor, func(ctx context.Context) error {
			return control(ctx, factory, context_, *chosen)
		})
	})
	return group.Wait()
}

// control runs the chosen controllers until one fails or the context ends.
func control(ctx context.Context, factory *controller.ContextFactory, shared *controller.Context, chosen []string) error {
	log, group := logf.FromContext(ctx), errgroup.Group{}
	for name, constructor := range controller.Known() {
		if !runs(name, chosen) {
			log.V(logf.InfoLevel).Info("not starting controller", "controller", name)
			continue
		}
		made, err := constructor(factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		group.Go(func() error {
			log.V(logf.InfoLevel).Info("starting controller", "controller", name)
			return made.Run(workers, ctx)
		})
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return group.Wait()
}

// runs says whether --controllers chooses that one.
func runs(name string, chosen []string) bool {
	named := slices.Contains(chosen, name)
	return !slices.Contains(chosen, "-"+name) && (named || slices.ContainsFunc(chosen, func(one string) bool {
		return one == "*" || strings.HasPrefix(one, "-")
	}))
}

// serve listens at once, so that a port that is taken is an error, and serves in the group.
func serve(ctx context.Context, group *errgroup.Group, address string, run func(context.Context, net.Listener) error) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	group.Go(func() error { return run(ctx, listener) })
	return nil
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
