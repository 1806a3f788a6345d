"""Rules about the front door: callers, their keys and limits, and ways to bypass it.

Policies use those about objects, the settings' validation the others. Facts: :mod:`llmd_gke.catalog.front_door`. No
message ever contains a key.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from llmd_gke.catalog import front_door
from llmd_gke.rules import pods, vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

CALLER = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
"""It contains no dot, which separates a caller from the name of one of its keys. Kubernetes objects are named after
callers."""
KEY_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?")
KEYS = "llmd-gke:callerKeys"


def set_key(name: str) -> str:
    """The command that sets a key."""
    return f"pulumi config set --secret --path '{KEYS}[\"{name}\"]' (then paste the key)"


def caller_name(name: str) -> Iterator[Finding]:
    """A caller's name can be part of a header, a Secret's key and an object's name."""
    if CALLER.fullmatch(name) is None:
        yield Finding(
            "caller-name",
            "this is not a valid name for a caller",
            allowed="1 to 40 lower-case letters, digits and hyphens, without a hyphen at either end",
            fix="for example team-a",
        )


def caller_of(key_name: str) -> str:
    """The caller that a key belongs to: ``team-a.next`` is a key of ``team-a``."""
    return key_name.partition(".")[0]


def caller_keys(callers: Collection[str], keys: Mapping[str, str | None]) -> Iterator[tuple[str, Finding]]:
    """Findings about keys, each with the key's name. A value is ``None`` if it cannot be read."""
    for caller in callers:
        if not any(caller_of(name) == caller for name in keys):
            yield caller, Finding("caller-key", f"the caller {caller} has no key", fix=set_key(caller))
    for name, value in keys.items():
        caller, dot, own = name.partition(".")
        if caller not in callers:
            yield (
                name,
                Finding(
                    "caller-key",
                    f"there is no caller {caller}",
                    allowed=", ".join(callers),
                    fix=f"add it to frontDoor.callers, or `pulumi config rm --path '{KEYS}[\"{name}\"]'`",
                ),
            )
        elif dot and KEY_NAME.fullmatch(own) is None:
            allowed = f"{caller}, or {caller}.NAME with a NAME of at most 20 lower-case letters, digits and hyphens"
            yield name, Finding("caller-key", "a key has an invalid name", allowed, f"for example {caller}.next")
        if value is not None and (len(value) < front_door.SHORTEST_KEY or not _fits_a_header(value)):
            yield (
                name,
                Finding(
                    "caller-key",
                    f"a key has fewer than {front_door.SHORTEST_KEY} characters, or one that a header cannot carry",
                    allowed=f"at least {front_door.SHORTEST_KEY} printable ASCII characters without a space",
                    fix=f"llmd-gke key revoke {name}, then llmd-gke key new {caller}; or {set_key(name)}",
                ),
            )
    yield from _equal_keys(keys)


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


def _equal_keys(keys: Mapping[str, str | None]) -> Iterator[tuple[str, Finding]]:
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in keys.items():
        if value is not None:
            owners[value].append(name)
    for first, *others in owners.values():
        for other in others:
            problem = f"this key equals that of {first}: requests could not be told apart"
            yield other, Finding("caller-key", problem, fix=set_key(other))


def redis(address: str) -> Iterator[Finding]:
    """``in-cluster``, or an address that Envoy Gateway's rate limiter can connect to."""
    if address != "in-cluster" and re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[0-9]{2,5}", address) is None:
        yield Finding(
            "limiter-redis",
            "this is neither in-cluster nor an address with a port",
            allowed="in-cluster, or HOST:PORT",
            fix="redis: in-cluster",
        )


def one_pool(namespace: str, others: Collection[str]) -> Iterator[Finding]:
    """A namespace has only one model with callers' priorities: an InferenceObjective is for one pool, and its name, the
    caller's, is unique in a namespace.
    """
    if namespace in others:
        yield Finding(
            "caller-priority",
            f"another model is in the namespace {namespace}, and callers have different priorities: the objects that "
            "hold them are named after the caller, and each is for one model",
            allowed="one model per namespace, or the same priority for all callers",
            fix="set a namespace of its own for each model",
        )


def limits(count: int) -> Iterator[Finding]:
    """All limits of all callers together fit into one policy."""
    if count > front_door.MOST_RULES:
        yield Finding(
            "caller-limits",
            f"the callers have {count} limits; Envoy Gateway accepts at most {front_door.MOST_RULES}",
            allowed=f"at most {front_door.MOST_RULES} of requestsPerMinute, tokensPerDay and tokensPerMonth together",
            fix="remove limits, or let several users share a caller",
        )


