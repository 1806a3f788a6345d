"""Rules about the front door's objects, ways to bypass it, and the usage that token budgets count.

Facts: :mod:`llmd_gke.catalog.front_door`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog import front_door
from llmd_gke.catalog.streamed_usage import FILTER
from llmd_gke.rules import exposure, open_gateway, pods, vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown, Value

LOSSES = {
    "SecurityPolicy": "requests to it need no key",
    "BackendTrafficPolicy": "its requests and tokens are not counted for any limit",
    "EnvoyExtensionPolicy": "the endpoint picker does not learn who calls, and priorities have no effect",
}
"""What a Gateway loses if another policy of the kind replaces its own."""
MERGED = frozenset({"SecurityPolicy", "BackendTrafficPolicy"})
"""Kinds that have a ``mergeType`` (envoyproxy/gateway v1.8.3 ``api/v1alpha1``)."""
MERGE_TYPES = ("StrategicMerge", "JSONMerge")
"""The third, ``Replace``, merges nothing."""


INTERNAL = "internal-headers"
"""Name of the rule of :func:`internal_headers`."""


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
    merged = kind in MERGED and (merge_type.text() in MERGE_TYPES or isinstance(merge_type.value, Unknown))
    if isinstance(merge_type.value, Unknown):
        merge_type.text()
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


def own_identity(spec: Input) -> Iterator[Finding]:
    """A SecurityPolicy of a route at the front door has no way of its own to ask who calls: merged, it would replace
    the door's.
    """
    for part in open_gateway.IDENTITIES:
        if spec.get(part).value is not None:
            yield Finding(
                "security-policy-merge",
                f"{spec.get(part).path} of a route takes the place of the Gateway's, so that other keys or tokens than "
                "those of the callers open this model, or none are asked for",
                allowed="authorization in the policy of a route, and identities in that of the Gateway",
                fix=f"remove {part}, or move it to the Gateway's policy",
            )


def keys_in_url(spec: Input) -> Iterator[Finding]:
    """A SecurityPolicy takes no key and no token from the query of a URL, which proxies log and pass on."""
    sources = [one.get("params") for one in spec.get("apiKeyAuth", "extractFrom").each()]
    for provider in spec.get("jwt", "providers").each():
        given = provider.get("extractFrom")
        if given.value is None:
            yield _in_url(f"{given.path} is missing: Envoy Gateway then takes the parameter access_token, too")
        sources.append(given.get("params"))
    for params in sources:
        if list(params.each()):
            yield _in_url(f"{params.path} takes it from the query")


def _in_url(problem: str) -> Finding:
    return Finding(
        "keys-in-url",
        f"{problem}: logs of every proxy on the way, and the model's, then contain a valid key",
        allowed="extractFrom with headers",
        fix="set extractFrom.headers, and no params",
    )


_FILTERS = "$.default_filter_chain.filters[0].typed_config.http_filters["


def asks_for_usage(spec: Input) -> bool:
    """Whether an EnvoyPatchPolicy adds the filter by which streams report their tokens, and changes nothing else."""
    operations = [patch.get("operation") for patch in spec.get("jsonPatches").each()]
    return bool(operations) and all(
        one.get("op").value == "add"
        and one.get("value").value == FILTER
        and (one.get("jsonPath").text() or "").startswith(_FILTERS)
        for one in operations
    )


def patched() -> Finding:
    """An EnvoyPatchPolicy changes the front door's proxies."""
    return Finding(
        "security-policy-merge",
        "this EnvoyPatchPolicy changes the configuration of the front door's proxies after its policies: it can "
        "remove the check of keys",
        allowed="SecurityPolicy, BackendTrafficPolicy, ClientTrafficPolicy and EnvoyExtensionPolicy",
        fix="remove it",
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
        told = [one for one in arguments if one.name in (front_door.FORCED_USAGE, front_door.UNFORCED_USAGE)][-1:]
        reports = [one for one in told if one.name == front_door.FORCED_USAGE and one.value.lower() != "false"]
        if not reports and any(one.name == "--served-model-name" for one in arguments):
            yield Finding(
                "forced-usage",
                f"{container.path}.args: streams of /v1/completions report no usage, so they escape the token budgets",
                allowed=front_door.FORCED_USAGE,
                fix=f"remove {told[0].written}" if told else f"add {front_door.FORCED_USAGE}",
            )


def is_kept(route: Input) -> bool:
    """Whether a route at the load balancer is marked as kept beside a front door, for a transition."""
    return route.get("metadata", "annotations", front_door.KEPT_ANNOTATION).text() == "true"


def beside(reference: Input) -> Finding:
    """A route, or its mirror, leads to model servers beside the front door."""
    return Finding(
        "route-beside-front-door",
        f"{reference.path} leads to the servers of a model: requests on this route need no permission for the model, "
        "and no limit counts them",
        allowed="an AIGatewayRoute of the front door",
        fix="remove the route, or set frontDoor.keepPaths for a transition",
    )


def public_proxies(spec: Input) -> Iterator[Finding]:
    """The Service that Envoy Gateway makes of an EnvoyProxy has no public address. Without a type it has one."""
    provider = spec.get("provider")
    if (provider.get("type").text() or "Kubernetes") != "Kubernetes":
        return
    service = provider.get("kubernetes", "envoyService")
    patched = service.get("patch", "value", "spec")
    fields: dict[str, Value] = {
        key: node.value
        for key in ("type", "loadBalancerClass", "loadBalancerSourceRanges", "externalIPs")
        for node in (service.get(key), patched.get(key))
        if node.value is not None
    }
    annotations = {
        **service.get("annotations").mapping(),
        **service.get("patch", "value", "metadata", "annotations").mapping(),
    }
    shown = Input(
        {"spec": {"type": "LoadBalancer", **fields}, "metadata": {"annotations": annotations}}, "", spec.notes
    )
    for finding in exposure.service(shown):
        yield replace(
            finding,
            problem=f"{service.path}: {finding.problem}"
            + ("" if "type" in fields else " (Envoy Gateway's default type is LoadBalancer)"),
            fix=f"set {service.path}.type: ClusterIP",
        )
