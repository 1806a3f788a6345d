"""Service accounts, and who may act as them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcloud.providers.google.resource_type import CloudState, ResourceType, TargetResource, digits, failed, short
from localcloud.providers.protocol.rules import Failure
from localcloud.providers.protocol.values import JsonObject

ACCOUNT = "gcp:serviceaccount/account:Account"
_ACCOUNT_ID = re.compile(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])")


def email(target: TargetResource) -> str:
    """The account's address, ``ID@PROJECT.iam.gserviceaccount.com``."""
    return f"{target.text('accountId')}@{target.project}.iam.gserviceaccount.com"


def exists(cloud_state: CloudState, project: str, address: str) -> bool:
    """Whether that service account exists. Accounts of other projects and Google's own are assumed to exist."""
    if not address.endswith(f"@{project}.iam.gserviceaccount.com"):
        return True
    return cloud_state.get(ACCOUNT, f"projects/{project}/serviceAccounts/{address}") is not None


def known_member(cloud_state: CloudState, target: TargetResource, title: str) -> None:
    """Rejects a binding for a service account that does not exist."""
    sort, _, address = target.text("member").partition(":")
    if sort == "serviceAccount" and not exists(cloud_state, target.project, address):
        raise failed(title, 400, f"Service account {address} does not exist.", "badRequest")


def _known_outputs(target: TargetResource) -> JsonObject:
    # resourceServiceAccountCustomDiff: both are set in the plan of a new account.
    if not target.text("accountId"):
        return {}
    return {"email": email(target), "member": f"serviceAccount:{email(target)}"}


def _outputs(target: TargetResource) -> JsonObject:
    return {"name": f"projects/{target.project}/serviceAccounts/{email(target)}", "uniqueId": digits(target.id, 21)}


def _check(target: TargetResource) -> Iterator[Failure]:
    value = target.text("accountId")
    if value and not _ACCOUNT_ID.fullmatch(value):
        # upstream verify.ValidateRFC1035Name(6, 30)
        yield Failure("accountId", f'"account_id" ("{value}") must match regex "^[a-z]([-a-z0-9]{{4,28}}[a-z0-9])$"')


def _member(cloud_state: CloudState, target: TargetResource) -> None:
    account = short(target.text("serviceAccountId"))
    if not exists(cloud_state, target.project, account):
        raise failed(
            "Error applying IAM policy for service account",
            404,
            f"Service account {account} does not exist.",
            "notFound",
        )


KINDS: dict[str, ResourceType] = {
    ACCOUNT: ResourceType(
        id="projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com",
        title="service account",
        source="resourcemanager/resource_google_service_account.go",
        api="iam.googleapis.com",
        upstream="google_service_account",
        autoname=30,
        named="accountId",
        computed=_outputs,
        known_outputs=_known_outputs,
        check=_check,
    ),
    "gcp:serviceaccount/iAMMember:IAMMember": ResourceType(
        id="{serviceAccountId}/{role}/{member}",
        title="IAM member",
        source="../tpgiamresource/resource_iam_member.go",
        api="iam.googleapis.com",
        autoname=None,
        adopts=True,
        computed=lambda _: {"etag": "BwYrehearsal="},
        create=_member,
    ),
}
