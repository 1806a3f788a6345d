"""Prometheus: its command line, and reloads of its configuration."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from localcloud.monitoring.files import PrometheusFiles

log = logging.getLogger(__name__)

ADDRESS = "127.0.0.1:9090"
URL = f"http://{ADDRESS}"
RETENTION = "6h"
ANSWER_SECONDS = 10.0


def command(program: Path, files: PrometheusFiles) -> tuple[str, ...]:
    """The command line of Prometheus."""
    return (
        str(program),
        f"--config.file={files.configuration}",
        f"--storage.tsdb.path={files.data}",
        f"--storage.tsdb.retention.time={RETENTION}",
        f"--web.listen-address={ADDRESS}",
        "--web.enable-lifecycle",
        "--log.level=warn",
    )


@dataclass
class Reloader:
    """Has Prometheus read configuration and rules again after a change of either."""

    files: PrometheusFiles
    _seen: tuple[tuple[str, int, int], ...] = ()
    _due: bool = field(default=False)

    async def step(self, *, configuration_changed: bool) -> None:
        """Reloads Prometheus once after a change; a rejected configuration is logged, and tried again after the next
        change.
        """
        present = self._rule_files()
        self._due = self._due or configuration_changed or present != self._seen
        self._seen = present
        if not self._due:
            return
        try:
            async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
                answer = await client.post(f"{URL}/-/reload")
        except httpx.TransportError:
            return  # it has not started yet and will read everything then, or the next step requests it
        self._due = False
        if answer.is_error:
            log.error("Prometheus rejects its configuration: %s", answer.text.strip())

    def _rule_files(self) -> tuple[tuple[str, int, int], ...]:
        rule_files = sorted(self.files.rules.iterdir()) if self.files.rules.is_dir() else []
        return tuple((one.name, one.stat().st_mtime_ns, one.stat().st_size) for one in rule_files)
