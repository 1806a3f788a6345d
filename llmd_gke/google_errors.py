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
    """An error. ``sign``: a regular expression that the message matches. ``fix`` may contain ``{stack}``."""

    sign: str
    cause: str
    fix: str


CLUSTER_ALONE = "--target '**Cluster::cluster-control-plane' --target-dependents"
"""Arguments of ``pulumi destroy`` that delete the cluster (its name in ``components/cluster.py``) and what is in it."""

ERRORS: tuple[GoogleError, ...] = (
    # The request was accepted, so the error is the operation's. The provider marks the cluster as tainted, which
    # Terraform would replace, and Pulumi does not: ``resourceContainerClusterCreate`` of terraform-provider-google.
    GoogleError(
        r"creating urn:\S+container/cluster:Cluster::\S+ 1 error occurred:\s+\* (?!.*(googleapi: |default node pool))",
        "GKE began to create the cluster and failed, for the reason in the message; the cluster stays, incomplete and "
        "with its default node pool, and later updates count it as created",
        "fix the cause that the message names, delete the cluster (`pulumi destroy --stack {stack} "
        f"{CLUSTER_ALONE}`), then try again",
    ),
    GoogleError(
        r"Error (deleting|while waiting to delete) default node pool",
        "the default node pool of the new cluster could not be deleted, for the reason in the message; later updates "
        "leave it, and its nodes cost money",
        "fix the cause that the message names, delete the pool (`gcloud container node-pools delete default-pool "
        "--cluster CLUSTER --location LOCATION`), then try again",
    ),
    GoogleError(
        r"GCE_QUOTA_EXCEEDED|Quota '[^']*' exceeded|quotaExceeded",
        "the project's quota is exhausted, or was never granted",
        "request more (IAM & Admin > Quotas); `llmd-gke doctor --stack {stack}` names the quota and the amount",
    ),
    GoogleError(
        r"GCE_STOCKOUT|ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources",
        "the zone has no free host of this type right now; GKE keeps trying",
        "wait, or set another zone or capacity (docs/pools.md); `llmd-gke doctor --stack {stack} --probe` finds one",
    ),
    GoogleError(
        r"NodePool \S+ was created in the error state",
        "GKE could not create the pool's nodes and keeps trying; the provider does not report why: either no host "
        "is free in the zone, or the quota is exhausted",
        "`llmd-gke status --stack {stack}` shows GKE's reason, `llmd-gke doctor --stack {stack} --probe` finds a host",
    ),
    GoogleError(
        r"googleapi: Error 401|invalid authentication credentials|oauth2: .*(invalid_grant|expired)",
        "the credentials have expired",
        "gcloud auth login --update-adc",
    ),
    GoogleError(
        r"SERVICE_DISABLED|accessNotConfigured|has not been used in project",
        "the API is disabled, or was enabled a moment ago and not all of Google's servers accept it yet",
        "wait a few minutes, then try again",
    ),
    GoogleError(
        r"googleapi: Error 409: .*(already exists|Already exists)|resource - \S+ - already exists",
        "a resource of that name exists that the stack does not manage: created by hand, by another stack, or by a "
        "request whose response was lost",
        "import it with `pulumi import`, delete it, or use another name",
    ),
    GoogleError(
        r"googleapi: Error (409|412)",
        "another change of the same resource was in progress",
        "try again",
    ),
    GoogleError(
        r"is already being used by|resourceInUseByAnotherResource",
        "another resource still uses it; resources that GKE's controllers created disappear some minutes after "
        "their cluster",
        "`llmd-gke destroy --stack {stack}` waits for that; or wait and run destroy again",
    ),
    GoogleError(
        r"googleapi: Error (429|50[0-4])|rateLimitExceeded|backendError",
        "Google rejected requests temporarily, for longer than the provider retries",
        "wait a few minutes, then try again",
    ),
    GoogleError(
        r"googleapis\.com[^\n]*(EOF|connection reset|broken pipe|connection refused|i/o timeout|no such host)",
        "the connection to Google was lost; the resource may have been created nevertheless",
        "try again; if the message then is that a resource already exists, import it with `pulumi import` or delete it",
    ),
    GoogleError(
        r"error reading from server: |exited prematurely|could not read plugin |transport is closing|"
        r"transport: Error while dialing",
        "the provider's process ended before it answered: it was killed, or memory ran out; a resource may have been "
        "created nevertheless",
        "try again; if the message then is that a resource already exists, import it with `pulumi import` or delete it",
    ),
    GoogleError(
        r"cluster is unreachable|unreachable cluster",
        "the cluster of these objects cannot be reached: it is gone, for example because another one replaced it, or "
        "the connection fails",
        "if the cluster is gone, run the command again with PULUMI_K8S_DELETE_UNREACHABLE=true, which removes its "
        "objects from the state; otherwise restore the connection, then try again",
    ),
    GoogleError(
        r"cannot re-use a name that is still in use|not successfully created by the Kubernetes API server: .* already "
        r"exists",
        "an object of this name is still in the cluster: a destroy that was interrupted leaves the platform to go with "
        "the cluster",
        "finish the destroy, then try again; to keep the cluster, delete the object or `helm uninstall` the release",
    ),
    GoogleError(
        r"uninstall: Release not loaded: \S+ release: not found",
        "the Helm release is in the state and no longer in the cluster: the answer to its deletion was lost, or "
        "someone uninstalled it",
        "run `pulumi refresh --stack {stack}`, which removes it from the state, then try again",
    ),
    GoogleError(
        r"googleapi: (Error|got HTTP response code) 404",
        "Google does not have the resource: it was deleted by hand, or the provider created it and lost its name after "
        "an earlier error",
        "`pulumi refresh --stack {stack}`, then try again; if the message then is that a resource already exists, "
        "import it with `pulumi import` or delete it",
    ),
    GoogleError(
        r"(?i)\binternal error\b(?! occurred)",  # "Internal error occurred: " comes from a Kubernetes API server
        "Google accepted the request, but its own service failed while executing it",
        "wait a few minutes, then try again; if it fails again, report it to Google with the time and the resource",
    ),
    GoogleError(
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
    seen: set[GoogleError] = set()
    for message in messages:
        explanation = next((one for one in ERRORS if re.search(one.sign, message)), None)
        if explanation is not None and explanation not in seen:
            seen.add(explanation)
            yield explanation.cause, explanation.fix.format(stack=stack)
