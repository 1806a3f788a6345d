"""Starts the stand-in providers together with the engine, which starts each when it first needs it.

A preview would wait for two starts of 0.2 s. The engine still runs the launchers in its plugin folder
(:func:`localcloud.workflow.home.launchers`): the first launcher of a provider hands over the one that was started here,
and later ones start their own, as for the update after a preview. ``LLMD_GKE_EARLY_PROVIDERS=0`` switches this off.
With a laptop cloud nothing is started early: its engine runs in other namespaces.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from localcloud.common.environment import STARTED_PROVIDERS
from localcloud.common.files import write
from localcloud.common.workdir import Workdir
from localcloud.workflow.home import INPUT, OUTPUT, stand_ins

SWITCH = "LLMD_GKE_EARLY_PROVIDERS"

NEED_PROVIDERS = frozenset({"preview", "up", "refresh", "destroy"})
"""Subcommands for which the engine starts providers."""

END_SECONDS = 5
"""Seconds that a provider has to end by itself. The engine gives its own providers five seconds, too."""


@contextmanager
def started(workdir: Workdir, subcommand: str, environment: Mapping[str, str]) -> Generator[dict[str, str]]:
    """The environment of an engine that may use the stand-ins which run as long as this context."""
    if subcommand not in NEED_PROVIDERS or workdir.namespaced or os.environ.get(SWITCH) == "0":
        yield dict(environment)
        return
    with ExitStack() as running:
        given = dict(environment)
        try:
            folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="providers-", dir=workdir.home)))
            for provider, launcher in stand_ins(workdir).items():
                running.enter_context(_running(workdir, launcher, folder / provider, environment))
            given[STARTED_PROVIDERS] = str(folder)
        except OSError:  # such as a full disk: the engine starts its providers, or says what is wrong
            running.close()
        yield given


@contextmanager
def _running(workdir: Workdir, launcher: Path, offer: Path, environment: Mapping[str, str]) -> Generator[None]:
    """A provider that serves as long as this context, and longer if a launcher has taken it. ``offer`` contains its
    process ID.

    It ends with its input, of which this process and that launcher hold the other end: after a kill of this process
    the engine still has its providers.
    """
    fifo = offer.with_suffix(INPUT)
    os.mkfifo(fifo)
    # Opening one end of a FIFO waits for the other, unless told not to.
    given, held = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), os.open(fifo, os.O_WRONLY)
    try:
        os.set_blocking(given, True)
        log = workdir.home / f"{launcher.name}.log"
        with offer.with_suffix(OUTPUT).open("wb") as output, log.open("wb") as errors:
            # The engine runs providers in the project's folder. Ctrl-C of the terminal must not reach them: the engine
            # needs them for the step that it finishes.
            process = subprocess.Popen(
                [launcher],
                cwd=workdir.root,
                env=environment,
                stdin=given,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(given)
    try:
        write(offer, f"{process.pid}\n", 0o644)
        yield
    finally:
        os.close(held)
        _await_end(process)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
