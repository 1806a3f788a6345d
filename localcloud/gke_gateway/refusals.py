"""What GKE's Gateway controller refuses: a table of pure functions.

To reject something else, add a function with its source to the table.

A rejection affects more than its own object: GKE translates a Gateway together with all its routes, and while any part
is rejected ("failed to translate Gateway …" in the Gateway's events), no change to that Gateway takes effect. One route
thus freezes all others (FREEZE). The codes are GKE's own; its tool gcpdiag looks for them in the logs
(GoogleCloudPlatform/gcpdiag ``gcpdiag/lint/gke/err_2023_007_gw_controller_http_route_misconfig.py``). Wording is quoted
where a source stands beside it. "No public source; wording inferred" marks what is known to be refused, but not in
which words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from llmd_common.kubernetes.fields import each, namespace, number, part, text
from localcloud.gke_gateway.resources.grants import granted
from localcloud.gke_gateway.resources.objects import GATEWAY, SECRET, ClusterSnapshot, full_name
from localcloud.providers.protocol.values import JsonObject

REPORTS = "conformance/reports/v1.6.0/gke-gateway"
"""kubernetes-sigs/gateway-api: features that GKE lists as unsupported (the same in v1.4 and v1.5)."""

FREEZE = "bkraad47/ramen docs/wiki/configuration.md, 1eaf7a17"
"""A public report of a run on GKE: ReplacePrefixMatch works, ReplaceFullPath is rejected with GWCER104, and until that
route is corrected no change to the other routes of its Gateway takes effect."""


UNRESOLVED = ("InvalidCertificateRef", "RefNotPermitted")
"""Reasons of a listener's ResolvedRefs."""


@dataclass(frozen=True)
class Refusal:
    """Why GKE rejects an object: reason and message of its condition Accepted."""

    reason: str
    message: str

    @property
    def of_gateway(self) -> bool:
        """Whether a Gateway with this reason is not Accepted, and its listeners are not to blame."""
        return self.reason in ("InvalidParameters", "ListenersNotValid")


RouteRule = Callable[[JsonObject], Iterator[str]]
GatewayRule = Callable[[JsonObject, ClusterSnapshot], Iterator[Refusal]]


def route_refusal(route: JsonObject) -> Refusal | None:
    """The first reason for which GKE rejects a route; ``None`` if it accepts the route."""
    for rule in ROUTE_RULES:
        for error in rule(route):
            # The frame as in kubernetes-sigs/gateway-api-inference-extension#1131 (`Error GWCER104: HTTPRoute "…/…" is
            # misconfigured, err: …`); the reason as in kserve/kserve#5311.
            message = f'Error GWCER104: HTTPRoute "{full_name(route)}" is misconfigured, err: {error}.'
            return Refusal("UnsupportedValue", message)
    return None


def gateway_refusal(gateway: JsonObject, snapshot: ClusterSnapshot) -> Refusal | None:
    """The first reason for which GKE rejects a Gateway itself; ``None`` if it accepts the Gateway."""
    return next((refusal for rule in GATEWAY_RULES for refusal in rule(gateway, snapshot)), None)


def _rules(route: JsonObject) -> list[JsonObject]:
    return each(route, "spec", "rules")


def _parent_ports(route: JsonObject) -> Iterator[str]:
    """HTTPRouteParentRefPort and HTTPRouteDestinationPortMatching: unsupported (REPORTS).

    No public source; wording inferred.
    """
    if any("port" in parent for parent in each(route, "spec", "parentRefs")):
        yield "Port in a parentRef is not supported"


def _timeouts(route: JsonObject) -> Iterator[str]:
    """HTTPRouteRequestTimeout and HTTPRouteBackendTimeout: unsupported (REPORTS; kserve/kserve#5311).

    Wording: kserve/kserve#5707.
    """
    if any("timeouts" in rule for rule in _rules(route)):
        yield "Timeouts are not supported"


def _retry(route: JsonObject) -> Iterator[str]:
    """HTTPRouteRetry: unsupported (REPORTS). No public source; wording inferred."""
    if any("retry" in rule for rule in _rules(route)):
        yield "Retry is not supported"


def _matches(route: JsonObject) -> Iterator[str]:
    """Regular expressions: `GWCER104: Paths must start with a '/' character "^/.*$"` (kserve/kserve#5319).

    Of one that starts with '/', and of methods (HTTPRouteMethodMatching: unsupported, REPORTS): no public source;
    wording inferred.
    """
    for rule in _rules(route):
        for match in each(rule, "matches"):
            path = text(match, "path", "value")
            if path and not path.startswith("/"):
                yield f"Paths must start with a '/' character \"{path}\""
            if text(match, "path", "type") == "RegularExpression":
                yield f'Path match type RegularExpression is not supported "{path}"'
            if text(match, "method"):
                yield "Method matching is not supported"


def _filters(route: JsonObject) -> Iterator[str]:
    """Filters of rules. HTTPRoutePathRewrite, HTTPRoutePortRedirect, 303/307/308, CORS: unsupported (REPORTS).

    So is HTTPRouteRequestMultipleMirrors: the load balancer's routes have one mirror (Compute API,
    ``HttpRouteAction.requestMirrorPolicy``).

    ReplacePrefixMatch works nevertheless, ReplaceFullPath does not (FREEZE). A redirect's port:
    https://docs.cloud.google.com/kubernetes-engine/docs/how-to/gatewayclass-capabilities#spec-rules-filters. The
    others: no public source; wording inferred.
    """
    for rule in _rules(route):
        filters = each(rule, "filters")
        if sum("requestMirror" in entry for entry in filters) > 1:
            yield "More than one RequestMirror filter in a rule is not supported"
        for entry in filters:
            if text(entry, "urlRewrite", "path", "type") == "ReplaceFullPath":
                yield "Path rewrite type ReplaceFullPath is not supported"
            if number(entry, "requestRedirect", "port") is not None:
                yield "Port in a RequestRedirect filter is not supported"
            status = number(entry, "requestRedirect", "statusCode")
            if status is not None and status not in (301, 302):
                yield f"Redirect status code {status} is not supported"
            if text(entry, "type") in ("CORS", "ExtensionRef"):
                yield f"Filter type {text(entry, 'type')} is not supported"


