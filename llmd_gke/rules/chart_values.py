"""Rules about the values of charts, interpreted by the shapes that most charts share.

``service.type``, ``ingress.enabled`` and their annotations are what ``helm create`` writes
(https://helm.sh/docs/chart_best_practices/values/).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from llmd_gke.rules import exposure, secret_texts
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, SecretText, Value

FIREWALLS = ("networkpolic", "firewall")
"""Parts of the names, in lower case, of tables whose ``ingress`` contains traffic rules."""
SERVICE_TYPES = {"loadbalancer": "LoadBalancer", "nodeport": "NodePort"}
"""Types of Services that are reachable from outside, by their names in lower case: some charts compare theirs so."""
OF_INGRESSES = ("hosts", "hostname", "className", "ingressClassName", "class", "tls", "annotations")
"""Fields that charts have for an Ingress, but not for a NetworkPolicy."""


def services(values: Input) -> Iterator[Finding]:
    """No chart creates a Service with a public address."""
    for section in values.within(Mapping):
        table = section.mapping()
        if table.get("enabled") in (False, "false"):
            continue
        kind = table.get("type", table.get("serviceType"))
        kind = SERVICE_TYPES.get(kind.lower()) if isinstance(kind, str) else None
        if kind is not None:
            object_: Value = {"spec": {**table, "type": kind}, "metadata": {"annotations": table.get("annotations")}}
            yield from _at(section, exposure.service(Input(object_)))


def ingresses(values: Input) -> Iterator[Finding]:
    """No chart creates a public Ingress."""
    for one in _ingresses(values):
        table = one.mapping()
        name = next((table[key] for key in ("className", "ingressClassName", "class") if table.get(key)), None)
        object_: Value = {"spec": {"ingressClassName": name}, "metadata": {"annotations": table.get("annotations")}}
        yield from _at(one, exposure.ingress(Input(object_)))


def _ingresses(values: Input) -> Iterator[Input]:
    for section in values.within(Mapping):
        last = section.path.rsplit(".", 1)[-1].rstrip("[0123456789]").lower()
        if last == "expose" and section.mapping().get("type") == "ingress":  # Harbor's
            yield section.get("ingress")
        if not last.endswith(("ingress", "ingresses")) or _is_firewall(section):
            continue
        for one in [section] if "enabled" in section.mapping() else _named_ingresses(section):
            if one.mapping().get("enabled") in (True, "true"):
                yield one


def _named_ingresses(section: Input) -> Iterator[Input]:
    """Several Ingresses, each under a name of its own: ``ingress.main``."""
    for name, one in section.entries():
        several = name == "main" or section.path.endswith("ingresses")
        if isinstance(one.value, Mapping) and (several or any(one.value.get(key) for key in OF_INGRESSES)):
            yield one


def _is_firewall(ingress: Input) -> bool:
    """Whether ``ingress`` are the ingress rules of a NetworkPolicy or a firewall, rather than an Ingress."""
    above = ingress.path.lower().rpartition(".")[0]
    return any(name in above for name in FIREWALLS) and not any(ingress.mapping().get(key) for key in OF_INGRESSES)


def tokens(values: Input) -> Iterator[Finding]:
    """No value looks like a token unless the program marked it as secret. The value itself is not repeated."""
    for text in values.within(str):
        if not isinstance(text.value, SecretText) and secret_texts.has_shape(str(text.value)):
            yield exposure.plain(f"{text.path} looks like a token or a password, and the state stores it in plain text")


def _at(section: Input, findings: Iterator[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield replace(finding, problem=f"{section.path}: {finding.problem}")
