"""HTTPRoutes as Envoy routes, in the order in which the Gateway API lets them match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llmd_common.kubernetes.fields import each, number, part, text, texts
from localcloud.gke_gateway.envoy.common import NOWHERE, seconds, typed
from localcloud.gke_gateway.resources.backends import PoolPicker, Reference
from localcloud.gke_gateway.resources.objects import age
from localcloud.providers.protocol.values import JsonObject, JsonValue

PICKER_FILTER = "envoy.filters.http.ext_proc"
PICKER_SECONDS = 10
_FULL_DUPLEX: JsonObject = {
    "request_header_mode": "SEND",
    "request_body_mode": "FULL_DUPLEX_STREAMED",
    "request_trailer_mode": "SEND",
    "response_header_mode": "SEND",
    "response_body_mode": "FULL_DUPLEX_STREAMED",
    "response_trailer_mode": "SEND",
}
"""How GKE's data plane talks to a picker: headers and bodies of both directions, as they arrive."""

UNMATCHED = "fault filter abort"
"""The body with which Google's Envoy-based load balancers answer a request that no route matches, with status 404.

Seen behind GKE's Gateways in cert-manager/cert-manager#8591, with 404 in
https://github.com/Skopaq-AI/tantu-platform/commit/a6dbfc07f524e6b6bc4261fb8194b288c73ea8aa. It is Envoy's own text for
an injected fault (envoyproxy/envoy ``source/extensions/filters/http/fault/fault_filter.cc``).
"""

RETRY_ON = "connect-failure,refused-stream,reset"
"""Failures before the first byte of the response."""

PICKS = 100
"""How often Envoy picks again if a retry would go to the pod that failed. Picks are random: with 5, as in many
examples, one retry in 64 goes to the same one of two pods again; a pick takes less than a microsecond."""


@dataclass(frozen=True)
class ResolvedRule:
    """A rule of a route with its references resolved, in the order of ``backendRefs``."""

    route: JsonObject
    index: int
    rule: JsonObject
    references: tuple[Reference, ...]
    mirrors: tuple[Reference, ...] = ()


def virtual_host(host: str, rules: Sequence[ResolvedRule]) -> JsonObject:
    """The virtual host with everything that is served under a hostname (empty: any)."""
    entries = [(_precedence(match, rule), _route(match, rule)) for rule in rules for match in _matches(rule.rule)]
    routes: list[JsonValue] = [route for _, route in sorted(entries, key=lambda entry: entry[0])]
    return _host(host or "any", host or "*", [*routes, _unmatched()])


def any_other_host() -> JsonObject:
    """The host of requests to hostnames that no route has."""
    return _host("unmatched", "*", [_unmatched()])


def _host(name: str, domain: str, routes: list[JsonValue]) -> JsonObject:
    """A virtual host on which the picker's filter does nothing but where a route says so.

    That is decided when a request's headers pass the filter, not when its filters are made: a filter before it may
    select another route.
    """
    off = typed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", disabled=True)
    return {"name": name, "domains": [domain], "routes": routes, "typed_per_filter_config": {PICKER_FILTER: off}}


def _unmatched() -> JsonObject:
    """The route that answers requests that no other route matches."""
    return {"match": {"prefix": "/"}, "direct_response": {"status": 404, "body": {"inline_string": UNMATCHED}}}


def _matches(rule: JsonObject) -> list[JsonObject]:
    return each(rule, "matches") or [{}]


def _path(match: JsonObject) -> tuple[str, str]:
    return text(match, "path", "type") or "PathPrefix", text(match, "path", "value") or "/"


def _precedence(match: JsonObject, rule: ResolvedRule) -> tuple[object, ...]:
    """Sort key of a match: exact path, longest prefix, most headers, most query parameters, oldest route, first rule.

    https://gateway-api.sigs.k8s.io/reference/spec/#httprouterule
    """
    kind, value = _path(match)
    more = (-len(each(match, "headers")), -len(each(match, "queryParams")))
    return kind != "Exact", -len(value), *more, age(rule.route), rule.index