def adapters(arguments: Sequence[str]) -> tuple[str, ...]:
    """Names of the LoRA adapters that vLLM serves, from its arguments: ``--lora-modules sql=/path``, or JSON.

    Of several ``--lora-modules`` the server keeps the last.
    """
    given = [one.values for one in vllm_arguments.read(arguments) if one.name == vllm_arguments.LORA_MODULES]
    return tuple(name for entry in given[-1] for name in _adapter(entry)) if given else ()


def _adapter(entry: str) -> Iterator[str]:
    if not entry.startswith("{"):
        yield entry.partition("=")[0]
        return
    try:
        described = cast("object", json.loads(entry))
    except json.JSONDecodeError:
        return
    if isinstance(described, dict) and isinstance(name := cast("dict[str, object]", described).get("name"), str):
        yield name


def unique_names(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Finding]]:
    """``names`` maps each model to the names that it answers to. Each finding comes with the model whose name is
    already used.
    """
    owner: dict[str, str] = {}
    for model, served in names.items():
        for name in served:
            if owner.setdefault(name, model) != model:
                yield (
                    model,
                    Finding(
                        "served-name",
                        f"{owner[name]} answers to {name}, too: the front door chooses the model by its name",
                        allowed="a name that no other model or adapter has",
                        fix="set servedModelName, or rename the adapter in --lora-modules",
                    ),
                )


def forced_usage(arguments: Sequence[str]) -> Iterator[Finding]:
    """No argument turns off the usage reports that token budgets rely on."""
    for argument in vllm_arguments.read(arguments):
        if _reports(argument) is False:
            yield Finding(
                "forced-usage",
                f"{argument.shown}: streams without usage would escape the callers' token budgets",
                allowed=front_door.FORCED_USAGE,
                fix=f"remove {argument.written}, or the callers' tokensPerDay and tokensPerMonth",
            )


def _reports(argument: vllm_arguments.Argument) -> bool | None:
    """Whether an argument makes the server report the tokens of every stream; ``None`` if it is about something
    else.
    """
    if argument.name == front_door.FORCED_USAGE:
        return argument.value.lower() != "false"
    return False if argument.name == front_door.UNFORCED_USAGE else None


LOSSES = {
    "SecurityPolicy": "requests to it need no key",
    "BackendTrafficPolicy": "its requests and tokens are not counted for any limit",
    "EnvoyExtensionPolicy": "the endpoint picker does not learn who calls, and priorities have no effect",
}
"""What a Gateway loses if another policy of the kind replaces its own."""
MERGED = frozenset({"SecurityPolicy", "BackendTrafficPolicy"})
"""Kinds that have a ``mergeType`` (envoyproxy/gateway v1.8.3 ``api/v1alpha1``)."""


INTERNAL = "internal-headers"
"""Name of the rule of :func:`internal_headers`."""

# --- objects -------------------------------------------------------------------------------------------------------


def targets(spec: Input) -> Iterator[Input]:
    """The objects that a policy of Envoy Gateway is attached to by name."""
    yield from spec.get("targetRefs").each()
    if spec.get("targetRef").present():
        yield spec.get("targetRef")


def merges(kind: str, spec: Input) -> Iterator[Finding]:
    """A policy of a route is merged with that of its Gateway, and none is attached to a listener alone.

    Of several policies of a kind Envoy Gateway applies only the most specific one, as a whole: route before listener
    before Gateway. ``kind``: one of :data:`LOSSES`. An EnvoyExtensionPolicy has no ``mergeType``.
    """
    attached = [*targets(spec), *spec.get("targetSelectors").each()]
    kinds = [target.get("kind").text() or "" for target in attached]
    merge_type = spec.get("mergeType")
    merged = kind in MERGED and (merge_type.text() is not None or isinstance(merge_type.value, Unknown))
    if any(one.endswith("Route") for one in kinds) and not merged:
        yield Finding(
            "security-policy-merge",
            f"this {kind} of a route replaces the Gateway's, so that {LOSSES[kind]}",
            allowed="mergeType: StrategicMerge or JSONMerge" if kind in MERGED else f"no {kind} of a route",
            fix="add spec.mergeType: StrategicMerge" if kind in MERGED else "attach it to the Gateway, in one policy",
        )
    for target, one in zip(attached, kinds, strict=True):
        if not one.endswith("Route") and target.get("sectionName").present():
            yield Finding(
                "security-policy-merge",
                f"{target.path}.sectionName: this {kind} of a listener replaces the Gateway's, so that {LOSSES[kind]}",
                allowed="a policy of the whole Gateway",
                fix="remove sectionName",
            )


