"""Errors while the cluster is created."""

from __future__ import annotations

from llmd_gke.google_errors.entry import GoogleError

CLUSTER_ALONE = "--target '**Cluster::cluster-control-plane' --target-dependents"
"""Arguments of ``pulumi destroy`` that delete the cluster (its name in ``components/cluster.py``) and what is in it."""

_CREATING = r"creating urn:\S+container/cluster:Cluster::\S+ 1 error occurred:\s+\* "

# The request was accepted, so the error is the operation's. The provider marks the cluster as tainted, which
# Terraform would replace, and Pulumi does not: ``resourceContainerClusterCreate`` of terraform-provider-google.
NEW_CLUSTER = (
    GoogleError(
        "cluster-incomplete",
        "`creating urn:…:Cluster::cluster-control-plane: 1 error occurred`, without `googleapi:`",
        _CREATING + r"(?!.*(googleapi: |(Post|Get) \"https:|oauth2: |timeout while waiting|default node pool))",
        "GKE began to create the cluster and failed, for the reason in the message; the cluster stays, incomplete and "
        "with its default node pool, and later updates count it as created",
        "fix the cause that the message names, delete the cluster (`pulumi destroy --stack {stack} "
        f"{CLUSTER_ALONE}`), then try again",
    ),
    GoogleError(
        "cluster-not-followed",
        'the same with `Error waiting for creating GKE cluster: Get "https:…`, `oauth2:` or `timeout while waiting`',
        _CREATING + r".*waiting for creating GKE cluster: .*(Get \"https:|oauth2: |timeout while waiting)",
        "the creation of the cluster could not be followed to its end, for the reason in the message; GKE may still "
        "finish it, and later updates count it as created",
        "fix the cause that the message names, then look at it with `gcloud container clusters describe CLUSTER "
        "--location LOCATION`. In state RUNNING delete its default node pool (`gcloud container node-pools delete "
        "default-pool --cluster CLUSTER --location LOCATION`), only in state ERROR delete the cluster (`pulumi destroy "
        f"--stack {{stack}} {CLUSTER_ALONE}`); then try again",
    ),
    GoogleError(
        "default-pool",
        "`Error deleting default node pool`, `Error while waiting to delete default node pool`",
        r"Error (deleting|while waiting to delete) default node pool",
        "the default node pool of the new cluster could not be deleted, for the reason in the message; later updates "
        "leave it, and its nodes cost money",
        "fix the cause that the message names, delete the pool (`gcloud container node-pools delete default-pool "
        "--cluster CLUSTER --location LOCATION`), then try again",
    ),
)
