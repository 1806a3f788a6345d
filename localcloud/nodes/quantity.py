"""Kubernetes quantities: ``500m``, ``2Gi``, ``1e3``.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal

_UNITS = {
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", 1)},
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
}


def value_of(quantity: str) -> Decimal:
    """The value of a quantity; raises ``ValueError`` for other text."""
    text = quantity.strip()
    for unit, factor in _UNITS.items():
        if text.endswith(unit):
            return Decimal(text.removesuffix(unit)) * factor
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError(f'"{quantity}" is not a quantity') from None


def integer_of(quantity: str, divisor: str = "1") -> int:
    """A quantity in units of a divisor, rounded up."""
    return int((value_of(quantity) / value_of(divisor)).to_integral_value(ROUND_CEILING))


def total(*parts: Mapping[str, str]) -> dict[str, Decimal]:
    """Resources added up by name."""
    summed: dict[str, Decimal] = {}
    for part in parts:
        for name, quantity in part.items():
            summed[name] = summed.get(name, Decimal(0)) + value_of(str(quantity))
    return summed
