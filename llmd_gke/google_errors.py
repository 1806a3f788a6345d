"""Error messages of Google and its Pulumi provider, each with its cause and fix, as data.

The texts are those of hashicorp/terraform-provider-google 7.39 and of Google's APIs
(https://cloud.google.com/apis/design/errors). ``docs/troubleshooting.md`` documents them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class GoogleError:
    """An error. ``sign``: a regular expression that the message matches, whatever its case. ``fix`` may contain
    ``{stack}``.
    """

    key: str
    sign: str
    cause: str
    fix: str


CLUSTER_ALONE = "--target '**Cluster::cluster-control-plane' --target-dependents"
"""Arguments of ``pulumi destroy`` that delete the cluster (its name in ``components/cluster.py``) and what is in it."""

NO_PLUGIN = GoogleError(
    "no-plugin",
    r"getting credentials: [^\n]*(not found|no such file)|auth-plugin\W[^\n]*(not found|no such file)",
    "a program that signs in to the cluster is not installed, or is not on PATH; the cluster may be healthy",
    "install what the message names (`gcloud components install gke-gcloud-auth-plugin`), then try again",
)
SIGN_IN = GoogleError(
    "sign-in",
    r"googleapi: Error 401|invalid authentication credentials|invalid_grant|invalid_rapt|oauth2: .*expired|"
    r"token has been expired or revoked|could not find default credentials|reauthenticat|"
    r"(getting credentials|cluster is unreachable): [^\n]*exit (code|status)|"
    r"asked for the client to provide credentials|you must be logged in to the server|"
    r"(\A|error: |server: |unreachable: )unauthorized\W*\Z",
    "the credentials have expired, are missing, or are those of another account",
    "gcloud auth login --update-adc",
)
CERTIFICATE = GoogleError(
    "certificate",
    r"(?s)\A(?!.*(calling|conversion) webhook).*"
    r"(cluster (is )?unreachable|unreachable cluster|https://[^\s\"/]+/(apis?|openapi|version)\b)[^\n]*x509: ",
    "this machine does not accept the certificate of the server that answered: a proxy inspects the connection, the "
    "clock is wrong, or the server is not the stack's cluster",
    "check proxy and clock; `gcloud container clusters list` shows the address of the cluster. If its authority was "
    "rotated, `pulumi refresh --stack {stack} --target '**Cluster::cluster-control-plane'` reads the new one. Then "
    "try again",
)
GONE = GoogleError(
    "cluster-gone",
    r"cluster (is )?unreachable|unreachable cluster",
    "the cluster of these objects cannot be reached, and the provider does not say why: the connection or the sign-in "
    "failed, or the cluster is gone, for example because another one replaced it",
    "first check with `gcloud container clusters list` whether the cluster exists. If it does, restore the connection, "
    "then try again. Only if it is certainly gone, remove its objects from the state with "
    "`PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh --stack {stack}`, then try again",
)
"""The one entry whose fix removes objects from the state."""

NOT_GONE = (NO_PLUGIN, SIGN_IN, CERTIFICATE)
"""What keeps this machine from a cluster, whether or not it exists. The provider names it for some objects only and
writes :data:`GONE` for the others (``Delete`` in pulumi-kubernetes' ``provider.go``)."""

ERRORS: tuple[GoogleError, ...] = (
    # The request was accepted, so the error is the operation's. The provider marks the cluster as tainted, which
    # Terraform would replace, and Pulumi does not: ``resourceContainerClusterCreate`` of terraform-provider-google.
    GoogleError(
        "cluster-incomplete",
        r"creating urn:\S+container/cluster:Cluster::\S+ 1 error occurred:\s+\* "
        r"(?!.*(googleapi: |(Post|Get) \"https:|oauth2: |timeout while waiting|default node pool))",
        "GKE began to create the cluster and failed, for the reason in the message; the cluster stays, incomplete and "
        "with its default node pool, and later updates count it as created",
        "fix the cause that the message names, delete the cluster (`pulumi destroy --stack {stack} "
        f"{CLUSTER_ALONE}`), then try again",
    ),
    GoogleError(
        "cluster-not-followed",
        r"creating urn:\S+container/cluster:Cluster::\S+ 1 error occurred:\s+\* "
        r".*waiting for creating GKE cluster: .*(Get \"https:|oauth2: |timeout while waiting)",
        "the creation of the cluster could not be followed to its end, for the reason in the message; GKE may still "
        "finish it, and later updates count it as created",
        "fix the cause that the message names, then look at it with `gcloud container clusters describe CLUSTER "
        "--location LOCATION`. In state RUNNING delete its default node pool (`gcloud container node-pools delete "
        "default-pool --cluster CLUSTER --location LOCATION`), only in state ERROR delete the cluster (`pulumi destroy "
        f"--stack {{stack}} {CLUSTER_ALONE}`); then try again",
    ),
    GoogleError(
        "default-pool",
        r"Error (deleting|while waiting to delete) default node pool",
        "the default node pool of the new cluster could not be deleted, for the reason in the message; later updates "
        "leave it, and its nodes cost money",
        "fix the cause that the message names, delete the pool (`gcloud container node-pools delete default-pool "
        "--cluster CLUSTER --location LOCATION`), then try again",
    ),
    GoogleError(
        "organization-policy",
        r"constraints/\w|constraint '?\w+\.\w+'? violated|\borg(anization)?\s+policy(?! API)",
        "a policy of the organization forbids it",
        "ask the organization's administrators for an exception from the constraint that the message names, or change "
        "the setting that violates it, then try again",
    ),
    GoogleError(
        "quota",
        r"GCE_QUOTA_EXCEEDED|Quota '[^']*' exceeded|quotaExceeded|Insufficient (regional |global )?quota",
        "the project's quota is exhausted, or was never granted",
        "request more (IAM & Admin > Quotas); `llmd-gke doctor --stack {stack}` names the quota and the amount",
    ),
    GoogleError(
        "stock-out",
        r"GCE_STOCKOUT|ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources",
        "the zone has no free host of this type right now; GKE keeps trying",
        "wait, or set another zone or capacity (docs/pools.md); `llmd-gke doctor --stack {stack} --probe` finds one",
    ),
    GoogleError(
        "pool-in-error",
        r"NodePool \S+ was created in the error state",
        "GKE could not create the pool's nodes and keeps trying; the provider does not report why: either no host "
        "is free in the zone, or the quota is exhausted",
        "`llmd-gke status --stack {stack}` shows GKE's reason, `llmd-gke doctor --stack {stack} --probe` finds a host",
    ),
    NO_PLUGIN,
    SIGN_IN,
    # The reason in this message is SERVICE_DISABLED, too. 764086051850 is the project of gcloud's own client.
    GoogleError(
        "quota-project",
        r"requires a quota project|quota_project|end user credentials|project 764086051850\b",
        "the application default credentials name no project whose quota the requests count against",
        "`gcloud auth application-default set-quota-project PROJECT`, then try again",
    ),
    GoogleError(
        "api-disabled",
        r"SERVICE_DISABLED|accessNotConfigured|has not been used in project",
        "the API is disabled, or was enabled a moment ago and not all of Google's servers accept it yet",
        "wait a few minutes, then try again",
    ),
    # Updates that replace something fail like this, and destroys: the fix has to suit both.
    GoogleError(
        "in-use",
        r"already being used by|resourceInUse|IN_USE_BY_ANOTHER_RESOURCE",
        "another resource, which the message names, still uses it; load balancers, groups and rules of GKE's "
        "controllers follow their Gateway or cluster some minutes later",
        "detach it from that resource, or wait until GKE has moved or deleted that, then run the same command again",
    ),
    GoogleError(
        "secondary-range",
        r"secondary (ip )?ranges? (cannot be modified|in the same request)",
        "a secondary range of a subnet never changes",
        "set the range that the subnet has again; another one takes another stack with another cluster.name",
    ),
    GoogleError(
        "exists",
        r"googleapi: Error 409: .*(already exists|Already exists)|resource - \S+ - already exists",
        "a resource of that name exists that the stack does not manage: created by hand, by another stack, or by a "
        "request whose response was lost",
        "import it with `pulumi import`, delete it, or use another name",
    ),
    GoogleError(
        "other-change",
        r"googleapi: Error (409|412)",
        "another change of the same resource was in progress",
        "try again",
    ),
    GoogleError(
        "rejected",
        r"googleapi: Error (429|50[0-4])|rateLimitExceeded|backendError",
        "Google rejected requests temporarily, for longer than the provider retries",
        "wait a few minutes, then try again",
    ),
    GoogleError(
        "connection-to-google",
        r"googleapis\.com[^\n]*(\bEOF\b|connection reset|broken pipe|connection refused|i/o timeout|no such host)",
        "the connection to Google was lost; the resource may have been created nevertheless",
        "try again; if the message then is that a resource already exists, import it with `pulumi import` or delete it",
    ),
    GoogleError(
        "provider-ended",
        r"error reading from server: |exited prematurely|could not read plugin |transport is closing|"
        r"transport: Error while dialing",
        "the provider's process ended before it answered: it was killed, or memory ran out; a resource may have been "
        "created nevertheless",
        "try again; if the message then is that a resource already exists, import it with `pulumi import` or delete it",
    ),
    CERTIFICATE,
    GoogleError(
        "certificate-elsewhere",
        r"(?s)\A(?!.*(calling|conversion) webhook).*x509: ",
        "this machine does not accept the certificate of the server in the message: a proxy inspects the connection, "
        "its authority is not installed here, or the clock is wrong",
        "install the authority of the proxy on this machine, or correct the clock, then try again",
    ),
    # Addresses of a Kubernetes API server; those of its webhooks have other paths.
    GoogleError(
        "connection-to-cluster",
        r"cluster (is )?unreachable: \S|unreachable cluster\. Reason: \W*\w|https://[^\s\"/]+/(apis?|openapi|version)\b"
        r"[^\n]*((i/o |handshake |client\.)timeout|deadline exceeded|connection re(fused|set)|no route to host|"
        r"network is unreachable|no such host|\bEOF\b)",
        "this machine could not use the API server of the cluster, for the reason in the message",
        "restore the connection (network, VPN, proxy; a private endpoint answers its VPC and authorized networks), "
        "then try again. `gcloud container clusters list` shows whether the cluster exists; if not, see docs/stacks.md",
    ),
    GONE,
    GoogleError(
        "still-in-cluster",
        r"cannot re-use a name that is still in use|not successfully created by the Kubernetes API server: .* already "
        r"exists",
        "an object of this name is still in the cluster: a destroy that was interrupted leaves the platform to go with "
        "the cluster",
        "finish the destroy, then try again; to keep the cluster, delete the object or `helm uninstall` the release",
    ),
    GoogleError(
        "release-gone",
        r"uninstall: Release not loaded: \S+ release: not found",
        "the Helm release is in the state and no longer in the cluster: the answer to its deletion was lost, or "
        "someone uninstalled it",
        "run `pulumi refresh --stack {stack}`, which removes it from the state, then try again",
    ),
    GoogleError(
        "not-found",
        r"googleapi: (Error|got HTTP response code) 404",
        "Google does not have the resource: it was deleted by hand, or the provider created it and lost its name after "
        "an earlier error",
        "`pulumi refresh --stack {stack}`, then try again; if the message then is that a resource already exists, "
        "import it with `pulumi import` or delete it",
    ),
    GoogleError(
        "internal-error",
        r"\binternal error\b(?! occurred)",  # "Internal error occurred: " comes from a Kubernetes API server
        "Google accepted the request, but its own service failed while executing it",
        "wait a few minutes, then try again; if it fails again, report it to Google with the time and the resource",
    ),
    GoogleError(
        "operation-failed",
        r"Error (while )?waiting (for|to) ",
        "Google accepted the request but failed later, for the reason in the message",
        "fix the cause that the message names",
    ),
)
"""The first entry that matches applies."""


def pool_fix(cause: str, stack: str) -> str:
    """The fix for a node pool whose nodes GKE could not create. ``cause``: GKE's message."""
    return next((fix for _, fix in explained([cause], stack)), "fix the cause that GKE names")


def pool_again(pool: str, stack: str) -> str:
    """How to recreate a node pool in state ERROR, which the provider regards as created. ``pool``: its name in GKE."""
    resource = "*-system" if pool == "system" else f"{pool}-nodes"  # components/cluster.py, components/tpu_pool.py
    return (
        "GKE keeps trying. `pulumi up` does not, because it counts the pool as created: "
        f"`pulumi up --stack {stack} --replace '**NodePool::{resource}'` recreates it"
    )


def explained(messages: Iterable[str], stack: str) -> Iterator[tuple[str, str]]:
    """Cause and fix of every message that matches an entry, without duplicates."""
    explanations = dict.fromkeys(one for one in map(explanation, messages) if one)
    if not explanations.keys().isdisjoint(NOT_GONE):
        explanations.pop(GONE, None)
    for one in explanations:
        yield one.cause, one.fix.format(stack=stack)


def explanation(message: str) -> GoogleError | None:
    """The first entry that a message matches."""
    return next((one for one in ERRORS if re.search(one.sign, message, re.IGNORECASE)), None)
