"""Numbers, money and similar words for messages and tables."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 chip``, ``2 chips``. ``many``: the plural (default: ``one`` and an ``s``)."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cents(usd: float) -> float:
    """USD rounded to cents, half a cent up, as on invoices, so that all outputs show the same sum."""
    return float(Decimal(str(round(usd, 6))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def nearest(word: str, allowed: list[str] | tuple[str, ...], cutoff: float = 0.5) -> str | None:
    """The entry of ``allowed`` that is most similar to ``word``; ``None`` if none is similar enough (``cutoff``)."""
    import difflib  # only errors need it, and imports slow down every preview

    matches = difflib.get_close_matches(word[:200], allowed, n=1, cutoff=cutoff)
    return matches[0] if matches else None
