"""Numbers and money as messages and tables write them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def counted(number: int, one: str, many: str = "") -> str:
    """``1 chip``, ``2 chips``; ``many`` is the plural where an ``s`` does not make it."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cents(usd: float) -> float:
    """USD with two digits, half a cent up, as invoices have it: every place that shows a sum shows the same one."""
    return float(Decimal(str(round(usd, 6))).quantize(Decimal("0.01"), ROUND_HALF_UP))
