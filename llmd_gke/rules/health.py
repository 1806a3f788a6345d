"""Rules about HealthCheckPolicy and GCPBackendPolicy.

Sources: GoogleCloudPlatform/gke-gateway-api ``config/crd/networking.gke.io_healthcheckpolicies.yaml`` @fc40d606 (its
CEL rules since 2026-03-17), ``…_gcpbackendpolicies.yaml``; llm-d-router ``config/charts/llm-d-router-gateway``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from llmd_gke.catalog import kserve
from llmd_gke.gateways import gke, gke_policies
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

BLOCKS: Mapping[str, str] = {
    "TCP": "tcpHealthCheck",
    "HTTP": "httpHealthCheck",
    "HTTPS": "httpsHealthCheck",
    "HTTP2": "http2HealthCheck",
    "GRPC": "grpcHealthCheck",
}
LONGEST_INTERVAL_SECONDS = 300
LARGEST_PORT = 65535
LONGEST_TIMEOUT_SECONDS = 2147483647
MOST_PROBES = 10
FULL_SAMPLE_RATE = 1_000_000
HIGHEST_RATE = 1_000_000_000


def known_fields(kind: str, spec: Input) -> Iterator[Finding]:
    """A policy has only fields that its CRD has: the API server drops all others, or rejects the policy."""
    known = gke_policies.FIELDS[kind]
    yield from _known(spec, known, {path.removeprefix("spec."): path for path in _paths(known, "spec")})


def _paths(fields: gke_policies.Fields, above: str) -> Iterator[str]:
    for name, inner in fields.items():
        yield f"{above}.{name}"
        yield from _paths(inner, f"{above}.{name}")


def _known(node: Input, known: gke_policies.Fields, paths: Mapping[str, str]) -> Iterator[Finding]:
    if isinstance(node.value, Sequence) and not isinstance(node.value, str):
        for item in node.each():
            yield from _known(item, known, paths)
        return
    for name, value in node.entries() if isinstance(node.value, Mapping) else ():
        if name in known:
            yield from _known(value, known[name], paths) if known[name] else ()
            allowed = gke_policies.VALUES.get(value.path, ())
            if allowed and isinstance(value.value, str) and value.value not in allowed:
                yield _wrong(value.path, "has a value that the CRD has not", ", ".join(allowed), f"use {allowed[0]}")
        elif value.value is not None:
            written = re.sub(r"\[\d+\]", "", value.path).removeprefix("spec.")
            near = [written.removesuffix(name) + one for one in known if name.lower() in one.lower()]
            near = near or difflib.get_close_matches(written, paths, 1, 0.5)
            fix = f"use {paths[near[0]]}" if near else "remove it"
            inside = ", ".join(sorted(known))
            yield _wrong(value.path, "is no field of the CRD, so that it is dropped or rejected", inside, fix)


def target(reference: Input, kinds: Mapping[str, str]) -> Iterator[Finding]:
    """``targetRef`` contains group (even if empty), kind and name, and the group matches the kind. ``kinds``: those of
    which the policy takes one, with their groups.
    """
    group, kind = reference.get("group"), reference.get("kind").text()
    if reference.value is None or (group.value is None and isinstance(reference.value, Mapping)):
        yield Finding(
            "health-check-shape",
            f"{group.path} is missing: the CRD requires it in every version",
            allowed=f'"" for a Service, {INFERENCE_POOL_GROUP} for an InferencePool',
            fix="set group, even if it is the empty string",
        )
    elif kind is not None and kind not in kinds:
        yield _wrong(
            f"{reference.path}.kind", f"{kind} is no target of this policy", ", ".join(kinds), "target one of these"
        )
    elif kind is not None and group.text() not in (None, kinds[kind]):
        yield Finding(
            "health-check-shape",
            f"{group.path}: {kind} is not in group {group.text()!r}; the policy would not attach to anything",
            allowed=repr(kinds[kind]),
            fix=f"write group: {kinds[kind]!r}",
        )


def same_namespace(reference: Input, namespace: str | None) -> Iterator[Finding]:
    """A policy can only target objects in its own namespace. ``namespace`` is the policy's, ``None`` if unknown."""
    written = reference.text()
    if written and namespace is not None and written != namespace:
        yield _wrong(
            reference.path,
            f"is {written}, but the policy is in {namespace}: it does not attach",
            f"{namespace}, or no namespace",
            "create the policy in the namespace of its target",
        )


def _within(node: Input, least: int, most: int, fix: str) -> Iterator[Finding]:
    value = node.integer()
    if value is not None and not least <= value <= most:
        yield _wrong(node.path, f"is {value}", f"{least} to {most}", fix)


def _wrong(path: str, problem: str, allowed: str, fix: str) -> Finding:
    return Finding("health-check-shape", f"{path} {problem}", allowed=allowed, fix=fix)


