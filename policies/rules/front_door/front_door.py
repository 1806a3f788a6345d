"""Rules about the front door: nothing bypasses its keys, and its limits count everything that they should."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from llmd_gke.catalog import front_door as facts
from llmd_gke.catalog.streamed_usage import FILTER
from llmd_gke.catalog.upstream import source
from llmd_gke.rules import front_door
from policies.rules.kinds import (
    AI_ROUTE,
    CLIENT_POLICY,
    EXTENSION_POLICY,
    GATEWAY,
    HTTP_ROUTE,
    LLM_SERVICE_CONFIG,
    PATCH_POLICY,
    SECURITY_POLICY,
    TRAFFIC_POLICY,
)
from policies.rules.reach import KINDS, Reach
from policies.rules.rule import STACKS, ParameterValues, Program, Rule, StackFinding, about, on_spec

ALL_SECTIONS = ""
"""The ``sectionName`` of a policy for all listeners of a Gateway."""

_API = "https://gateway.envoyproxy.io/docs/api/extension_types/"


def _merges(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    # Without a front door only keys are at stake: other programs may have routes with limits of their own.
    kinds = (SECURITY_POLICY, TRAFFIC_POLICY, EXTENSION_POLICY) if any(program.of(AI_ROUTE)) else (SECURITY_POLICY,)
    for policy in program.of(*kinds):
        yield from about(policy, front_door.merges(policy.kind.name, policy.spec))
    reach = Reach(program)
    for policy in program.of(SECURITY_POLICY) if reach.has_door else ():
        chosen = [target.get("kind").text() or "" for target in policy.spec.get("targetSelectors").each()]
        named = any(reach.is_at_door(kind, name) for kind, name, _ in reach.targets(policy))
        # Labels may select the routes that AI Gateway makes, which no program contains.
        if named or any(kind.endswith("Route") for kind in chosen):
            yield from about(policy, front_door.own_identity(policy.spec))
    for policy in program.of(PATCH_POLICY) if reach.has_door else ():
        names = {name for kind, name, _ in reach.targets(policy) if kind == "Gateway"}
        if (not names or names & reach.doors) and not front_door.asks_for_usage(policy.spec):
            yield StackFinding(policy, front_door.patched())


def _usage(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    counts = any(front_door.counts_tokens(policy.spec) for policy in program.of(TRAFFIC_POLICY))
    if counts and not any(front_door.asks_for_usage(policy.spec) for policy in program.of(PATCH_POLICY)):
        for config in program.of(LLM_SERVICE_CONFIG):
            yield from about(config, front_door.reports_usage(config.spec.get("template")))


def _internal(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    reach = Reach(program)
    used = {door: route for route in program.of(AI_ROUTE) for door in reach.parents(route) if door is not None}
    gateways = {gateway.identity: gateway for gateway in program.of(GATEWAY) if not gateway.partial}
    sections: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    doubts = [f"{label} may contain one, but the engine does not show its objects" for label in program.unrendered]
    for policy in program.of(CLIENT_POLICY) if used else ():
        reason = ""
        if list(policy.spec.get("targetSelectors").each()):
            reason = f"{policy.label} chooses its Gateways by labels"
            doubts.append(reason)
        named = list(front_door.targets(policy.spec))
        identities = [(policy.namespace, target.get("name").text()) for target in named]
        doubts += [f"the target of {policy.label} is not known yet" for one in identities if None in one]
        named_one = not used.keys().isdisjoint(identities)
        if (named_one or reason) and not policy.partial:
            yield from about(policy, front_door.internal_headers(policy.spec), "" if named_one else reason)
        for target, (namespace, name) in zip(named, identities, strict=True):
            if namespace is not None and name is not None:
                sections[namespace, name].add(target.get("sectionName").text() or ALL_SECTIONS)
    for door, route in used.items():
        gateway = gateways.get(door)
        listeners = [] if gateway is None else [one.get("name").text() for one in gateway.spec.get("listeners").each()]
        if ALL_SECTIONS in sections[door] or (listeners and sections[door].issuperset(listeners)):
            continue
        elsewhere = [] if gateway else [f"Gateway {'/'.join(door)} is not in this program, and may have one elsewhere"]
        yield StackFinding(
            gateway or route, front_door.no_client_policy("/".join(door)), "; ".join([*elsewhere, *doubts])
        )


def _beside(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    reach = Reach(program)
    reported: set[str] = set()
    for way in reach.ways() if reach.has_door else ():
        label = way.route.label
        if way.route.kind != AI_ROUTE and not way.kept and way.leads_to_servers and label not in reported:
            reported.add(label)
            yield StackFinding(way.route, front_door.beside(way.reference))


MERGE = Rule(
    name="security-policy-merge",
    title="No Envoy Gateway policy replaces those of the front door's Gateway",
    why="Of several policies of a kind Envoy Gateway applies only the most specific one, as a whole: a SecurityPolicy "
    "of a route that limits who may use it also removes the Gateway's API keys, so that everyone may, unless it has a "
    "mergeType. In a program with a front door a BackendTrafficPolicy of a route removes the limits, too, and an "
    "EnvoyExtensionPolicy, which cannot be merged, the names of callers. A policy of one listener replaces the "
    "Gateway's in the same way, and so does one that selects routes by labels. Merged, a route's own keys or tokens "
    "take the place of the callers', and an EnvoyPatchPolicy changes what all of them have made.",
    sources=(
        f"{_API}#securitypolicyspec",
        "https://gateway.envoyproxy.io/docs/concepts/gateway_api_extensions/security-policy/",
    ),
    kinds=(SECURITY_POLICY, TRAFFIC_POLICY, EXTENSION_POLICY, AI_ROUTE, PATCH_POLICY, GATEWAY, HTTP_ROUTE),
    check_program=_merges,
    severity="critical",
    opt_out="If a route is intentionally open to everyone, make this rule advisory.",
)

KEYS_IN_URL = Rule(
    name="keys-in-url",
    title="Keys and tokens of callers are in headers, not in URLs",
    why="Proxies log the address of a request, and pass it on: a key in it can be read by everyone who may read logs. "
    "A provider of tokens without `extractFrom` also takes the parameter `access_token`.",
    sources=(f"{_API}#jwtprovider",),
    kinds=(SECURITY_POLICY,),
    check_object=on_spec(front_door.keys_in_url),
    level="production",
    severity="medium",
    parameters=(STACKS,),
)

SHARED = Rule(
    name="rate-limit-shared",
    title="Limits count over all routes and proxies",
    why="A global rule without `shared` counts for each route by itself, so a caller gets its limit once for each "
    "model; a local limit counts in each Envoy.",
    sources=(f"{_API}#ratelimitrule",),
    kinds=(TRAFFIC_POLICY,),
    check_object=on_spec(front_door.shared_limits),
    severity="medium",
)

USAGE = Rule(
    name="forced-usage",
    title="Models report the tokens of every stream where a budget counts them",
    why="vLLM reports usage in a stream only if the request asks for it, and Envoy AI Gateway 1.0 adds that to chats "
    "only: streams of `/v1/completions` escape a token budget unless the server has `--enable-force-include-usage`, "
    f"or the proxies the filter `{FILTER['name']}` of this program.",
    sources=(
        "https://docs.vllm.ai/en/latest/cli/serve.html",
        "https://github.com/envoyproxy/ai-gateway/tree/main/internal/endpointspec",
    ),
    kinds=(TRAFFIC_POLICY, LLM_SERVICE_CONFIG, PATCH_POLICY),
    check_program=_usage,
)

BESIDE = Rule(
    name="route-beside-front-door",
    title="Models behind a front door have no other route",
    why="A route to a model's InferencePool or Service leads around keys, permissions and limits of the front door: an "
    "HTTPRoute or GRPCRoute at the load balancer or at the door itself, a mirror, or the route of an "
    "LLMInferenceService.",
    sources=("https://aigateway.envoyproxy.io/docs/capabilities/inference/aigatewayroute-inferencepool",),
    kinds=KINDS,
    check_program=_beside,
    severity="critical",
    opt_out=f"For a transition, `frontDoor.keepPaths` marks the routes with the annotation `{facts.KEPT_ANNOTATION}`.",
)

INTERNAL = Rule(
    name=front_door.INTERNAL,
    title="Clients cannot send AI Gateway's own headers",
    why="For a request without a body Envoy AI Gateway 1.0 sets none of its headers, which begin with "
    f"`{facts.AI_HEADERS}`, and reads those of the client. With two of them, every caller can end the process beside "
    "each Envoy, and thus all requests to all models. A ClientTrafficPolicy removes them before anything reads them. A "
    "list of names would miss those of the next version, and a pattern in capitals matches nothing.",
    sources=(f"{_API}#httpheaderfilter", source("github.com/envoyproxy/ai-gateway", "internal/extproc/server.go")),
    kinds=(AI_ROUTE, CLIENT_POLICY, GATEWAY),
    check_program=_internal,
    severity="critical",
    opt_out="If something in front of the Gateway removes the headers, make this rule advisory.",
)
