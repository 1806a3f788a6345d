"""Prometheus' files: its configuration, the targets of each job, tokens, and what people read about targets.

Formats: https://prometheus.io/docs/prometheus/3.5/configuration/configuration/. JSON is YAML.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from llmd_common.kubernetes.fields import Object
from localcloud.common.files import write
from localcloud.monitoring import kube_state
from localcloud.monitoring.targets import ScrapeEndpoint, ScrapeTarget, SecretKey, Where

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
SHORTEST_MILLISECONDS = 500


def milliseconds(duration: str) -> int:
    """A duration as Prometheus writes it, such as ``1m30s``. Raises ``ValueError`` for another text."""
    parts = re.findall(r"(\d+)(ms|[smhd])", duration)
    if not parts or "".join(f"{count}{unit}" for count, unit in parts) != duration:
        raise ValueError(f"{duration!r} is not a duration. Fix: use the form 30s or 1m30s")
    return sum(int(count) * _UNITS[unit] for count, unit in parts)


def shortened(duration: str, faster: float) -> str:
    """A duration divided by that factor; half a second at least."""
    return f"{max(SHORTEST_MILLISECONDS, round(milliseconds(duration) / faster))}ms"


class PrometheusFiles:
    """The folder of Prometheus. ``faster`` divides every interval."""

    def __init__(self, root: Path, faster: float = 1.0) -> None:
        self.root, self.faster = root, faster
        self.configuration = root / "prometheus.json"
        """The configuration file of Prometheus."""
        self.rules = root / "rules"
        """A folder: every ``*.yaml`` and ``*.json`` in it is a file of rules."""
        self.data = root / "data"
        """The data folder of Prometheus."""
        self.report = root / "targets.json"
        """Every target as JSON, with the reason where it is not scraped."""
        self._targets = root / "targets"
        self._tokens = root / "tokens"

    def prepare(self) -> None:
        """Creates the folders, and removes tokens and targets of an earlier run."""
        for folder in (self._targets, self._tokens):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self._targets, self._tokens, self.rules, self.data):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(
        self, endpoints: Sequence[ScrapeEndpoint], unreadable: Mapping[SecretKey, str], tokens: Mapping[SecretKey, str],
        where: Where,
    ) -> bool:  # fmt: skip
        """Writes targets, tokens, configuration and report; whether Prometheus has to read its configuration again.

        ``unreadable`` says why a token cannot be sent: targets that need it are not scraped. ``where``: the labels of
        kube state metrics.
        """
        for key, token in tokens.items():
            write(self._token(key), token, 0o600)
        decided = [(endpoint, _decided(endpoint, unreadable)) for endpoint in endpoints]
        for endpoint, targets in decided:
            groups = [{"targets": [one.address], "labels": dict(one.labels)} for one in targets if not one.refused]
            write(self._of(endpoint), json.dumps(groups, indent=1), 0o600)
        write(self.report, json.dumps([_reported(*one) for one in decided], indent=1) + "\n", 0o600)
        content = json.dumps(self._configuration(endpoints, where), indent=1) + "\n"
        if self.configuration.exists() and self.configuration.read_text() == content:
            return False
        write(self.configuration, content, 0o600)
        return True

    def _of(self, endpoint: ScrapeEndpoint) -> Path:
        return self._targets / f"{endpoint.job.replace('/', '_')}.json"

    def _token(self, key: SecretKey) -> Path:
        # Names of Secrets have dots, keys have dots and underscores: joined, two could be one.
        return self._tokens / hashlib.sha256(f"{key.namespace}/{key.name}/{key.key}".encode()).hexdigest()[:16]

    def _configuration(self, endpoints: Sequence[ScrapeEndpoint], where: Where) -> Object:
        interval = shortened(kube_state.INTERVAL, self.faster)
        jobs = [self._job(endpoint) for endpoint in endpoints]
        not_renamed: Object = {"source_labels": ["__name__"], "regex": kube_state.RESTARTS, "action": "drop"}
        jobs += [
            self._states(kube_state.JOB, interval, where, [not_renamed]),
            self._states(kube_state.SYSTEM_JOB, interval, where, kube_state.googles_name(where.cluster)),
        ]
        return {
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": [str(self.rules / "*.yaml"), str(self.rules / "*.json")],
            "scrape_configs": jobs,
        }

    @staticmethod
    def _states(job: str, interval: str, where: Where, relabeling: Sequence[Object]) -> Object:
        # Without a namespace of its own, so that the namespace of what is counted stays, as on GKE.
        labels = {**where.labels, "job": job, "instance": job}
        return {
            "job_name": job,
            "scrape_interval": interval,
            "scrape_timeout": interval,
            "static_configs": [{"targets": [f"127.0.0.1:{kube_state.PORT}"], "labels": labels}],
            "metric_relabel_configs": list(relabeling),
        }

    def _job(self, endpoint: ScrapeEndpoint) -> Object:
        authorization: Object = {}
        if endpoint.token:
            credentials = str(self._token(endpoint.token))
            authorization = {"authorization": {"type": endpoint.token_type, "credentials_file": credentials}}
        return {
            "job_name": endpoint.job,
            "metrics_path": endpoint.path,
            "scheme": endpoint.scheme,
            "scrape_interval": shortened(endpoint.interval, self.faster),
            "scrape_timeout": shortened(endpoint.timeout, self.faster),
            "honor_timestamps": False,
            **authorization,
            "file_sd_configs": [{"files": [str(self._of(endpoint))], "refresh_interval": "30s"}],
        }


def _decided(endpoint: ScrapeEndpoint, unreadable: Mapping[SecretKey, str]) -> list[ScrapeTarget]:
    no_token = unreadable.get(endpoint.token, "") if endpoint.token else ""
    return [ScrapeTarget(one.address, one.labels, one.refused or no_token) for one in endpoint.targets]


def _reported(endpoint: ScrapeEndpoint, targets: Sequence[ScrapeTarget]) -> Object:
    return {
        "job": endpoint.job,
        "targets": [
            {"address": one.address, "pod": one.labels.get("pod", ""), "refused": one.refused} for one in targets
        ],
    }