def health_check(spec: Input) -> Iterator[Finding]:
    """A HealthCheckPolicy that is valid in every published version of the CRD."""
    default = spec.get("default")
    yield from _times(default)
    for key in ("healthyThreshold", "unhealthyThreshold"):
        yield from _within(default.get(key), 1, MOST_PROBES, "remove it, or set it to 2")
    config = default.get("config")
    if not config.present():
        if config.value is None:
            yield _wrong(
                "spec.default.config",
                "is missing: GKE then requests /",
                "type, and the block of that type",
                "set config.type and its block",
            )
        return
    kind = config.get("type").text()
    if kind is not None and kind not in BLOCKS:
        yield _wrong(config.get("type").path, f"{kind} is not a type of health check", ", ".join(BLOCKS), "use HTTP")
    elif kind is not None:
        wrong = [block for block in BLOCKS.values() if block != BLOCKS[kind] and config.get(block).value is not None]
        if wrong or config.get(BLOCKS[kind]).value is None:
            has = f"has {', '.join(wrong)}" if wrong else f"has no {BLOCKS[kind]}"
            yield _wrong(config.path, f"of type {kind} {has}", BLOCKS[kind], "use the block that belongs to the type")
        yield from _block(config.get(BLOCKS[kind]))


def _times(default: Input) -> Iterator[Finding]:
    interval, timeout = default.get("checkIntervalSec"), default.get("timeoutSec")
    for node in (interval, timeout):
        value = node.integer()
        if value is not None and not 1 <= value <= LONGEST_INTERVAL_SECONDS:
            yield _wrong(node.path, f"is {value}", f"1 to {LONGEST_INTERVAL_SECONDS} seconds", "set them to 15 and 5")
    if (interval.value is None) != (timeout.value is None):
        missing = interval if interval.value is None else timeout
        yield _wrong(
            missing.path,
            "is missing: checkIntervalSec and timeoutSec must be set together",
            "both or neither",
            "set both checkIntervalSec and timeoutSec",
        )
    every, at_most = interval.integer(), timeout.integer()
    if every is not None and at_most is not None and at_most > every:
        yield _wrong(timeout.path, f"{at_most} is more than the interval {every}", f"at most {every}", "lower it")


def _block(block: Input) -> Iterator[Finding]:
    path = block.get("requestPath").text()
    if path is not None and not path.startswith("/"):
        yield _wrong(
            f"{block.path}.requestPath", "does not start with /", "/health", "set an absolute path such as /health"
        )
    port, how = block.get("port"), block.get("portSpecification")
    number = port.integer()
    if number is not None and not 1 <= number <= LARGEST_PORT:
        yield _wrong(port.path, f"is {number}", f"1 to {LARGEST_PORT}", "set it to the container's port")
    written = {
        "USE_FIXED_PORT": port.value is not None,
        "USE_NAMED_PORT": block.get("portName").value is not None,
        "USE_SERVING_PORT": port.value is None,
    }
    choice = how.text()
    if how.value is None and block.value is not None:
        yield _wrong(
            how.path,
            "is missing: newer versions of the CRD reject the policy",
            "USE_FIXED_PORT with port, or USE_SERVING_PORT without port",
            "set portSpecification: USE_FIXED_PORT and port",
        )
    elif choice is not None and not written.get(choice, False):
        yield _wrong(
            how.path,
            f"{choice} is not consistent with port and portName",
            ", ".join(written),
            "set port only with USE_FIXED_PORT, and portName only with USE_NAMED_PORT",
        )


def model_server(spec: Input, protocols: Collection[str]) -> Iterator[Finding]:
    """A health check requests ``/health`` by a protocol of the server. ``/`` returns 404, and is never healthy."""
    reference = spec.get("targetRef")
    name, kind = reference.get("name").text() or "", reference.get("kind").text()
    if kind != "InferencePool" and not name.endswith(kserve.WORKLOAD_SUFFIX):
        return
    config = spec.get("default", "config")
    protocol = config.get("type").text()
    if protocol is not None and protocol not in protocols:
        yield Finding(
            "model-health-check",
            f"{config.path}: the model server speaks {' or '.join(protocols)}, but the check uses {protocol}; the "
            f"server logs 'Invalid HTTP request received' and stays unhealthy",
            allowed=", ".join(protocols),
            fix="set config.type: HTTP",
        )
    path = config.get(BLOCKS.get(protocol or "HTTP", "httpHealthCheck"), "requestPath")
    if protocol in ("HTTP", "HTTPS", "HTTP2") and (path.value is None or path.text() == "/"):
        yield Finding(
            "model-health-check",
            f"{path.path} is {'/' if path.value else 'missing, which means /'}: vLLM answers 404 there, and every "
            "backend stays unhealthy (no healthy upstream)",
            allowed="/health",
            fix="set requestPath: /health",
        )


def backend_policy(spec: Input) -> Iterator[Finding]:
    """A GCPBackendPolicy has numbers in range: seconds, parts per million, requests per second."""
    default = spec.get("default")
    yield from _within(
        default.get("timeoutSec"),
        1,
        LONGEST_TIMEOUT_SECONDS,
        "set it to the duration of the longest generation, for example 600",
    )
    draining = default.get("connectionDraining", "drainingTimeoutSec")
    yield from _within(draining, 0, gke.LONGEST_DRAINING_SECONDS, "set at most an hour (3600)")
    sampling = default.get("logging", "sampleRate")
    yield from _within(sampling, 0, FULL_SAMPLE_RATE, "give the rate per million: 1000000 logs every request")
    yield from _within(
        default.get("maxRatePerEndpoint"), 1, HIGHEST_RATE, "remove it, or set a number of requests per second"
    )
