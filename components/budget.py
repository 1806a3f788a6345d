"""Google Cloud's own budget: alerts on the amount that a stack is billed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
from pulumi_gcp import billing

from components.fresh_apis import patient
from llmd_gke.settings import StackSettings

THRESHOLDS = (0.5, 0.9, 1.0)
"""Parts of the amount at which Google alerts."""


@dataclass(frozen=True, kw_only=True)
class BudgetArgs:
    """``billing_account`` is that of ``project``; ``cluster`` is the name by which GKE labels its costs."""

    billing_account: str
    project: str
    cluster: str
    usd_per_month: float

    @classmethod
    def of(cls, settings: StackSettings) -> Self | None:
        """Those of a stack whose budget names a billing account."""
        budget = settings.budget
        if budget is None or budget.billing_account is None:
            return None
        return cls(
            billing_account=budget.billing_account,
            project=settings.project,
            cluster=settings.cluster.name,
            usd_per_month=budget.amount_per_month,
        )


class Budget(pulumi.ComponentResource):
    """``llmd-gke:cost:Budget``: a monthly budget of the cluster's costs, with alerts at 50, 90 and 100 %, and when the
    forecast reaches it.

    The amount is in the billing account's currency. Google mails the alerts to the account's administrators. The
    identity that deploys needs ``roles/billing.costsManager`` on the billing account, and user credentials a quota
    project (``gcp:billingProject``, ``gcp:userProjectOverride``).
    """

    def __init__(self, name: str, args: BudgetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:cost:Budget", name, None, opts)
        billing.Budget(
            f"{name}-month",
            billing_account=args.billing_account,
            display_name=args.cluster,
            # Without a currency: Google takes the billing account's, and rejects any other.
            amount={"specified_amount": {"units": str(round(args.usd_per_month))}},
            # Google accepts the project's ID and stores its number: a difference that no update would resolve.
            budget_filter={
                "projects": [f"projects/{args.project}"],
                "labels": {"goog-k8s-cluster-name": args.cluster},
                "calendar_period": "MONTH",
            },
            threshold_rules=[
                *({"threshold_percent": part} for part in THRESHOLDS),
                {"threshold_percent": 1.0, "spend_basis": "FORECASTED_SPEND"},
            ],
            opts=pulumi.ResourceOptions(
                parent=self, ignore_changes=["budgetFilter.projects"], hooks=patient(f"{name}-month")
            ),
        )
        self.register_outputs({})
