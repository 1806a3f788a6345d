"""What GKE's Gateway controller makes of the features of an HTTPRoute.

Sources: kubernetes-sigs/gateway-api ``conformance/reports/{v1.4,v1.5,v1.6}/gke-gateway`` (GKE 1.34.4 to 1.36.2, class
``gke-l7-regional-external-managed``) list what is supported and what is not; user reports where named. A refused
route is not refused alone: GKE stops taking any change of its Gateway until the route is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog import upstream

REPORTS = upstream.gateway_api("conformance/reports")
TIMEOUTS_ERROR = "GWCER104: HTTPRoute is misconfigured, err: Timeouts are not supported"


@dataclass(frozen=True)
class RouteFeature:
    """``name`` in words, ``conformance`` the feature's name in the reports, ``instead`` what to use."""

    name: str
    conformance: str
    instead: str


RETRY = RouteFeature("retry", "HTTPRouteRetry", "leave retry out; clients and the endpoint picker retry")
REGEX_PATH = RouteFeature("a regular-expression path", "GWCER104, kserve/kserve#5319", "use PathPrefix or Exact")
METHOD = RouteFeature("a method match", "HTTPRouteMethodMatching", "match on the path or a header")
FULL_PATH = RouteFeature(
    "a rewrite with ReplaceFullPath", "GWCER104, HTTPRoutePathRewrite", "use ReplacePrefixMatch, which works"
)
REDIRECT_PORT = RouteFeature("a redirect to a port", "HTTPRoutePortRedirect", "redirect by scheme, host or path")
REDIRECT_STATUS = RouteFeature(
    "a redirect with status 303, 307 or 308", "HTTPRoute303RedirectStatusCode and its siblings", "use 301 or 302"
)
BACKEND_FILTER = RouteFeature(
    "filters inside a backendRef", "HTTPRouteBackendRequestHeaderModification", "put filters on the rule"
)
CORS = RouteFeature("a CORS filter", "HTTPRouteCORS", "answer CORS in the application")

NAMED_RULE = RouteFeature("a rule name", "HTTPRouteNamedRouteRule", "leave the name out")
PARENT_PORT = RouteFeature("a port in a parentRef", "HTTPRouteParentRefPort", "name the listener with sectionName")
MIRRORS = RouteFeature("several mirrors in one rule", "HTTPRouteRequestMultipleMirrors", "mirror to one backend")
QUERY = RouteFeature("a query parameter match", "supported from GKE 1.35.2 on", "match on the path or a header")
REGEX_MATCH = RouteFeature("a regular expression for a header or query", "not in the reports", "use Exact")
SESSION = RouteFeature(
    "sessionPersistence", "HTTPRouteSessionPersistence", "use GCPBackendPolicy sessionAffinity, or none"
)

UNSUPPORTED_REDIRECTS = frozenset({303, 307, 308})
