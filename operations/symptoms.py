"""Symptoms that clients or operators observe, their meaning on this stack, and the command to run next.

One table for ``smoke``, ``status`` and ``docs/troubleshooting.md``. Sources: GKE's load balancer answers
(https://cloud.google.com/load-balancing/docs/https/troubleshooting-ext-https-lbs), Envoy's response flags, vLLM's and
KServe's messages, and the log of a first deployment (docs/incidents.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Symptom:
    """``sign``: a regular expression for the symptom; ``shown``: its text for readers; ``command`` may use
    ``{stack}``.
    """

    key: str
    sign: str
    shown: str
    cause: str
    command: str


SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "no-healthy-upstream",
        r"no healthy upstream",
        "503 `no healthy upstream`",
        "no pod is healthy for Google's load balancer: still starting, or its health check requests the wrong path",
        "llmd-gke status --stack {stack}",
    ),
    Symptom(
        "cut-at-30-seconds",
        r"upstream request timeout|stream timeout|\b504\b",
        "504 `upstream request timeout`, or an answer that breaks off after 30 s",
        "GKE's default backend timeout: no GCPBackendPolicy is attached to the InferencePool",
        "kubectl -n models get gcpbackendpolicy -o yaml",
    ),
    Symptom(
        "route-unknown",
        r"fault filter abort|response 404 \(backend NotFound\)",
        "404 `fault filter abort`",
        "the gateway has no route for that path: the HTTPRoute is not accepted, or the URL belongs to another "
        "model or gateway",
        "llmd-gke status --stack {stack}",
    ),
    Symptom(
        "tls-to-plain",
        r"WRONG_VERSION_NUMBER|TLS_error|upstream connect error.*TLS",
        "503 with `TLS_error … WRONG_VERSION_NUMBER`",
        "the gateway uses HTTPS for a server that uses HTTP: KServe is older than 0.20, or its TLS is enabled",
        "pulumi preview --stack {stack} --policy-pack policies",
    ),
    Symptom(
        "tpu-busy",
        r"/dev/(vfio|accel).{0,80}(resource busy|EBUSY)|resource busy.{0,80}/dev/(vfio|accel)|"
        r"(TPU|libtpu\.so) (is )?already in use|libtpu multi-process lockfile",
        "`open(/dev/vfio/…): Device or resource busy`, `The TPU is already in use by …`",
        "another process holds the chips: an older server that has not ended, a second one on the host, or a host that "
        "did not release them",
        "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE",
    ),
    Symptom(
        "tpu-privileges",
        r"open\(/dev/(vfio|accel)\S*\).{0,80}(denied|not permitted)|"
        r"RLIMIT_MEMLOCK|failed to map .{0,80}/dev/(vfio|accel)",
        "`open(/dev/vfio/…): Operation not permitted`, `RLIMIT_MEMLOCK`",
        "the container may not open or lock what the TPU driver needs: give that model `capabilities`, or `privileged`",
        "kubectl -n models logs POD -c main",
    ),
    Symptom(
        "upstream-gone",
        r"upstream connect error|connection termination|\b502\b",
        "502, or `upstream connect error or disconnect`",
        "the server closed the connection: its pod is restarting, or a NetworkPolicy blocks the gateway",
        "llmd-gke status --stack {stack}",
    ),
    Symptom(
        "old-http",
        r"\b426\b|Upgrade Required",
        "426 Upgrade Required",
        "the client uses HTTP/1.0 (as Apache Bench does), which GKE's load balancer rejects",
        "llmd-gke bench --stack {stack}",
    ),
    Symptom(
        "model-name",
        r"model .{0,120}does not exist",
        "404 `The model … does not exist`",
        "the request's `model` is not a name that the server serves; the outputs show it as `servedModelName`",
        "pulumi stack output models --stack {stack}",
    ),
    Symptom(
        "overloaded",
        r"\b429\b|InferencePoolResourceExhausted|system saturated",
        "429, `inference pool resource exhausted`",
        "the endpoint picker considers every replica saturated",
        "llmd-gke status --stack {stack}",
    ),
    Symptom(
        "name-resolution",
        r"Name or service not known|nodename nor servname|Temporary failure in name resolution|getaddrinfo",
        "the domain does not resolve",
        "no DNS record points to the gateway's address yet",
        "pulumi stack output gatewayIp --stack {stack}",
    ),
    Symptom(
        "certificate",
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed",
        "a certificate that is not trusted",
        "the certificate is not issued yet, is for another name, or this machine does not trust its certificate "
        "authority (`--ca FILE`)",
        "llmd-gke status --stack {stack}",
    ),
    Symptom(
        "refused",
        r"Connection refused|All connection attempts failed|No route to host|Network is unreachable|Timeout|timed out",
        "nothing answers at the address",
        "the gateway is not programmed yet, or it is internal and this machine is outside its network",
        "llmd-gke status --stack {stack}",
    ),
)


SERVER_LOGS = frozenset({"tpu-busy", "tpu-privileges"})
"""Keys of the symptoms that apply to servers' logs, in which the signs of the others have another meaning."""


def explain_log(text: str) -> Symptom | None:
    """The first of :data:`SERVER_LOGS` whose sign is in the text, the end of a server's log."""
    return next((one for one in SYMPTOMS if one.key in SERVER_LOGS and re.search(one.sign, text, re.IGNORECASE)), None)


def explain(text: str) -> Symptom | None:
    """The first symptom whose sign is in a text."""
    return next((symptom for symptom in SYMPTOMS if re.search(symptom.sign, text, re.IGNORECASE)), None)
