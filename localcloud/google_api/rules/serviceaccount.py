"""Service accounts, and who may act as them."""

from __future__ import annotations

from localcloud.google_api.rules.resource_type import CloudState

ACCOUNT = "gcp:serviceaccount/account:Account"


def exists(cloud_state: CloudState, project: str, address: str) -> bool:
    """Whether that service account exists. Accounts of other projects and Google's own are assumed to exist."""
    if not address.endswith(f"@{project}.iam.gserviceaccount.com"):
        return True
    return cloud_state.get(ACCOUNT, f"projects/{project}/serviceAccounts/{address}") is not None
