"""Errors of the Kubernetes provider, of Helm, and of the cluster's API server."""

from __future__ import annotations

from llmd_gke.google_errors.entry import API_SERVER, IMPORT, NO_WEBHOOK, GoogleError

NO_PLUGIN = GoogleError(
    "no-plugin",
    "`getting credentials: exec: executable gke-gcloud-auth-plugin not found`",
    r"getting credentials: [^\n]*(not found|no such file)|auth-plugin\W[^\n]*(not found|no such file)",
    "a program that signs in to the cluster is not installed, or is not on PATH; the cluster may be healthy",
    "install what the message names (`gcloud components install gke-gcloud-auth-plugin`), then try again",
)
CERTIFICATE = GoogleError(
    "certificate",
    "`configured Kubernetes cluster is unreachable: … x509: certificate …`, or with the address of the API server",
    NO_WEBHOOK + rf"(cluster (is )?unreachable|unreachable cluster|{API_SERVER})[^\n]*x509: ",
    "this machine does not accept the certificate of the server that answered: a proxy inspects the connection, the "
    "clock is wrong, or the server is not the stack's cluster",
    "check proxy and clock; `gcloud container clusters list` shows the address of the cluster. If its authority was "
    "rotated, `pulumi refresh --stack {stack} --target '**Cluster::cluster-control-plane'` reads the new one. Then "
    "try again",
)
GONE = GoogleError(
    "cluster-gone",
    "`configured Kubernetes cluster is unreachable`, `failed to read resource state due to unreachable cluster`, "
    "without a reason",
    r"cluster (is )?unreachable|unreachable cluster",
    "the cluster of these objects cannot be reached, and the provider does not say why: the connection or the sign-in "
    "failed, or the cluster is gone, for example because another one replaced it",
    "first check with `gcloud container clusters list` whether the cluster exists. If it does, restore the connection, "
    "then try again. Only if it is certainly gone (docs/stacks.md), remove its objects from the state with "
    "`PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh --stack {stack}`, then try again",
)
"""The one entry whose fix removes objects from the state."""

HELM_AND_WEBHOOKS = (
    GoogleError(
        "webhook-authority",
        "`failed calling webhook … certificate signed by unknown authority`",
        r"(calling|conversion) webhook [^\n]*(x509: |tls: failed to verify)",
        "the API server does not accept the certificate of a webhook: cert-manager, or the chart itself, writes its "
        "authority into a new webhook a moment later, and no chart waits for that",
        "try again",
    ),
    GoogleError(
        "webhook",
        "`failed calling webhook … connection refused`, `no endpoints available for service`, `context deadline "
        "exceeded`",
        r"(calling|conversion) webhook [^\n]*(connection refused|connect failed|no endpoints available|"
        r"deadline exceeded|i/o timeout|Client\.Timeout|no route to host|\bEOF\b|service \S+ not found|"
        r"proxy error|Bad Gateway)",
        "the API server could not call a webhook: the pods behind its Service are not ready, or a firewall rule of the "
        "network keeps the control plane from the nodes",
        "`kubectl -n NAMESPACE get pods` with the last part before `.svc` in the message shows the pods. When they are "
        "ready, try again; if the call timed out although they are, the firewall has to admit the control plane",
    ),
    GoogleError(
        "release-pending",
        "`another operation (install/upgrade/rollback) is in progress`",
        r"another operation \(install/upgrade/rollback\) is in progress",
        "another update changes the Helm release right now, or one was interrupted and left it pending",
        "if no other update runs: `helm status RELEASE -n NAMESPACE` shows the state. `pending-upgrade` or "
        "`pending-rollback`: `helm rollback RELEASE -n NAMESPACE`. `pending-install`: `kubectl -n NAMESPACE delete "
        "secret -l owner=helm,name=RELEASE`, which only makes Helm forget the attempt. Then try again",
    ),
    GoogleError(
        "still-in-cluster",
        "`cannot re-use a name that is still in use`, `not successfully created by the Kubernetes API server: … "
        "already exists`",
        r"cannot re-use a name that is still in use|not successfully created by the Kubernetes API server: .* already "
        r"exists",
        "an object of this name is in the cluster and not in the state: an update was interrupted, someone created it, "
        "or a destroy was interrupted, which leaves the platform to go with the cluster",
        "delete the object, or `helm uninstall RELEASE -n NAMESPACE`, then try again. Only if you want the cluster to "
        "go, finish the destroy instead",
    ),
    GoogleError(
        "release-gone",
        "`uninstall: Release not loaded: … release: not found`",
        r"uninstall: Release not loaded: \S+ release: not found",
        "the Helm release is in the state and no longer in the cluster: the answer to its deletion was lost, or "
        "someone uninstalled it",
        "run `pulumi refresh --stack {stack}`, which removes it from the state, then try again",
    ),
)

