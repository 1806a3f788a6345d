"""The monitoring that a cluster of the Google stand-in has enabled, read from the stand-in's file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from localcloud.google_api.rules.references import CLUSTER
from localcloud.monitoring.targets import Where
from localcloud.providers.protocol.values import JsonObject, dig, texts


@dataclass(frozen=True)
class Monitored:
    """A cluster with managed Prometheus on, and the components whose metrics GKE collects itself."""

    where: Where
    components: frozenset[str]


def monitored(content: JsonObject) -> Monitored | None:
    """The first cluster that has managed Prometheus on; ``content`` is the stand-in's file."""
    clusters = dig(content, "objects", CLUSTER)
    for ident, record in clusters.items() if isinstance(clusters, dict) else ():
        match = re.fullmatch(r"projects/([^/]+)/locations/([^/]+)/clusters/([^/]+)", ident)
        if match and dig(record, "inputs", "monitoringConfig", "managedPrometheus", "enabled") is True:
            components = texts(record, "inputs", "monitoringConfig", "enableComponents")
            return Monitored(Where(match[1], match[2], match[3]), frozenset(components))
    return None
