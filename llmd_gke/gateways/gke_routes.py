"""Which features of an HTTPRoute GKE's Gateway controller rejects or does not claim to support.

Sources: kubernetes-sigs/gateway-api ``conformance/reports/{v1.4,v1.5,v1.6}/gke-gateway`` (GKE 1.34.4 to 1.36.2, class
``gke-l7-regional-external-managed``) list what is supported and what is not; user reports where named. A rejected route
affects others: GKE applies no further change to its Gateway until the route is removed or corrected.
"""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.catalog import upstream
from llmd_gke.gateways.gateway import RouteFeature

REPORTS = upstream.gateway_api("conformance/reports")
TIMEOUTS_ERROR = "GWCER104: HTTPRoute is misconfigured, err: Timeouts are not supported"

REFUSED: Mapping[str, RouteFeature] = {
    "retry": RouteFeature("retry", "HTTPRouteRetry", "remove retry; clients and the endpoint picker retry"),
    "regex_path": RouteFeature("a regular-expression path", "GWCER104, kserve/kserve#5319", "use PathPrefix or Exact"),
    "method": RouteFeature("a method match", "HTTPRouteMethodMatching", "match on the path or a header"),
    "full_path": RouteFeature(
        "a rewrite with ReplaceFullPath", "GWCER104, HTTPRoutePathRewrite", "use ReplacePrefixMatch, which works"
    ),
    "redirect_port": RouteFeature("a redirect to a port", "HTTPRoutePortRedirect", "redirect by scheme, host or path"),
    "redirect_status": RouteFeature(
        "a redirect with status 303, 307 or 308",
        "HTTPRoute303RedirectStatusCode and similar features",
        "use 301 or 302",
    ),
    "backend_filter": RouteFeature(
        "filters inside a backendRef", "HTTPRouteBackendRequestHeaderModification", "put filters on the rule"
    ),
    "cors": RouteFeature("a CORS filter", "HTTPRouteCORS", "handle CORS in the application"),
}
"""Features that GKE rejects, besides timeouts."""

UNCLAIMED: Mapping[str, RouteFeature] = {
    "named_rule": RouteFeature("a rule name", "HTTPRouteNamedRouteRule", "remove the name"),
    "parent_port": RouteFeature(
        "a port in a parentRef", "HTTPRouteParentRefPort", "select the listener with sectionName"
    ),
    "mirrors": RouteFeature("several mirrors in one rule", "HTTPRouteRequestMultipleMirrors", "mirror to one backend"),
    "query": RouteFeature("a query parameter match", "supported from GKE 1.35.2 on", "match on the path or a header"),
    "regex_match": RouteFeature("a regular expression for a header or query", "not listed in the reports", "use Exact"),
    "session": RouteFeature(
        "sessionPersistence", "HTTPRouteSessionPersistence", "use GCPBackendPolicy sessionAffinity, or none"
    ),
}
"""Features that GKE's conformance reports do not list as supported."""

UNSUPPORTED_REDIRECTS = frozenset({303, 307, 308})
