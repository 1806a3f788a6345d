"""A Gateway's ports as Envoy listeners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from localcloud.gke_gateway.envoy.common import (
    NOWHERE,
    PICKED,
    SERVED,
    SERVED_NAMESPACE,
    extension,
    from_file,
    seconds,
    typed,
)
from localcloud.gke_gateway.envoy.routes import PICKER_FILTER
from localcloud.providers.protocol.values import JsonObject, JsonValue

CLIENT_IDLE_SECONDS = 610
"""https://cloud.google.com/load-balancing/docs/https#timeouts_and_retries: client HTTP keepalive timeout."""

_NOTHING: JsonObject = {
    "request_header_mode": "SKIP",
    "request_trailer_mode": "SKIP",
    "response_header_mode": "SKIP",
    "response_trailer_mode": "SKIP",
}
"""Processing mode that calls no picker: for routes without one, and for invalid HTTP requests, which get no route."""

_ACCESS_LOG: JsonObject = {
    "time": "%START_TIME%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "details": "%RESPONSE_CODE_DETAILS%",
    "method": "%REQ(:METHOD)%",
    "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH):256%",
    "backend": "%UPSTREAM_CLUSTER%",
    "pod": "%UPSTREAM_HOST%",
    "failure": "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "milliseconds": "%DURATION%",
    "received": "%BYTES_RECEIVED%",
    "sent": "%BYTES_SENT%",
}
"""Fields of the access log: where a request went, never its headers or body."""


def route_configuration(name: str, hosts: Sequence[JsonObject]) -> JsonObject:
    """The routes of a port."""
    return {
        **typed("envoy.config.route.v3.RouteConfiguration"),
        "name": name,
        # A Host header's port is no part of the hostname, and reaches the backend unchanged.
        "ignore_port_in_host_matching": True,
        "virtual_hosts": list[JsonValue](hosts),
    }


def listener(
    name: str, address: str, port: int, *, routes: Path, access_log: Path, certificates: Sequence[Path] = ()
) -> JsonObject:
    """A port at the Gateway's address. Routes come from a file, as do certificates: with any, it speaks TLS."""
    chain: JsonObject = {
        "filters": [
            extension(
                "envoy.filters.network.http_connection_manager",
                "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                **_manager(name, routes, access_log),
            )
        ]
    }
    if certificates:
        chain["transport_socket"] = extension(
            "envoy.transport_sockets.tls",
            "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
            common_tls_context={
                "alpn_protocols": ["h2", "http/1.1"],
                "tls_certificate_sds_secret_configs": [
                    {"name": file.stem, "sds_config": from_file(file)} for file in certificates
                ],
            },
        )
    return {
        **typed("envoy.config.listener.v3.Listener"),
        "name": name,
        "address": {"socket_address": {"address": address, "port_value": port}},
        # Envoy begins with the listeners of before, when a cluster that was stopped starts again: earlier than the
        # controller brings the address up. It would refuse them, and try no second time.
        "freebind": True,
        "filter_chains": [chain],
    }


def _manager(name: str, routes: Path, access_log: Path) -> JsonObject:
    return {
        "stat_prefix": name,
        "rds": {"route_config_name": routes.stem, "config_source": from_file(routes)},
        "http_filters": [_picker_filter(), _choice_filter(), *_served_filters(), _router()],
        # Google's load balancers put themselves into Via, and leave the Server header of the backend alone.
        "via": "1.1 google",
        "server_header_transformation": "PASS_THROUGH",
        "use_remote_address": True,
        # The listener's own port in a Host header would be in the Location of a redirect to another scheme.
        "strip_matching_host_port": True,
        # Nobody's x-envoy-* headers are obeyed: no client is an internal one. (An empty list would mean the default.)
        "internal_address_config": {"cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]},
        # The backend's timeout limits a stream, nothing else does.
        "stream_idle_timeout": seconds(0),
        "common_http_protocol_options": {"idle_timeout": seconds(CLIENT_IDLE_SECONDS)},
        # Only a picker may say where a request goes.
        "early_header_mutation_extensions": [
            extension(
                "envoy.http.early_header_mutation.header_mutation",
                "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
                mutations=[{"remove": PICKED}],
            )
        ],
        "access_log": [
            extension(
                "envoy.access_loggers.file",
                "envoy.extensions.access_loggers.file.v3.FileAccessLog",
                path=str(access_log),
                log_format={"json_format": _ACCESS_LOG},
            )
        ],
    }


def _picker_filter() -> JsonObject:
    """The filter that calls pickers. Routes name their picker, so that pools change without a change of the listener.

    Not ``disabled: true`` here: Envoy decides about that by the first route of a request, and would silently skip the
    picker of a route that another filter selects afterwards.
    """
    return extension(
        PICKER_FILTER,
        "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
        grpc_service={"envoy_grpc": {"cluster_name": NOWHERE}},
        processing_mode=_NOTHING,
        message_timeout=seconds(10),
        # A picker may set any header, as it may at Google's.
        mutation_rules={"allow_all_routing": True, "allow_envoy": False},
        metadata_options={"forwarding_namespaces": {"untyped": [SERVED_NAMESPACE]}},
    )


_TAKE_CHOICE = f"""
function envoy_on_request(request)
  local picked = request:headers():get("{PICKED}")
  if picked then
    request:setUpstreamOverrideHost(string.match(picked, "^[^,%s]+"), false)
  end
end
"""


def _choice_filter() -> JsonObject:
    """The filter that sends a request to the pod that the picker chose if it is healthy, or else to another one.

    Not Envoy's load balancing policy override_host, which was made for pickers: up to 1.40 it takes a host whose
    health checks fail, while Google's load balancers answer 503 "no healthy upstream" where none passes.
    """
    return extension(
        "envoy.filters.http.lua",
        "envoy.extensions.filters.http.lua.v3.Lua",
        default_source_code={"inline_string": _TAKE_CHOICE},
    )


def _served_filters() -> list[JsonValue]:
    """The filters by which a picker learns which pod answered: Envoy has no filter that writes it into metadata.

    Answers pass filters in reverse order. The second writes the pod's address into a header, over one that the pod may
    have sent, the first makes metadata of it, which the picker's filter passes on. The client does not get the header.
    Errors of Envoy's own, of which no pod knows, have no address.
    """
    return [
        extension(
            "envoy.filters.http.header_to_metadata",
            "envoy.extensions.filters.http.header_to_metadata.v3.Config",
            response_rules=[
                {
                    "header": SERVED,
                    "on_header_present": {"metadata_namespace": SERVED_NAMESPACE, "key": SERVED, "type": "STRING"},
                    "remove": True,
                }
            ],
        ),
        extension(
            "envoy.filters.http.header_mutation",
            "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
            mutations={
                "response_mutations": [
                    {
                        "append": {
                            "header": {"key": SERVED, "value": "%UPSTREAM_REMOTE_ADDRESS%"},
                            "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
                        }
                    }
                ]
            },
        ),
    ]


def _router() -> JsonObject:
    return extension(
        "envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", suppress_envoy_headers=True
    )