def _route(match: JsonObject, rule: ResolvedRule) -> JsonObject:
    route: JsonObject = {"match": _match(match), **_header_changes(rule.rule)}
    redirect = next((entry for entry in each(rule.rule, "filters") if "requestRedirect" in entry), None)
    if redirect is not None:
        return {**route, "redirect": _redirect(redirect, match)}
    if not any(reference.backend for reference in rule.references):
        # The Gateway API asks for 500 where no reference of a rule resolves.
        return {**route, "direct_response": {"status": 500, "body": {"inline_string": UNMATCHED}}}
    return {**route, **_forward(match, rule)}


def _match(match: JsonObject) -> JsonObject:
    kind, value = _path(match)
    result: JsonObject = {}
    if kind == "Exact":
        result["path"] = value
    elif value == "/":
        result["prefix"] = "/"
    else:
        result["path_separated_prefix"] = value.rstrip("/")
    headers: list[JsonValue] = [
        {"name": text(header, "name"), "string_match": _string(header)} for header in each(match, "headers")
    ]
    parameters: list[JsonValue] = [
        {"name": text(entry, "name"), "string_match": _string(entry)} for entry in each(match, "queryParams")
    ]
    return {**result, "headers": headers, "query_parameters": parameters}


def _string(entry: JsonObject) -> JsonObject:
    value = text(entry, "value")
    if text(entry, "type") == "RegularExpression":
        return {"safe_regex": {"regex": value}}
    return {"exact": value}


def _forward(match: JsonObject, rule: ResolvedRule) -> JsonObject:
    backends = [reference.backend for reference in rule.references if reference.backend]
    action: JsonObject = {
        # Google: the largest timeout of the route's backend services (Compute API, HttpRouteAction.timeout); with
        # streaming it still counts to the end of the answer.
        "timeout": seconds(max(backend.settings.timeout_seconds for backend in backends)),
        "retry_policy": _retry_policy(),
        **_rewrite(match, rule.rule),
    }
    if mirrors := _mirrors(rule):
        action["request_mirror_policies"] = mirrors
    if len(rule.references) == 1:
        only = backends[0]
        action["cluster"] = only.cluster
        return {"route": action, "typed_per_filter_config": _ask(only.picker)}
    action["weighted_clusters"] = {"clusters": [_share(ref) for ref in rule.references if ref.weight > 0]}
    return {"route": action}


def _mirrors(rule: ResolvedRule) -> list[JsonValue]:
    """RequestMirror: all requests, or the share of them that ``percent`` or ``fraction`` says."""
    entries = [part(entry, "requestMirror") for entry in each(rule.rule, "filters") if "requestMirror" in entry]
    return [
        {"cluster": mirror.backend.cluster, "runtime_fraction": {"default_value": _mirrored(entry)}}
        for entry, mirror in zip(entries, rule.mirrors, strict=True)
        if mirror.backend
    ]