def _backend_filters(route: JsonObject) -> Iterator[str]:
    """HTTPRouteBackendRequestHeaderModification: filters inside backendRefs are unsupported (REPORTS).

    No public source; wording inferred.
    """
    for rule in _rules(route):
        if any(each(ref, "filters") for ref in each(rule, "backendRefs")):
            yield "Filters in backendRefs are not supported"


ROUTE_RULES: tuple[RouteRule, ...] = (_parent_ports, _timeouts, _retry, _matches, _filters, _backend_filters)


def _addresses(gateway: JsonObject, snapshot: ClusterSnapshot) -> Iterator[Refusal]:
    """Reserved addresses by their name only (kubernetes-sigs/gateway-api#2632), and only those that exist.

    The words for one that does not exist were seen in records whose own address is not known: no source to follow.
    """
    for address in each(gateway, "spec", "addresses"):
        # The API server fills in IPAddress where no type is given.
        kind, value = text(address, "type") or "IPAddress", text(address, "value")
        error = ""
        if kind != "NamedAddress":
            error = f'unsupported address type "{kind}", only "NamedAddress" is supported.'
        elif value not in snapshot.addresses:
            error = f'address "{value}" does not exist'
        if error:
            yield _invalid("UnsupportedAddress", gateway, error)


def _invalid(reason: str, gateway: JsonObject, error: str) -> Refusal:
    return Refusal(reason, f'Error GWCER106: Gateway "{full_name(gateway)}" is invalid, err: {error}.')


def _parameters(gateway: JsonObject, _: ClusterSnapshot) -> Iterator[Refusal]:
    """``infrastructure.parametersRef``: GKE has no kind for it, and passes GatewayInvalidParametersRef (REPORTS).

    No public source; wording inferred.
    """
    if reference := part(gateway, "spec", "infrastructure", "parametersRef"):
        error = f'parametersRef "{text(reference, "group")}/{text(reference, "kind")}" is not supported'
        yield _invalid("InvalidParameters", gateway, error)


def _protocols(gateway: JsonObject, _: ClusterSnapshot) -> Iterator[Refusal]:
    """No listener with HTTP or HTTPS; GKE passes GatewayListenerUnsupportedProtocol (REPORTS).

    No public source; wording inferred.
    """
    protocols = [text(listener, "protocol") for listener in each(gateway, "spec", "listeners")]
    if not {"HTTP", "HTTPS"}.intersection(protocols):
        error = f"no listener has a supported protocol: {', '.join(protocols)}"
        yield _invalid("ListenersNotValid", gateway, error)


def certificate_secrets(gateway: JsonObject) -> list[tuple[str, str]]:
    """Namespace and name of every Secret with a certificate that the listeners name."""
    return [
        (text(ref, "namespace") or namespace(gateway), text(ref, "name"))
        for listener in each(gateway, "spec", "listeners")
        for ref in each(listener, "tls", "certificateRefs")
    ]


def _secrets(gateway: JsonObject, snapshot: ClusterSnapshot) -> Iterator[Refusal]:
    """A missing Secret stops the whole Gateway, its HTTP listeners too, with the last message below.

    Source: shivkumarkonnuri/linktracker-infra ``docs/linktracker-gitops-implementation.md``, d5c36974, issue 4. The
    condition's reason is the Gateway API's. Something else than a Secret, and a Secret that needs a ReferenceGrant
    and has none: GKE passes GatewayInvalidTLSConfiguration and GatewaySecretMissingReferenceGrant (REPORTS); wording
    inferred.
    """
    for listener in each(gateway, "spec", "listeners"):
        for ref in each(listener, "tls", "certificateRefs"):
            kind, group = text(ref, "kind") or SECRET, text(ref, "group")
            if (kind, group) != (SECRET, ""):
                message = f'Error GWCER102: certificate of kind "{group}/{kind}" is not supported.'
                yield Refusal("InvalidCertificateRef", message)
    for where, called in certificate_secrets(gateway):
        if not granted(snapshot, (GATEWAY, namespace(gateway)), "", SECRET, (where, called)):
            yield Refusal("RefNotPermitted", f"Error GWCER102: no ReferenceGrant in {where} permits Secret {called}.")
        if snapshot.get(SECRET, where, called) is None:
            yield Refusal("InvalidCertificateRef", f"Error GWCER102: Secret {where}/{called} not found.")


def _certificates(gateway: JsonObject, _: ClusterSnapshot) -> Iterator[Refusal]:
    """An HTTPS listener without any certificate; the Gateway API asks for one, or for a vendor's option.

    No public source; wording inferred.
    """
    for listener in each(gateway, "spec", "listeners"):
        options = part(listener, "tls", "options")
        if text(listener, "protocol") == "HTTPS" and not each(listener, "tls", "certificateRefs") and not options:
            error = f'listener "{text(listener, "name")}" has no certificate'
            yield _invalid("InvalidCertificateRef", gateway, error)


GATEWAY_RULES: tuple[GatewayRule, ...] = (_parameters, _protocols, _addresses, _secrets, _certificates)
