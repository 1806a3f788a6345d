"""APIs, service accounts and their rights, DNS records and buckets, and what changes of them."""

from __future__ import annotations

from localcloud.tests.published_provider.changes.names import PROJECT, Props

RECORD = "gcp:dns/recordSet:RecordSet"
SERVICE = "gcp:projects/service:Service"
MEMBER = "gcp:projects/iAMMember:IAMMember"
ACCOUNT = "gcp:serviceaccount/account:Account"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"

MADE: dict[str, tuple[str, Props]] = {
    "service": (SERVICE, {"service": "container.googleapis.com", "disableOnDestroy": False}),
    "account": (ACCOUNT, {"accountId": "nodes-account", "displayName": "Nodes"}),
    "member": (MEMBER, {"project": PROJECT, "role": "roles/logging.logWriter", "member": "user:a@example.com"}),
    "accountMember": (
        ACCOUNT_MEMBER,
        {
            "serviceAccountId": f"projects/{PROJECT}/serviceAccounts/nodes-account@{PROJECT}.iam.gserviceaccount.com",
            "role": "roles/iam.workloadIdentityUser",
            "member": "user:a@example.com",
        },
    ),
    "record": (
        RECORD,
        {"name": "llm.example.com.", "managedZone": "zone", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.7"]},
    ),
    "bucket": (
        BUCKET,
        {
            "name": "weights-of-mine",
            "location": "US-EAST5",
            "uniformBucketLevelAccess": True,
            "publicAccessPrevention": "enforced",
            "labels": {"team": "llm"},
            "forceDestroy": True,
        },
    ),
    "bucketMember": (
        BUCKET_MEMBER,
        {"bucket": "weights-of-mine", "role": "roles/storage.objectViewer", "member": "user:a@example.com"},
    ),
}

CHANGES: tuple[tuple[str, Props], ...] = (
    ("service", {}),
    ("service", {"service": "compute.googleapis.com"}),
    ("service", {"disableOnDestroy": True}),
    ("account", {"displayName": "Other"}),
    ("account", {"displayName": None}),
    ("account", {"accountId": "other-account"}),
    ("member", {"role": "roles/monitoring.viewer"}),
    ("member", {"member": "user:A@example.com"}),
    ("accountMember", {"role": "roles/iam.serviceAccountUser"}),
    ("accountMember", {"member": "user:A@example.com"}),
    ("record", {"ttl": 60}),
    ("record", {"rrdatas": ["203.0.113.8"]}),
    ("record", {"type": "AAAA"}),
    ("record", {"managedZone": f"projects/{PROJECT}/managedZones/zone"}),
    ("record", {"managedZone": "other"}),
    ("record", {"name": "other.example.com."}),
    ("bucket", {"labels.team": "other"}),
    ("bucket", {"location": "us-east5"}),
    ("bucket", {"location": "US-EAST1"}),
    ("bucket", {"storageClass": "NEARLINE"}),
    ("bucket", {"forceDestroy": None}),
    ("bucket", {"publicAccessPrevention": None}),
    ("bucket", {"versioning": {"enabled": True}}),
    ("bucketMember", {"role": "roles/storage.objectAdmin"}),
)  # fmt: skip
