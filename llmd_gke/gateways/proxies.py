"""Gateways whose proxies are pods of the cluster, by the setting ``gateway.class``."""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.gateways import istio
from llmd_gke.gateways.gateway import Proxies

PROXIES: Mapping[str, Proxies] = {"istio": istio.PROXIES}