def internal_headers(spec: Input) -> Iterator[Finding]:
    """A ClientTrafficPolicy removes AI Gateway's own headers before anything reads them.

    Envoy holds names of headers in lower case, and Envoy Gateway passes the pattern on as it is (v1.8.3
    ``buildXdsStringMatcher``), although its API says that case does not matter.
    """
    removed = spec.get("headers", "earlyRequestHeaders", "removeOnMatch")
    if isinstance(removed.value, Unknown):
        removed.text()
    elif not any(_covers_internal_headers(pattern) for pattern in removed.each()):
        yield Finding(
            INTERNAL,
            f"{removed.path} does not remove every header that begins with {front_door.AI_HEADERS}: with one of them, "
            "and no body, each caller can end the proxies' processes",
            allowed=f"type: Prefix, value: {front_door.AI_HEADERS} (in lower case)",
            fix=f"add {{type: Prefix, value: {front_door.AI_HEADERS}}} to {removed.path}",
        )


def no_client_policy(gateway: str) -> Finding:
    """A Gateway that AIGatewayRoutes use has no ClientTrafficPolicy, which would remove AI Gateway's own headers."""
    return Finding(
        INTERNAL,
        f"Gateway {gateway} has no ClientTrafficPolicy for all of its listeners: clients can send headers that begin "
        f"with {front_door.AI_HEADERS}, and each caller can end the proxies' processes with them",
        allowed=f"removeOnMatch with type: Prefix, value: {front_door.AI_HEADERS}",
        fix="add a ClientTrafficPolicy with spec.headers.earlyRequestHeaders.removeOnMatch: [{type: Prefix, value: "
        f"{front_door.AI_HEADERS}}}]",
    )


def _covers_internal_headers(pattern: Input) -> bool:
    kind, value = pattern.get("type"), pattern.get("value")
    if Unknown.UNKNOWN in (kind.value, value.value):
        return kind.text() is None or value.text() is None
    written = value.text() or ""
    if kind.text() == "RegularExpression" and written.endswith(".*"):
        return front_door.AI_HEADERS.startswith(written.removesuffix(".*"))
    return kind.text() == "Prefix" and bool(written) and front_door.AI_HEADERS.startswith(written)


def shared_limits(spec: Input) -> Iterator[Finding]:
    """A global limit is shared by all routes and Envoys instead of being counted for each route."""
    for rule in spec.get("rateLimit", "global", "rules").each():
        shared = rule.get("shared")
        if shared.boolean() is not True and not isinstance(shared.value, Unknown):
            yield Finding(
                "rate-limit-shared",
                f"{rule.path}: without `shared` each route counts for itself, so a caller gets the limit once per "
                "model",
                allowed="shared: true",
                fix=f"add shared: true to {rule.path}",
            )
    if list(spec.get("rateLimit", "local", "rules").each()):
        yield Finding(
            "rate-limit-shared",
            "spec.rateLimit.local: each Envoy counts for itself, so the limit grows with their number",
            allowed="rateLimit.global",
            fix="use type: Global with shared: true",
        )


def counts_tokens(spec: Input) -> bool:
    """Whether a BackendTrafficPolicy limits tokens."""
    return any(
        rule.get("cost", "response", "metadata", "namespace").text() == front_door.USAGE_NAMESPACE
        for rule in spec.get("rateLimit", "global", "rules").each()
    )


def reports_usage(template: Input) -> Iterator[Finding]:
    """The server of a runtime configuration reports the tokens of every stream."""
    for container in template.get("containers").each():
        arguments = vllm_arguments.read(pods.arguments(container))
        # Of several the server takes the last.
        reports = [one for one in map(_reports, arguments) if one is not None][-1:]
        if reports != [True] and any(one.name == "--served-model-name" for one in arguments):
            yield Finding(
                "forced-usage",
                f"{container.path}.args: streams of /v1/completions report no usage, so they escape the token budgets",
                allowed=front_door.FORCED_USAGE,
                fix=f"remove {front_door.UNFORCED_USAGE}" if reports else f"add {front_door.FORCED_USAGE}",
            )


def is_kept(route: Input) -> bool:
    """Whether a route at the load balancer is marked as kept beside a front door, for a transition."""
    return route.get("metadata", "annotations", front_door.KEPT_ANNOTATION).text() == "true"


def beside(route: Input) -> Iterator[Finding]:
    """No route bypasses the front door to reach an InferencePool, unless it is marked as kept for a transition."""
    if is_kept(route):
        return
    for rule in route.get("spec", "rules").each():
        for backend in rule.get("backendRefs").each():
            if backend.get("kind").text() == "InferencePool":
                yield Finding(
                    "route-beside-front-door",
                    f"{backend.path} is the pool of a model: requests on this route need no key, and no limit counts "
                    "them",
                    allowed="an AIGatewayRoute of the front door",
                    fix="remove the route, or set frontDoor.keepPaths for a transition",
                )
                return
