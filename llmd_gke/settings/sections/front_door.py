"""Settings of the front door: one address for all models, its callers, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.catalog.front_door import MOST_COUNT
from llmd_gke.settings.sections.base import Section, Word

IN_CLUSTER = "in-cluster"

Count = Annotated[int, Field(ge=1, le=MOST_COUNT)]


class CallerSettings(Section):
    """A caller: a team or an application. Its keys are secrets of the stack, ``llmd-gke:callerKeys``."""

    name: str
    """Name of the caller: lower-case letters, digits and hyphens, at most 40 characters."""
    priority: Annotated[int, Field(ge=-1000, le=1000)] = 0
    """Priority of the caller's requests (default: 0): while a model is saturated, those of lower priority wait."""
    requests_per_minute: Count | None = None
    """Requests per minute over all models (default: no limit)."""
    tokens_per_day: Count | None = None
    """Tokens of prompts and answers per day (UTC) over all models; the answer that exceeds it is still completed
    (default: no limit)."""
    tokens_per_month: Count | None = None
    """Tokens of prompts and answers per month (UTC) over all models (default: no limit)."""
    models: tuple[str, ...] = Field(default=(), strict=False)
    """Names of the models that the caller may use (default: all)."""

    @property
    def limits(self) -> int:
        """Number of rate-limit rules that its limits need."""
        return sum(
            limit is not None for limit in (self.requests_per_minute, self.tokens_per_day, self.tokens_per_month)
        )

    @property
    def counts_tokens(self) -> bool:
        """Whether it has a token budget."""
        return self.tokens_per_day is not None or self.tokens_per_month is not None


class TokenIssuerSettings(Section):
    """An issuer of JSON web tokens that identify callers, instead of keys."""

    issuer: Word
    """The tokens' ``iss``, such as ``https://accounts.example.com``."""
    audiences: tuple[str, ...] = Field(strict=False, min_length=1, max_length=8)
    """Accepted values of the tokens' ``aud``, at least one."""
    caller_claim: str
    """The claim that contains the caller's name, such as ``team``."""
    jwks_uri: Word
    """HTTPS address of the issuer's public keys."""


class FrontDoorSettings(Section):
    """One address ``/v1`` for all models, with keys, limits and priorities (``docs/front-door.md``)."""

    replicas: Annotated[int, Field(ge=1, le=50)] = 2
    """Number of Envoy proxies (default: 2)."""
    max_body_mb: Annotated[int, Field(ge=1, le=24)] = 16
    """Maximum size of a request in MiB (default: 16)."""
    identity: Literal["keys"] | TokenIssuerSettings = "keys"
    """How callers identify themselves: ``keys`` (default), or the issuer of their tokens."""
    callers: tuple[CallerSettings, ...] = Field(strict=False, min_length=1, max_length=256)
    """Who may call: 1 to 256 callers."""
    redis: Word = IN_CLUSTER
    """Where limits are counted, if a caller has one: ``in-cluster`` (default), one pod without persistence, which loses
    its counts when it restarts; or ``HOST:PORT`` of an existing Redis, such as a Memorystore instance."""
    when_limiter_is_away: Literal["serve", "refuse"] = "serve"
    """What happens to requests while limits cannot be counted: ``serve`` (default) or ``refuse`` them."""
    keep_paths: bool = False
    """Keep the models' own paths ``/NAMESPACE/NAME`` beside the front door, without keys or limits, for a transition
    (default: false)."""

    @property
    def uses_keys(self) -> bool:
        """Whether callers have keys."""
        return self.identity == "keys"

    @property
    def has_limits(self) -> bool:
        """Whether any caller has a limit, so that they are counted."""
        return any(caller.limits for caller in self.callers)

    @property
    def counts_tokens(self) -> bool:
        """Whether any caller has a token budget."""
        return any(caller.counts_tokens for caller in self.callers)

    @property
    def has_priorities(self) -> bool:
        """Whether callers have different priorities."""
        return len({caller.priority for caller in self.callers}) > 1

    def callers_of(self, model: str) -> Sequence[CallerSettings]:
        """The callers that may use a model."""
        return [caller for caller in self.callers if not caller.models or model in caller.models]
