#!/opt/bin/python3
"""llm-d's endpoint picker in the laptop cloud: the picker of the Gateway API Inference Extension, which it grew out of.

llm-d's router was not served as a Go module when the programs were pinned (2026-11). Its own plugins are therefore
taken out of the configuration that KServe hands over, with a line in the log; everything else in it stays as it is
(kubernetes-sigs/gateway-api-inference-extension v1.5.0 ``cmd/epp/runner/runner.go`` ``registerInTreePlugins``).
"""

from __future__ import annotations

import os
import re
import sys

PICKER = "/opt/bin/endpoint-picker"
COUNTING_PICKER = "/opt/bin/counting-picker"
"""The same with a counter for ``concurrency-detector``, built for stacks that use it
(``localcloud/go_builds/gomod/counting-picker/main.go``)."""

DETECTOR = "concurrency-detector"
COUNTER = "endpoint-inflight-load-producer"
_METRICS, _EXTRACTOR, _ENDPOINTS = "metrics-data-source", "core-metrics-extractor", "endpoint-notification-source"

ABSENT = (
    "no-hit-lru-scorer",
    "active-request-scorer",
    "session-affinity-scorer",
    "load-aware-scorer",
    "precise-prefix-cache-scorer",
)
"""Plugins of llm-d/llm-d-router v0.9.0 ``pkg/plugins`` that the extension does not have."""

_TEXT = "--config-text"

ABSENT_FLAGS = ("--grpc-max-recv-msg-size",)
"""Arguments of llm-d/llm-d-router v0.9.0 ``pkg/epp/server/options.go`` that the extension does not have: here what a
picker receives is limited to gRPC's own 4 MiB."""


def without(text: str, absent: tuple[str, ...] = ABSENT) -> tuple[str, list[str]]:
    """A configuration (YAML as Go writes it) without the list items that declare or use these plugins."""
    kept: list[str] = []
    dropped: list[str] = []
    for item in _items(text.splitlines()):
        name = next((plugin for line in item if (plugin := _plugin(line, absent))), None)
        if name is None:
            kept += item
        elif name not in dropped:
            dropped.append(name)
    return "\n".join(kept) + "\n", dropped


def _plugin(line: str, absent: tuple[str, ...]) -> str | None:
    match = re.fullmatch(r"[\s-]*(?:type|pluginRef): *[\"']?([\w-]+)[\"']?\s*", line)
    return match[1] if match and match[1] in absent else None


def _items(lines: list[str]) -> list[list[str]]:
    """Lines, those of one innermost list item together."""
    items: list[list[str]] = []
    inside = -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith("- "):
            items.append([line])
            inside = indent
        elif inside >= 0 and indent > inside:
            items[-1].append(line)
        else:
            items.append([line])
            inside = -1
    return items


def counted(text: str) -> str:
    """A configuration with the counter, which llm-d's picker adds by itself.

    What is collected is then listed, the metrics that are its default included (v1.5.0
    ``pkg/epp/config/loader/defaults.go`` ``ensureDataLayer``).
    """
    kinds = "".join(f"- type: {kind}\n" for kind in (COUNTER, _ENDPOINTS, _METRICS, _EXTRACTOR))
    sources = "".join(
        f"  - pluginRef: {source}\n    extractors:\n    - pluginRef: {extractor}\n"
        for source, extractor in ((_METRICS, _EXTRACTOR), (_ENDPOINTS, COUNTER))
    )
    return re.sub(r"(?m)^plugins:\n", f"plugins:\n{kinds}", text, count=1) + f"dataLayer:\n  sources:\n{sources}"


def uses_detector(text: str) -> bool:
    """Whether the configuration (YAML as Go writes it) has ``concurrency-detector``."""
    return any(_plugin(line, (DETECTOR,)) for line in text.splitlines())


def translate(argv: list[str]) -> tuple[list[str], list[str]]:
    """The picker's own arguments for those of llm-d's, and what of them was removed."""
    arguments: list[str] = []
    removed: list[str] = []
    for position, word in enumerate(argv):
        previous = argv[position - 1] if position else ""
        flag = word.partition("=")[0]
        if flag in ABSENT_FLAGS:
            removed.append(flag)
        elif previous in ABSENT_FLAGS:
            continue  # its value
        elif word.startswith(f"{_TEXT}="):
            text, dropped = _config(word.partition("=")[2])
            arguments.append(f"{_TEXT}={text}")
            removed += dropped
        elif previous == _TEXT:
            text, dropped = _config(word)
            arguments.append(text)
            removed += dropped
        else:
            arguments.append(word)
    return arguments, removed


def _config(text: str) -> tuple[str, list[str]]:
    kept, dropped = without(text)
    return counted(kept) if uses_detector(kept) else kept, dropped


def main(argv: list[str]) -> None:
    """Executes the picker; never returns."""
    arguments, removed = translate(argv)
    for name in removed:
        print(f"laptop cloud: {name} is specific to llm-d and is removed", flush=True)
    program = COUNTING_PICKER if any(COUNTER in word for word in arguments) else PICKER
    os.execv(program, [program, *arguments])  # noqa: S606 - no shell


if __name__ == "__main__":
    main(sys.argv[1:])
