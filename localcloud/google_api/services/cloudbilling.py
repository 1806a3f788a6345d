"""Cloud Billing: whether a project has an account that pays. The fault ``billing: false`` takes it away."""

from __future__ import annotations

from localcloud.google_api.core.request import Request, answers
from localcloud.providers.protocol.values import JsonObject

ACCOUNT = "billingAccounts/000000-000000-000000"


@answers("cloudbilling.projects.getBillingInfo")
def billing(request: Request) -> JsonObject:
    """Returns the billing information of a project."""
    name = request.at["name"]
    paid = request.cloud.faults.conditions.read().get("billing") is not False
    return {
        "name": f"{name}/billingInfo",
        "projectId": name.removeprefix("projects/"),
        "billingEnabled": paid,
        "billingAccountName": ACCOUNT if paid else "",
    }
