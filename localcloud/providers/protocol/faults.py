"""Faults to inject: the JSON file that ``$LLMD_GKE_FAULTS`` names, read anew at every call."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, ValidationError
from pydantic.alias_generators import to_camel

from localcloud.providers.protocol.values import JsonObject, JsonValue, dig


class Conditions(BaseModel):
    """What the file may contain. An unknown key is refused, so that a misspelt fault cannot make a test pass."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)
    stockout: list[str] = []
    """Zones without TPU capacity."""
    quota: dict[str, Annotated[float, Field(ge=-1)]] = {}
    """Chips per region that the project may have, by TPU family."""
    enabled_apis: list[str] = []
    """APIs that are on before the program enables any; ``*``: all."""
    existing_buckets: list[str] = []
    """Buckets that are older than the stack."""
    existing_subnets: dict[str, dict[str, object]] = {}
    """Inputs of subnets that are, by id; their networks are, too."""
    usable_after: dict[str, NonNegativeFloat] = {}
    """Seconds for which an API that was just enabled refuses calls."""
    charts_away: list[str] = []
    """Charts whose registry does not answer."""
    in_use_after_cluster: NonNegativeFloat = 0
    """Seconds that GKE's endpoint groups outlive their cluster."""


def described(refused: ValidationError, skip: int = 0) -> str:
    """The first error: key, value and what is wrong, without so many parts of the key."""
    first = refused.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'][skip:])}: {first['input']!r}: {first['msg']}"


class Faults:
    """The faults to inject."""

    def read(self) -> JsonObject:
        """The current faults. Raises ``ValueError`` for an unknown key or an unreadable file."""
        name = os.environ.get("LLMD_GKE_FAULTS")
        if not name or not Path(name).exists():
            return {}
        content = Path(name).read_text()
        try:
            Conditions.model_validate_json(content)
        except ValidationError as refused:
            raise ValueError(f"LLMD_GKE_FAULTS: {name}: {described(refused)}") from None
        return cast(JsonObject, json.loads(content))

    def listed(self, key: str) -> frozenset[str]:
        """The strings under ``key``."""
        entries = self.read().get(key)
        return frozenset(str(item) for item in entries) if isinstance(entries, list) else frozenset()

    def keys(self, key: str) -> frozenset[str]:
        """The keys of the object under ``key``."""
        entries = self.read().get(key)
        return frozenset(entries) if isinstance(entries, dict) else frozenset()

    def value(self, key: str, below: str) -> JsonValue:
        """The value under ``key`` and ``below``."""
        return dig(self.read(), key, below)
