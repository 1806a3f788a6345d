"""The rights of the CI identity that runs ``pulumi up``: exactly those that the resources of the graph need.

``python -m llmd_gke.catalog.deployer`` prints the commands that create the identity (shown in docs/figures.md).

Permissions: https://cloud.google.com/iam/docs/permissions-reference and the pages of each method, among them
https://cloud.google.com/compute/docs/reference/rest/v1/subnetworks/insert ("IAM Permissions").
Condition: https://cloud.google.com/iam/docs/setting-limits-on-granting-roles.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Mapping

from llmd_gke.catalog.scaling import READER_ROLE

NODE_ROLES = (
    "roles/container.defaultNodeServiceAccount",
    "roles/artifactregistry.reader",
    "roles/serviceusage.serviceUsageConsumer",
)
"""Roles of nodes: writing logs and metrics, pulling images, and streaming them. Pods have their own access to buckets,
through Workload Identity.

On nodes with image streaming whose account lacks the last one, pods do not start
(https://cloud.google.com/kubernetes-engine/docs/how-to/image-streaming#requirements,
terraform-google-modules/terraform-google-kubernetes-engine#2251); the first role does not contain it.

The graph grants one more project role, :data:`READER_ROLE`, where KEDA scales models; the identity that deploys can
grant no other.
"""

PREDEFINED = ("roles/container.admin", "roles/serviceusage.serviceUsageAdmin")
"""Roles for clusters and everything in them, and for the project's APIs."""

ALWAYS = (
    "compute.globalOperations.get",
    "compute.projects.get",
    "compute.regionOperations.get",
    "compute.regions.get",
    "compute.regions.list",
    "compute.zoneOperations.get",
    "compute.zones.get",
    "compute.zones.list",
    "resourcemanager.projects.get",
    "resourcemanager.projects.getIamPolicy",
)
"""Permissions that belong to no single type: for reading operations, regions, zones and the project itself."""


def _whole(resource: str, *more: str) -> tuple[str, ...]:
    """Permissions to create, read, update and delete a kind of resource, and ``more`` that its methods require."""
    return (*(f"{resource}.{verb}" for verb in ("create", "delete", "get", "list", "update")), *more)


BY_TYPE: Mapping[str, tuple[str, ...]] = {
    "gcp:artifactregistry/repository:Repository": (
        *_whole("artifactregistry.repositories"),
        # Whoever sets a cleanup policy must be able to delete what it deletes
        # (https://cloud.google.com/artifact-registry/docs/repositories/cleanup-policy).
        "artifactregistry.versions.delete",
    ),
    "gcp:compute/address:Address": (
        *(f"compute.addresses.{verb}" for verb in ("create", "delete", "get", "list", "setLabels", "use")),
        "compute.addresses.createInternal",
        "compute.addresses.deleteInternal",
        "compute.subnetworks.use",
    ),
    "gcp:compute/network:Network": _whole("compute.networks", "compute.networks.updatePolicy", "compute.networks.use"),
    "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy": _whole(
        "compute.regionSecurityPolicies", "compute.regionSecurityPolicies.use"
    ),
    "gcp:compute/regionSslPolicy:RegionSslPolicy": _whole("compute.regionSslPolicies", "compute.regionSslPolicies.use"),
    "gcp:compute/resourcePolicy:ResourcePolicy": _whole("compute.resourcePolicies", "compute.resourcePolicies.use"),
    "gcp:compute/router:Router": _whole("compute.routers", "compute.networks.updatePolicy"),
    "gcp:compute/routerNat:RouterNat": (
        "compute.routers.get",
        "compute.routers.update",
        "compute.networks.updatePolicy",
    ),
    "gcp:compute/subnetwork:Subnetwork": _whole(
        "compute.subnetworks",
        "compute.networks.updatePolicy",
        "compute.subnetworks.expandIpCidrRange",
        "compute.subnetworks.setPrivateIpGoogleAccess",
        "compute.subnetworks.use",
    ),
    "gcp:dns/recordSet:RecordSet": (
        *_whole("dns.resourceRecordSets"),
        "dns.changes.create",
        "dns.changes.get",
        "dns.managedZones.get",
    ),
    "gcp:monitoring/alertPolicy:AlertPolicy": _whole("monitoring.alertPolicies"),
    "gcp:monitoring/dashboard:Dashboard": _whole("monitoring.dashboards"),
    "gcp:monitoring/notificationChannel:NotificationChannel": _whole("monitoring.notificationChannels"),
    "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig": _whole("monitoring.uptimeCheckConfigs"),
    # Without setIamPolicy: whoever may change that policy can act as every account.
    "gcp:serviceaccount/account:Account": _whole("iam.serviceAccounts", "iam.serviceAccounts.actAs"),
    "gcp:storage/bucket:Bucket": (
        *_whole("storage.buckets"),
        "storage.objects.delete",  # a compile cache is emptied before it is deleted
        "storage.objects.list",
    ),
    "gcp:storage/bucketIAMMember:BucketIAMMember": ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy"),
}
"""Permissions of the custom role, by the type of the resource that needs them."""

BY_ROLE = {
    "gcp:container/cluster:Cluster": "roles/container.admin",
    "gcp:container/nodePool:NodePool": "roles/container.admin",
    "gcp:projects/iAMMember:IAMMember": "roles/resourcemanager.projectIamAdmin",
    "gcp:projects/service:Service": "roles/serviceusage.serviceUsageAdmin",
}
"""The predefined role that covers a type, where one does."""

CONDITION = "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly([{roles}])"


def permissions(types: Iterable[str]) -> tuple[str, ...]:
    """The permissions of the custom role for resources of these types. Raises ``KeyError`` for an unknown type."""
    required = set[str](ALWAYS)
    for type_ in set(types) - BY_ROLE.keys():
        required.update(BY_TYPE[type_])
    return tuple(sorted(required))


def condition(roles: Iterable[str] = (*NODE_ROLES, READER_ROLE)) -> str:
    """The condition under which the identity may change the project's grants: of these roles only."""
    return CONDITION.format(roles=", ".join(f"'{role}'" for role in sorted(roles)))


def commands() -> str:
    """The commands that create the identity, for a shell in which PROJECT, STACK, REGION, BUCKET and POOL are set."""
    listed = "\\\n".join(textwrap.wrap(", ".join(permissions(BY_TYPE)), 110)).replace(", ", ",")
    predefined = " ".join(PREDEFINED)
    return f"""\
gcloud iam service-accounts create deploy-$STACK --project $PROJECT
DEPLOYER=deploy-$STACK@$PROJECT.iam.gserviceaccount.com

# Clusters and everything in them; the project's APIs.
for role in {predefined}; do
  gcloud projects add-iam-policy-binding $PROJECT --member serviceAccount:$DEPLOYER --role $role --condition None
done

# Project roles: it can grant the roles of the nodes and of KEDA, and no other to anybody, itself included.
cat > condition.yaml <<'EOF'
title: roles of the nodes and of KEDA only
expression: {condition()}
EOF
gcloud projects add-iam-policy-binding $PROJECT --member serviceAccount:$DEPLOYER \\
  --role roles/resourcemanager.projectIamAdmin --condition-from-file condition.yaml

# Network, addresses, accounts, buckets and records: what the graph creates, changes and deletes.
gcloud iam roles create llmdGkeDeployer --project $PROJECT --title "llmd-gke deployer" --stage GA --permissions "\\
{listed}"
gcloud projects add-iam-policy-binding $PROJECT --member serviceAccount:$DEPLOYER \\
  --role projects/$PROJECT/roles/llmdGkeDeployer --condition None

# The stack's state, and its secrets.
gcloud storage buckets add-iam-policy-binding gs://$BUCKET --member serviceAccount:$DEPLOYER \\
  --role roles/storage.objectUser
gcloud kms keys add-iam-policy-binding $STACK --project $PROJECT --location $REGION --keyring pulumi \\
  --member serviceAccount:$DEPLOYER --role roles/cloudkms.cryptoKeyEncrypterDecrypter

# Jobs of the environment $STACK that run for the branch main, and no other job.
gcloud iam service-accounts add-iam-policy-binding $DEPLOYER --project $PROJECT \\
  --role roles/iam.workloadIdentityUser \\
  --member "principalSet://iam.googleapis.com/$POOL/attribute.deploy/$STACK:refs/heads/main"
"""


if __name__ == "__main__":
    sys.stdout.write(commands())
