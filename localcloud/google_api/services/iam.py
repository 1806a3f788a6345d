"""IAM: service accounts, and who may act as them."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.resource_type import digits
from localcloud.google_api.rules.serviceaccount import ACCOUNT
from localcloud.google_api.services import policies
from localcloud.providers.protocol.values import JsonObject, dig, table, text


def _key(request: Request) -> str:
    """The account's name; a project of ``-`` stands for the one in its address."""
    given = request.at.get("name") or request.at["resource"]
    return f"projects/{request.project}/serviceAccounts/{given.rpartition('/')[2]}"


@answers("iam.projects.serviceAccounts.get")
def _account(request: Request) -> JsonObject:
    account = request.cloud.resources.get(_key(request))
    if account is None:
        raise ApiError(404, "Unknown service account")
    return account


@answers("iam.projects.serviceAccounts.create")
def create(request: Request) -> JsonObject:
    """Makes an account."""
    cloud, project, ident = request.cloud, request.project, text(request.body, "accountId")
    address = f"{ident}@{project}.iam.gserviceaccount.com"
    name = f"projects/{project}/serviceAccounts/{address}"
    if name in cloud.resources:
        raise ApiError(409, f"Service account {ident} already exists within project projects/{project}.")
    made: JsonObject = {
        **table(request.body, "serviceAccount"),
        "name": name,
        "projectId": project,
        "uniqueId": digits(name, 21),
        "email": address,
        "oauth2ClientId": digits(name, 21),
        "etag": cloud.etag(),
    }
    cloud.resources[name] = made
    cloud.keep(ACCOUNT, name, {"accountId": ident, "project": project})
    return made


@answers("iam.projects.serviceAccounts.patch")
def patch(request: Request) -> JsonObject:
    """Changes display name and description."""
    account, given = _account(request), dig(request.body, "serviceAccount")
    for key in text(request.body, "updateMask").split(","):
        name = {"display_name": "displayName"}.get(key, key)
        if name in ("displayName", "description"):
            account[name] = text(given, name)
    account["etag"] = request.cloud.etag()
    return account


@answers("iam.projects.serviceAccounts.delete")
def delete(request: Request) -> JsonObject:
    """Deletes an account with its policy."""
    _account(request)
    request.cloud.policies.pop(_key(request), None)
    request.cloud.drop(ACCOUNT, _key(request))
    return {}


@answers("iam.projects.serviceAccounts.getIamPolicy")
def get_policy(request: Request) -> JsonObject:
    """Returns the policy that says who may act as the account."""
    _account(request)
    return policies.read(request.cloud, _key(request))


@answers("iam.projects.serviceAccounts.setIamPolicy")
def set_policy(request: Request) -> JsonObject:
    """Replaces the policy of an account."""
    _account(request)
    return policies.write(request.cloud, _key(request), table(request.body, "policy"), request.project)
