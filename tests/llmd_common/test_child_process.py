"""Following a process: its lines, its status, and that it has ended whatever ends the following."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from llmd_common import child_process

ONCE = ((signal.SIGTERM, 30),)


def quiet(line: str) -> None:
    pass


class Interrupted(BaseException):
    """What Ctrl-C is to a real run."""


@pytest.fixture
def interrupt() -> Iterator[Callable[[], None]]:
    """Interrupts the test's own thread, as a signal of the terminal does, from any thread."""

    def interrupted(number: int, frame: object) -> None:
        raise Interrupted

    own = threading.get_ident()

    def send() -> None:
        signal.pthread_kill(own, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupted)
    yield send
    signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Lets go on who waits by ``read word < held``, at the end of the test at the latest: no process outlives it."""
    os.mkfifo(tmp_path / "held")
    held = os.open(tmp_path / "held", os.O_RDWR)  # so that neither side waits for the other to open it

    def let_go() -> None:
        os.write(held, b"go\n")

    yield let_go
    let_go()
    os.close(held)


def follow(script: str, folder: Path, hear: Callable[[str], None], **more: object) -> int:
    command = ["sh", "-c", script]
    return child_process.follow(command, folder, os.environ, hear, **{"stop": ONCE, "group": False, **more})  # pyright: ignore[reportArgumentType]


def test_a_line_is_heard_while_the_process_goes_on(tmp_path: Path, release: Callable[[], None]) -> None:
    """It goes on only after somebody has heard its first line."""
    heard: list[str] = []

    def hear(line: str) -> None:
        heard.append(line)
        if line == "first\n":
            release()

    assert follow("echo first; read word < held; echo $word >&2; printf end", tmp_path, hear, seconds=60) == 0
    assert heard == ["first\n", "go\n", "end"]


def test_what_it_prints_can_be_kept_apart_from_what_it_says(tmp_path: Path) -> None:
    heard: list[str] = []
    with tempfile.TemporaryFile("w+") as output:
        assert follow("echo working >&2; echo {}", tmp_path, heard.append, output=output) == 0
        output.seek(0)
        assert (output.read(), heard) == ("{}\n", ["working\n"])


def test_what_the_listener_raises_comes_out_after_the_command_has_ended(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(line: str) -> None:
        heard.append(line)
        raise ValueError("no such line")

    # More than a pipe holds: a reader that has died would let the command wait for ever.
    with pytest.raises(ValueError, match="no such line"):
        follow("echo first; yes | head -c 300000; echo done > ended", tmp_path, hear, seconds=60)
    assert heard == ["first\n"]
    assert (tmp_path / "ended").exists()


def test_a_command_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        child_process.follow([str(tmp_path / "no-such-command")], tmp_path, {}, quiet, stop=ONCE, group=False)


@pytest.mark.usefixtures("release")
def test_a_process_has_ended_when_its_time_is_up(tmp_path: Path) -> None:
    before = psutil.Process().children()
    with pytest.raises(subprocess.TimeoutExpired):
        follow("read word < held", tmp_path, quiet, seconds=0)
    assert [one for one in psutil.Process().children() if one not in before] == []


@pytest.mark.parametrize(("group", "final_output"), [(True, b""), (False, b"go\n")])
def test_what_a_process_has_started_is_stopped_with_it_only_as_a_group(
    tmp_path: Path, interrupt: Callable[[], None], release: Callable[[], None], group: bool, final_output: bytes
) -> None:
    os.mkfifo(tmp_path / "words")
    pipe = os.open(tmp_path / "words", os.O_RDONLY | os.O_NONBLOCK)

    def hear(line: str) -> None:
        if line == "started\n":
            interrupt()

    started = "exec 3> words; echo started; exec > /dev/null 2>&1; read word < held; echo $word >&3"
    with pytest.raises(Interrupted):
        follow(f"sh -c '{started}' & wait", tmp_path, hear, group=group)
    if not group:
        release()
    assert select.select([pipe], [], [], 10)[0], "it waits on"
    assert os.read(pipe, 100) == final_output
    os.close(pipe)


@pytest.mark.usefixtures("release")
def test_a_process_that_does_not_listen_gets_the_next_signal(tmp_path: Path, interrupt: Callable[[], None]) -> None:
    def hear(line: str) -> None:
        del line
        interrupt()

    before = psutil.Process().children()
    stop = ((signal.SIGINT, 0.05), (signal.SIGTERM, 0.05), (signal.SIGKILL, 30))
    with pytest.raises(Interrupted):
        follow("trap '' INT TERM; echo deaf; read word < held", tmp_path, hear, stop=stop)
    assert [one for one in psutil.Process().children() if one not in before] == []


@pytest.mark.usefixtures("release")
def test_another_ctrl_c_sends_the_next_signal_and_the_process_does_not_outlive_it(tmp_path: Path) -> None:
    def hear(line: str) -> None:
        del line
        os.kill(os.getpid(), signal.SIGINT)

    script = "trap 'echo told' INT; trap 'exit 3' TERM; echo started; while :; do read word < held; done"
    before = psutil.Process().children()
    with pytest.raises(KeyboardInterrupt):
        follow(script, tmp_path, hear, stop=((signal.SIGINT, 60), (signal.SIGTERM, 60)))
    assert [one for one in psutil.Process().children() if one not in before] == []


def test_ctrl_c_while_a_process_is_being_started_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupting(subprocess.Popen[str]):
        def __init__(self, command: Sequence[str], **options: Any) -> None:
            super().__init__(command, **options)
            signal.raise_signal(signal.SIGINT)

    before = psutil.Process().children()
    monkeypatch.setattr(subprocess, "Popen", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        follow("exec sleep 60", tmp_path, quiet)
    assert [one for one in psutil.Process().children() if one not in before] == []


def test_a_process_beside_a_block_ends_with_it(tmp_path: Path) -> None:
    before = psutil.Process().children()
    with child_process.beside(["sh", "-c", "sleep 60 & wait"], tmp_path, os.environ, stop=ONCE):
        assert len(psutil.Process().children()) == len(before) + 1
    assert [one for one in psutil.Process().children() if one not in before] == []


@pytest.mark.parametrize(
    ("script", "output"),
    [("echo ' 3.257.0 '; echo noise >&2", "3.257.0"), ("echo no; exit 1", None), ("cat", ""), ("exec sleep 60", None)],
)
def test_a_command_is_asked_without_input_and_not_for_long(script: str, output: str | None) -> None:
    seconds = 0.2 if "sleep" in script else 20
    assert child_process.output_of(["sh", "-c", script], seconds=seconds) == output


def test_a_command_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert child_process.output_of([tmp_path / "none"], seconds=1) is None


def test_the_runner_returns_status_output_and_errors() -> None:
    done = child_process.run(
        ["sh", "-c", "cat; echo bad >&2; exit 3"], stdin="given", environment={"PATH": "/usr/bin:/bin"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "given", "bad\n")
