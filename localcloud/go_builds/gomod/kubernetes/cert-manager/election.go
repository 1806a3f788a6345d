package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// election holds the flags of leader election, with upstream's defaults (internal/apis/config/shared/v1alpha1).
type election struct {
	on                   bool
	namespace            string
	lease, deadline, try time.Duration
}

func (e *election) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&e.on, "leader-elect", true, "lead only while holding the lease")
	flags.StringVar(&e.namespace, "leader-election-namespace", "kube-system", "namespace of the lease")
	flags.DurationVar(&e.lease, "leader-election-lease-duration", 60*time.Second, "how long a lease holds")
	flags.DurationVar(&e.deadline, "leader-election-renew-deadline", 40*time.Second, "renew it within")
	flags.DurationVar(&e.try, "leader-election-retry-period", 15*time.Second, "between two attempts")
}

// lead calls run while this process holds the lease of that name, and gives the lease back at the end.
func (e *election) lead(
	ctx context.Context, config *rest.Config, name string, watchdog *leaderelection.HealthzAdaptor, run func(context.Context) error,
) error {
	if !e.on {
		return run(ctx)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	// Processes of two pods may see the same host name; only one of them may lead.
	identity := host + "_" + string(uuid.NewUUID())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	result := errors.New("the lease was lost")
	leader, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.namespace, Name: name},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: e.lease, RenewDeadline: e.deadline, RetryPeriod: e.try,
		ReleaseOnCancel: true,
		WatchDog:        watchdog,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				result = run(leading)
				stop()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	leader.Run(ctx)
	return result
}
