"""Service accounts, and who may act as them."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules.resource_type import CloudState, TargetResource

ACCOUNT = "gcp:serviceaccount/account:Account"


def exists(cloud_state: CloudState, project: str, address: str) -> bool:
    """Whether that service account exists. Accounts of other projects and Google's own are assumed to exist."""
    if not address.endswith(f"@{project}.iam.gserviceaccount.com"):
        return True
    return cloud_state.get(ACCOUNT, f"projects/{project}/serviceAccounts/{address}") is not None


def require_of_nodes(cloud_state: CloudState, target: TargetResource) -> None:
    """Raises Google's error for a cluster or pool whose nodes have an account that does not exist."""
    account = target.text("nodeConfig", "serviceAccount")
    if account and not exists(cloud_state, target.project, account):
        raise ApiError(400, f'Service account "{account}" does not exist.')
