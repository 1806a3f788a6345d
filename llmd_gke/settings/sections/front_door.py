"""Settings of the front door: one address for all models, its callers, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from llmd_gke.catalog.front_door import MOST_COUNT
from llmd_gke.rules.cloud_armor import RANGES_PER_RULE
from llmd_gke.settings.sections.base import Section, Word
from llmd_gke.settings.sections.formats import NOT_EMPTY

IN_CLUSTER = "in-cluster"
KEYS, ISSUER = "identity-keys", "identity-issuer"
"""Pydantic's tags of both forms of ``identity``: steps in the paths of its errors, and no keys of a stack file."""

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
    audiences: tuple[Annotated[str, Field(pattern=NOT_EMPTY)], ...] = Field(strict=False, min_length=1, max_length=8)
    """Accepted values of the tokens' ``aud``, at least one."""
    caller_claim: Annotated[str, Field(pattern=NOT_EMPTY)]
    """The claim that contains the caller's name, such as ``team``."""
    jwks_uri: Word
    """HTTPS address of the issuer's public keys."""


class IapSettings(Section):
    """Identity-Aware Proxy with an OAuth client of the project, whose secret is ``llmd-gke:iapClientSecret``."""

    client_id: str
    """The client's ID, ``NUMBER-LETTERS.apps.googleusercontent.com``."""


class AccessSettings(Section):
    """What the load balancer requires before a request reaches the front door. The gateway must be external."""

    ranges: tuple[str, ...] = Field(default=(), strict=False)
    """IPv4 ranges in CIDR notation that may send requests; Cloud Armor answers all others 403 (default: everyone)."""
    requests_per_minute_per_address: int | None = None
    """Requests per minute from one address, 1 to 1000000; Cloud Armor answers more of them 429 (default: no limit). It
    is no protection: everyone may still send requests."""
    iap: IapSettings | None = None
    """Require a Google identity with the role ``roles/iap.httpsResourceAccessor``, in addition to the caller's key
    (default: not required). Needs HTTPS."""

    @property
    def uses_cloud_armor(self) -> bool:
        """Whether there is anything for Cloud Armor to do."""
        return bool(self.ranges) or self.requests_per_minute_per_address is not None

    @property
    def cloud_armor_rules(self) -> int:
        """How many rules its security policy has, with the one for everyone else; 0 without a policy."""
        if not self.uses_cloud_armor:
            return 0
        return max(1, -(-len(self.ranges) // RANGES_PER_RULE)) + 1


class FrontDoorSettings(Section):
    """One address ``/v1`` for all models, with keys, limits and priorities (``docs/front-door.md``)."""

    replicas: Annotated[int, Field(ge=1, le=50)] = 2
    """Number of Envoy proxies (default: 2)."""
    max_body_mb: Annotated[int, Field(ge=1, le=24)] = 16
    """Maximum size of a request in MiB (default: 16)."""
    identity: Annotated[
        Annotated[Literal["keys"], Tag(KEYS)] | Annotated[TokenIssuerSettings, Tag(ISSUER)],
        Discriminator(lambda value: ISSUER if isinstance(value, dict | TokenIssuerSettings) else KEYS),
    ] = "keys"
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

    access: AccessSettings | None = None
    """Address ranges and throttles by Cloud Armor, and IAP (default: neither)."""

    @property
    def uses_iap(self) -> bool:
        """Whether requests need a Google identity, too."""
        return self.access is not None and self.access.iap is not None

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
