"""Rules about keys of service accounts, public buckets, and the organization's guards."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from llmd_gke.rules import google_guards
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.exposure.exposure import google_rule
from policies.rules.kinds import Kind
from policies.rules.rule import Check, ParameterValues, Subject

KEYS = (
    Kind("gcp", "serviceaccount/key:Key"),
    Kind("gcp", "storage/hmacKey:HmacKey"),
    Kind("iam.cnrm.cloud.google.com", "IAMServiceAccountKey"),
    Kind("cloudplatform.gcp.upbound.io", "ServiceAccountKey"),
    Kind("cloudplatform.gcp.m.upbound.io", "ServiceAccountKey"),
)
BUCKETS = (
    Kind("gcp", "storage/bucket:Bucket"),
    Kind("storage.cnrm.cloud.google.com", "StorageBucket"),
    Kind("storage.gcp.upbound.io", "Bucket"),
    Kind("storage.gcp.m.upbound.io", "Bucket"),
)
CONSTRAINTS = (
    Kind("gcp", "orgpolicy/policy:Policy"),
    Kind("gcp", "projects/organizationPolicy:OrganizationPolicy"),
    Kind("gcp", "folder/organizationPolicy:OrganizationPolicy"),
    Kind("gcp", "organizations/policy:Policy"),
    Kind("orgpolicy.cnrm.cloud.google.com", "OrgPolicyPolicy"),
    Kind("resourcemanager.cnrm.cloud.google.com", "ResourceManagerPolicy"),
)


def _check(check: Callable[[Input], Iterable[Finding]]) -> Check:
    def run(subject: Subject, settings: ParameterValues) -> Iterable[Finding]:
        is_exempt = subject.partial or {subject.resource, subject.name} & {*settings.texts("allowed")}
        return () if is_exempt else check(subject.node)

    return run


KEY = google_rule(
    name="service-account-key",
    title="No keys of service accounts are made",
    why="A key of a service account does not expire, and the state of the stack contains it. Pods have Workload "
    "Identity, and workflows Workload Identity Federation.",
    sources=("https://cloud.google.com/iam/docs/best-practices-for-managing-service-account-keys",),
    kinds=KEYS,
    check_object=_check(google_guards.service_account_key),
)

BUCKET = google_rule(
    name="bucket-public-access",
    title="Buckets cannot become public",
    why="Without public access prevention one grant to `allUsers` publishes weights, and it may be made anywhere.",
    sources=("https://cloud.google.com/storage/docs/public-access-prevention",),
    kinds=BUCKETS,
    check_object=_check(google_guards.bucket),
    severity="medium",
)

CONSTRAINT = google_rule(
    name="organization-policy",
    title="The organization's guards stay on",
    why="A policy that switches a constraint off for a project opens it for everyone who may change the project: "
    "public grants and buckets, external addresses, keys of service accounts.",
    sources=("https://cloud.google.com/resource-manager/docs/organization-policy/org-policy-constraints",),
    kinds=CONSTRAINTS,
    check_object=_check(google_guards.constraint),
)
