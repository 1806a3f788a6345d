package main

import (
	"context"
	"os"
	"time"

	cmscheme "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/util"
	utilfeature "github.com/cert-manager/cert-manager/pkg/util/feature"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	kscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// runInjector writes CA bundles into webhook configurations, CRDs and APIServices that ask for it.
func runInjector(ctx context.Context, arguments []string) error {
	flags, logging := pflag.NewFlagSet("cainjector", pflag.ContinueOnError), logsapi.NewLoggingConfiguration()
	var leader election
	leader.addFlags(flags)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig; default: the pod's own service account")
	namespace := flags.String("namespace", "", "only this namespace; default: all")
	metricsAddress := flags.String("metrics-listen-address", "0.0.0.0:9402", "where metrics are served; 0: nowhere")
	gates := flags.String("feature-gates", "", "name=true|false, ...")
	if err := parse(flags, logging, arguments); err != nil {
		return err
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		return err
	}
	if *kubeconfig != "" {
		if err := os.Setenv("KUBECONFIG", *kubeconfig); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// The injector applies with a field manager that it takes from the user agent; without one it is refused.
	config = util.RestConfigWithUserAgent(config, "cainjector")
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kscheme.AddToScheme, cmscheme.AddToScheme, apiext.AddToScheme, apireg.AddToScheme,
	} {
		if err := add(known); err != nil {
			return err
		}
	}
	options := ctrl.Options{
		Scheme: known,
		Cache:  cache.Options{ReaderFailOnMissingInformer: true},
		// Secrets are read one by one, never all of them at the start.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics:                       metrics.Options{BindAddress: *metricsAddress},
		LeaderElection:                leader.on,
		LeaderElectionNamespace:       leader.namespace,
		LeaderElectionID:              "cert-manager-cainjector-leader-election",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &leader.lease,
		RenewDeadline:                 &leader.deadline,
		RetryPeriod:                   &leader.try,
	}
	if *namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{*namespace: {}}
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := awaitCRD(ctx, config, known); err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		Namespace:                    *namespace,
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.CustomResourceDefinitionName:       true,
			cainjector.APIServiceName:                     true,
		},
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// awaitCRD waits up to five minutes, as upstream does, for Certificates to be known to the API server.
func awaitCRD(ctx context.Context, config *rest.Config, known *runtime.Scheme) error {
	direct, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, client.ObjectKey{Name: "certificates.cert-manager.io"}, &apiext.CustomResourceDefinition{})
		return err == nil, ignoreMissing(err)
	})
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