def _mirrored(mirror: JsonObject) -> JsonObject:
    """The mirrored share in Envoy's format, in millionths."""
    of = number(mirror, "fraction", "denominator") or 100
    share = number(mirror, "fraction", "numerator")
    if share is None:
        share, of = number(mirror, "percent"), 100
    return {"numerator": 1_000_000 if share is None else share * 1_000_000 // of, "denominator": "MILLION"}


def _share(reference: Reference) -> JsonObject:
    backend = reference.backend
    share: JsonObject = {"name": backend.cluster if backend else NOWHERE, "weight": reference.weight}
    return {**share, "typed_per_filter_config": _ask(backend.picker)} if backend else share


def _ask(picker: PoolPicker | None) -> JsonObject:
    """Sends requests of this route through the pool's endpoint picker, headers and bodies as they arrive."""
    if picker is None:
        return {}
    overrides: JsonObject = {
        "grpc_service": {
            "envoy_grpc": {"cluster_name": picker.cluster, "authority": "endpoint-picker"},
            "timeout": seconds(PICKER_SECONDS),
        },
        "processing_mode": _FULL_DUPLEX,
        "failure_mode_allow": picker.fail_open,
    }
    return {PICKER_FILTER: typed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", overrides=overrides)}


def _retry_policy() -> JsonObject:
    """One more attempt, on another pod, for what failed before the first byte of the response.

    Google's default is one retry (numRetries 1; https://cloud.google.com/load-balancing/docs/https#retries), and the
    endpoint picker protocol lets the data plane go on to another endpoint where one does not answer.
    """
    return {
        "retry_on": RETRY_ON,
        "num_retries": 1,
        "retry_back_off": {"base_interval": "0.025s", "max_interval": "0.1s"},
        "retry_host_predicate": [
            {
                "name": "envoy.retry_host_predicates.previous_hosts",
                "typed_config": typed("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"),
            }
        ],
        "host_selection_retry_max_attempts": PICKS,
    }


def _rewrite(match: JsonObject, rule: JsonObject) -> JsonObject:
    """URLRewrite: the hostname, and a prefix replaced by another."""
    entry = next((entry for entry in each(rule, "filters") if "urlRewrite" in entry), None)
    action: JsonObject = {}
    if text(entry, "urlRewrite", "hostname"):
        action["host_rewrite_literal"] = text(entry, "urlRewrite", "hostname")
    if text(entry, "urlRewrite", "path", "type") == "ReplacePrefixMatch":
        action["regex_rewrite"] = _prefix(_path(match)[1], text(entry, "urlRewrite", "path", "replacePrefixMatch"))
    return action


def _prefix(old: str, new: str) -> JsonObject:
    """Replaces a prefix by whole path elements: `/foo` by `/` makes `/foo/bar` into `/bar` and `/foo` into `/`."""
    old, new = re.escape(old.rstrip("/")), new.rstrip("/")
    # What follows the prefix is nothing or begins with a slash: the match saw to that.
    return {"pattern": {"regex": f"^{old}" if new else f"^{old}/*"}, "substitution": new or "/"}


def _redirect(entry: JsonObject, match: JsonObject) -> JsonObject:
    scheme, host = text(entry, "requestRedirect", "scheme"), text(entry, "requestRedirect", "hostname")
    moved = number(entry, "requestRedirect", "statusCode") == 301
    redirect: JsonObject = {"response_code": "MOVED_PERMANENTLY" if moved else "FOUND"}
    if scheme:
        redirect["scheme_redirect"] = scheme
    if host:
        redirect["host_redirect"] = host
    match text(entry, "requestRedirect", "path", "type"):
        case "ReplaceFullPath":
            redirect["path_redirect"] = text(entry, "requestRedirect", "path", "replaceFullPath")
        case "ReplacePrefixMatch":
            new = text(entry, "requestRedirect", "path", "replacePrefixMatch")
            redirect["regex_rewrite"] = _prefix(_path(match)[1], new)
        case _:
            pass
    return redirect


def _header_changes(rule: JsonObject) -> JsonObject:
    changes: JsonObject = {}
    for kind, side in (("requestHeaderModifier", "request"), ("responseHeaderModifier", "response")):
        for entry in each(rule, "filters"):
            added: list[JsonValue] = [
                {"header": {"key": text(header, "name"), "value": text(header, "value")}, "append_action": action}
                for verb, action in (("set", "OVERWRITE_IF_EXISTS_OR_ADD"), ("add", "APPEND_IF_EXISTS_OR_ADD"))
                for header in each(entry, kind, verb)
            ]
            if added:
                changes[f"{side}_headers_to_add"] = added
            if removed := texts(entry, kind, "remove"):
                changes[f"{side}_headers_to_remove"] = list[JsonValue](removed)
    return changes
