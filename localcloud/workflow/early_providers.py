"""Starts the stand-in providers together with the engine, which starts each when it first needs it.

A preview would wait for two starts of 0.2 s. The engine still runs the launchers in its plugin folder
(:func:`localcloud.workflow.home.launchers`): the first one prints the port of the provider that was started here, and
every later one starts a provider. ``LLMD_GKE_EARLY_PROVIDERS=0`` switches this off. In the namespaces of a laptop cloud
nothing is started early: its providers are others.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from localcloud.common.environment import STARTED_PROVIDERS
from localcloud.common.workdir import Workdir
from localcloud.workflow.home import stand_ins

SWITCH = "LLMD_GKE_EARLY_PROVIDERS"

NEED_PROVIDERS = frozenset({"preview", "up", "refresh", "destroy"})
"""Subcommands for which the engine starts providers."""

END_SECONDS = 5
"""Seconds that a provider has to end by itself, as long as the engine gives its own."""


@contextmanager
def started(workdir: Workdir, subcommand: str, environment: Mapping[str, str]) -> Generator[dict[str, str]]:
    """The engine's environment, with the folder of the ports while stand-ins run that it may use."""
    if subcommand not in NEED_PROVIDERS or workdir.namespaced or os.environ.get(SWITCH) == "0":
        yield dict(environment)
        return
    with tempfile.TemporaryDirectory(prefix="providers-", dir=workdir.home) as folder, ExitStack() as running:
        for provider, launcher in stand_ins(workdir).items():
            running.enter_context(_running(launcher, Path(folder, provider), environment))
        yield {**environment, STARTED_PROVIDERS: folder}


@contextmanager
def _running(launcher: Path, fifo: Path, environment: Mapping[str, str]) -> Generator[None]:
    """A provider that writes its port to ``fifo``, for as long as the context, or this process, lasts."""
    os.mkfifo(fifo)
    # Opened for reading, too: neither side then waits for the other to open it, and the port stays until it is read.
    port = os.open(fifo, os.O_RDWR)
    try:
        # Ctrl-C of the terminal stops the engine, which still needs its providers for the step that it finishes.
        process = subprocess.Popen(
            [launcher], env=environment, stdin=subprocess.PIPE, stdout=port, start_new_session=True
        )
        ended = threading.Thread(target=_report_end, args=(process, port))
        ended.start()
        try:
            yield
        finally:
            _end(process)
            ended.join()
    finally:
        os.close(port)


def _report_end(process: subprocess.Popen[bytes], port: int) -> None:
    """An empty line in place of a port: a launcher that waits for one starts a provider."""
    process.wait()
    os.write(port, b"\n")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a provider: it serves until the end of its input (:mod:`localcloud.providers.protocol.serve`)."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
