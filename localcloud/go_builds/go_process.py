"""Runs Go: passes on its messages line by line, and leaves no compiler running."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from llmd_common.child_process import end, interrupts_wait
from localcloud.go_builds import go_toolchain

STOP = ((signal.SIGINT, 10), (signal.SIGKILL, 10))
"""Interrupts Go and its compilers, and kills them if they still run after ten seconds."""


@dataclass(frozen=True)
class ModuleBuild:
    """One wrapper module being built: the toolchain, its environment, the folder it runs in, and the builder's lock.

    ``module`` is the wrapper module as messages name it; ``source`` may be a copy of it with more files.
    """

    go: go_toolchain.Go
    environment: Mapping[str, str]
    module: Path
    source: Path
    purpose: go_toolchain.Purpose
    lock: IO[str]

    def within(self, environment: Mapping[str, str]) -> ModuleBuild:
        """The same build with another environment."""
        return replace(self, environment=environment)

    def at(self, source: Path) -> ModuleBuild:
        """The same build in another folder."""
        return replace(self, source=source)

    def run(
        self, arguments: list[str], on_line: Callable[[str], None], on_start: Callable[[], None] | None = None
    ) -> str:
        """Runs Go in the module and returns its standard output; ``on_line`` gets each line of its messages.

        Go runs in a process group of its own and inherits the builder's lock: Ctrl-C stops it cleanly, and if this
        process is killed, the next builder waits until the compilers have exited. Raises ``SetUpFailed``.
        """
        messages: list[str] = []
        output: list[str] = []
        process: subprocess.Popen[str] | None = None
        try:
            with interrupts_wait():
                process = self._start(arguments)
            messages_of, output_of = cast("IO[str]", process.stderr), cast("IO[str]", process.stdout)
            reader = threading.Thread(target=lambda: output.append(output_of.read()), daemon=True)
            reader.start()
            beside = threading.Thread(target=on_start or (lambda: None), daemon=True)
            beside.start()
            for line in _lines_and_ticks(messages_of):
                if line:
                    messages.append(line)
                on_line(line)
            process.wait()
            beside.join()
            reader.join()
        except BaseException:
            if process is not None:
                end(process, STOP)
            raise
        if process.returncode:
            raise go_toolchain.explain("\n".join(messages), self.purpose, self.module)
        return "".join(output)

    def _start(self, arguments: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.go.command, *arguments],
            cwd=self.source,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=(self.lock.fileno(),),
        )


def _lines_and_ticks(stream: IO[str]) -> Iterator[str]:
    """Each line as it comes, and an empty one every second, so that the displayed time is updated."""
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=1)
        except queue.Empty:
            yield ""
            continue
        if line is None:
            return
        yield line