CONNECTION = (
    GoogleError(
        "provider-ended",
        "`error reading from server: EOF`, `… exited prematurely`, `could not read plugin`, `transport: Error while "
        "dialing`",
        r"error reading from server: |exited prematurely|could not read plugin |transport is closing|"
        r"transport: Error while dialing",
        "the provider's process ended before it answered: it was killed, or memory ran out; a resource may have been "
        "created nevertheless",
        IMPORT,
    ),
    CERTIFICATE,
    GoogleError(
        "certificate-elsewhere",
        "`x509: certificate …` of another server: a registry, Google's APIs",
        NO_WEBHOOK + r"x509: ",
        "this machine does not accept the certificate of the server in the message: a proxy inspects the connection, "
        "its authority is not installed here, or the clock is wrong",
        "install the authority of the proxy on this machine, or correct the clock, then try again",
    ),
    GoogleError(
        "connection-to-cluster",
        "`configured Kubernetes cluster is unreachable: …` with `i/o timeout`, `connection refused`, `no such host`, "
        "`deadline exceeded`",
        r"cluster (is )?unreachable: \S|unreachable cluster\. Reason: \W*\w|"
        rf"{API_SERVER}[^\n]*((i/o |handshake |client\.)timeout|deadline exceeded|connection re(fused|set)|"
        r"no route to host|network is unreachable|no such host|\bEOF\b)",
        "this machine could not use the API server of the cluster, for the reason in the message",
        "restore the connection (network, VPN, proxy; a private endpoint answers its VPC and authorized networks), "
        "then try again. `gcloud container clusters list` shows whether the cluster exists; if not, see docs/stacks.md",
    ),
    GONE,
    GoogleError(
        "busy-cluster",
        "`the server was unable to return a response in the time allotted`, `etcdserver: request timed out`, `the "
        "object has been modified`",
        r"unable to return a response in the time allotted|etcdserver: (request timed out|leader changed)|"
        r"client connection lost|the object has been modified|currently unable to handle the request|"
        r"apiserver not ready",
        "the cluster's API server was overloaded, or restarted for an upgrade, or a controller changed the object at "
        "the same time",
        "try again",
    ),
    GoogleError(
        "field-conflict",
        "`Server-Side Apply field conflict detected`, `Apply failed with 1 conflict`",
        r"field conflict detected|Apply failed with \d+ conflict",
        "something else, a person with `kubectl` or a controller, has set the field in the message",
        "`kubectl get KIND NAME -o yaml --show-managed-fields` names it: undo its change, then try again",
    ),
    GoogleError(
        "other-update",
        "`the stack is currently locked by 1 lock`, `Another update is currently in progress`",
        r"currently locked by \d+ lock|Another update is currently in progress",
        "another update of this stack runs, or ended without releasing its lock",
        "wait for it. If certainly none runs: `pulumi cancel --stack {stack}`, then try again",
    ),
    GoogleError(
        "release-not-ready",
        "`Helm release … failed to initialize completely`, `… was created but has a failed status`, `timed out waiting "
        "for the condition`",
        r"helm release [^\n]*(failed to initialize|has a failed status|failed: context deadline|timed out|"
        r"failed to become available)|(\A|error: |: )timed out waiting for the condition",
        "the chart is installed, but its pods or hooks were not ready in time: no node has room for them, an image "
        "cannot be pulled, or the cluster is slow",
        "`llmd-gke status --stack {stack}` and `kubectl -n NAMESPACE get pods` show what is missing; then try again, "
        "which goes on from there",
    ),
)
