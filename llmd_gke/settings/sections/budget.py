"""Limits on the cost of a stack."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from llmd_gke.settings.sections.base import Section
from llmd_gke.settings.sections.formats import BILLING_ACCOUNT


class BudgetSettings(Section):
    """Limits on what all hosts of a stack cost together at list prices, checked before anything is created; and the
    budget that alerts on the bill. At least one of ``usdPerHour`` and ``usdPerMonth``.
    """

    usd_per_hour: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Most USD per hour with every pool at its maximum (default: no limit per hour)."""
    usd_per_month: Annotated[float, Field(gt=0, le=1_000_000_000)] | None = None
    """Most USD per month of 730 hours, also the amount of Google's budget (default: 730 times ``usdPerHour``)."""
    billing_account: Annotated[str, Field(pattern=BILLING_ACCOUNT)] | None = None
    """Billing account of the project, ``012345-6789AB-CDEF01``: the program then makes a Google Cloud budget whose
    alerts go to the account's administrators (default: none). Its amount is the same number in the account's
    currency."""

    @property
    def amount_per_month(self) -> float:
        """USD of Google's budget: the limit per month, or 730 hours of the limit per hour."""
        return self.usd_per_month or (self.usd_per_hour or 0.0) * HOURS_PER_MONTH
