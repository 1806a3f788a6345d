"""Rules about endpoint pickers, in pods anywhere (kubernetes-sigs/gateway-api-inference-extension#2385)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.catalog import versions
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pod_shapes import containers
from llmd_gke.rules.pods import arguments
from llmd_gke.rules.versions import version_of

LLM_D_PICKER = "llm-d-router-endpoint-picker"


FLOORS: Mapping[str, str] = {
    "llm-d-inference-scheduler": "0.7.0",
    "llm-d-router-endpoint-picker": "0.7.0",
    "gateway-api-inference-extension/epp": "1.4.0",
}
"""Endpoint pickers by the end of their image's name, and the first version that offers h2 by ALPN."""


def endpoint_picker(pod: Input, floors: Mapping[str, str]) -> Iterator[Finding]:
    """An endpoint picker is new enough to use TLS with its Gateway, and has TLS enabled."""
    for container in containers(pod):
        image = container.get("image").text() or ""
        name, _, tag = _split(image)
        floor = next((version for end, version in floors.items() if name.endswith(end)), None)
        current, least = version_of(tag), version_of(floor or "")
        if floor and current and least and current < least:
            yield Finding(
                "endpoint-picker",
                f"{container.path}.image: the TLS of endpoint picker {tag} does not offer h2 (No ALPN negotiated)",
                allowed=f"{floor} or newer",
                fix=f"use {floor} or newer",
            )
        argv = arguments(container)
        for position, word in enumerate(argv):
            key, given, value = word.partition("=")
            value = value if given else (argv[position + 1] if position + 1 < len(argv) else "")
            if key.lstrip("-") == "secure-serving" and value.lower() in ("false", "f", "0"):
                yield Finding(
                    "endpoint-picker",
                    f"{container.path}: --secure-serving={value}; the Gateway calls the endpoint picker over TLS",
                    fix="remove it: the default is true",
                )


def picker_ceiling(pod: Input, ceiling: str) -> Iterator[Finding]:
    """Rejects an endpoint picker newer than the one that KServe's preset starts: it lacks flags that the preset sets.

    llm-d-router 0.10.0 removed ``--model-server-metrics-*`` (commit 936f064ac). ``ceiling`` is the newest version that
    is accepted, such as ``v0.9.0``, with its patch releases.
    """
    for container in containers(pod):
        name, _, tag = _split(container.get("image").text() or "")
        version, most = version_of(tag), version_of(ceiling)
        if name.endswith(LLM_D_PICKER) and version and most and version[:2] > most[:2]:
            yield Finding(
                "endpoint-picker",
                f"{container.path}.image: endpoint picker {tag} is newer than {ceiling}, which KServe's preset "
                "starts: it exits because the preset sets flags that it no longer has",
                allowed=f"{ceiling} and its patch releases",
                fix="remove scheduler.image",
            )


def preset_picker() -> str:
    """The version of the picker that KServe's preset starts, as pinned in ``catalog/versions.toml``."""
    return versions.pinned_image("endpoint-picker").tag


def _split(image: str) -> tuple[str, str, str]:
    path, slash, last = image.split("@")[0].rpartition("/")
    name, colon, tag = last.partition(":")
    return f"{path}{slash}{name}", colon, tag
