"""Symptoms that clients or operators observe, their meaning on this stack, and the command to run next: those of
``symptoms.yaml``.

One table for ``smoke``, ``status`` and ``docs/troubleshooting.md``. Sources: GKE's load balancer answers
(https://cloud.google.com/load-balancing/docs/https/troubleshooting-ext-https-lbs), Envoy's response flags, vLLM's,
libtpu's and KServe's messages, the front door's own errors, and the log of a first
deployment (docs/contributing/incidents.md).
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from llmd_gke.google_errors.page import table


@dataclass(frozen=True)
class Symptom:
    """``sign``: a regular expression for the symptom; ``shown``: its text for readers; ``command`` may use
    ``{stack}``; ``gateway``: at a Gateway of which class, as in the settings (default: any).
    """

    key: str
    sign: str
    shown: str
    cause: str
    command: str
    gateway: str | None = None


def _status(found: re.Match[str]) -> str:
    """A sign for an HTTP status, which is no other number of the same digits."""
    return rf"\b(got|returns|status|HTTP(/[\d.]+)?):? {found[1]}\b|\({found[1]}\)"


_TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def _table(name: str) -> tuple[Symptom, ...]:
    rows = [Symptom(**row) for row in _TABLES[name]]
    return tuple(replace(row, sign=re.sub(r"STATUS\((\d+)\)", _status, row.sign)) for row in rows)


CLIENTS, PODS = _table("clients"), _table("pods")
"""Of clients; of pods, nodes and the ends of servers' logs, in which the signs of clients have another meaning."""
NO_CHIPS = next(one for one in PODS if one.key == "no-chips")


def explain_log(text: str) -> Symptom | None:
    """The first symptom of pods and nodes whose sign is in the text, the end of a server's log."""
    return next((one for one in PODS if re.search(one.sign, text, re.IGNORECASE)), None)


def explain(text: str, gateway: str) -> Symptom | None:
    """The first symptom whose sign is in a text that a client got, at a Gateway of this class."""
    there = (one for one in CLIENTS if one.gateway in (None, gateway))
    return next((one for one in there if re.search(one.sign, text, re.IGNORECASE)), None)


if __name__ == "__main__":  # `client` or `pod`: prints that table of docs/troubleshooting.md
    print(table((one.shown, one.cause, f"`{one.command}`") for one in {"client": CLIENTS, "pod": PODS}[sys.argv[1]]))
