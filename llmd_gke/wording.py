"""Formats numbers and money for messages and tables."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 chip``, ``2 chips``. ``many``: the plural (default: ``one`` and an ``s``)."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cents(usd: float) -> float:
    """USD rounded to cents, half a cent up, as on invoices, so that all outputs show the same sum."""
    return float(Decimal(str(round(usd, 6))).quantize(Decimal("0.01"), ROUND_HALF_UP))
