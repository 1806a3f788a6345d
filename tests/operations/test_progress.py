"""The progress line, the line before any import, and Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time

import pytest

from operations import cli
from operations.progress import working
from tests.operations.support import ROOT


def test_short_work_shows_nothing_and_long_work_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    with working("asking", quiet_seconds=60) as work:
        work.say("asking again")
    assert capsys.readouterr().err == ""
    shown = ""
    with working("asking", quiet_seconds=0) as work:
        until = time.monotonic() + 10
        while not shown and time.monotonic() < until:
            shown = capsys.readouterr().err
        work.say("asking for more")
        work.say("asking for more")
    captured = capsys.readouterr()
    assert (shown, captured.err, captured.out) == ("asking ...\n", "asking for more ...\n", "")


FIRST_WORDS = """\
import json, os, sys
from operations import cli
class First:
    def write(self, text):
        found = [name for name in ("google", "grpc", "httpx", "kr8s", "pulumi", "rich.console") if name in sys.modules]
        os.write(1, f"{sys.argv[0]}|{' '.join(found)}|{text.strip()}\\n".encode())
        os._exit(0)
    def isatty(self):
        return False
    def flush(self):
        pass
for name, arguments in json.loads(sys.argv[1]).items():
    if not os.fork():
        sys.argv[0], sys.stdout, sys.stderr = name, First(), First()
        cli.main([name, *arguments])
    os.wait()
"""


ARGUMENTS = {
    "adopt": ("--stack", "eu4a"),
    "comment": ("--against", "HEAD"),
    "key": ("new", "team-a", "--stack", "eu4a", "--cloud", "google"),
    "report-drift": ("--stack", "eu4a", "--cloud", "google", "--same"),
    "preview-copy": ("--stack", "eu4a", "--state", "state.json", "--into", "copy"),
}
"""How a command is called that does not ask a cloud."""


# `cost` has its result as soon as that; `audit` reads no stack, and says which tool it waits for.
def test_a_command_says_what_it_does_before_it_imports_anything_large() -> None:
    usual = ("--stack", "eu4a", "--cloud", "google")
    calls = {name: ARGUMENTS.get(name, usual) for name in cli.COMMANDS.keys() - {"audit", "cost"}}
    command = [sys.executable, "-c", FIRST_WORDS, json.dumps(calls)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    seen = [line.split("|", 2) for line in done.stdout.splitlines()]
    assert {name for name, *_ in seen} == calls.keys()
    assert [(name, imported) for name, imported, _ in seen if imported] == []
    assert [(name, text) for name, _, text in seen if "eu4a" not in text and "HEAD" not in text] == []


ON_A_TERMINAL = """\
import sys, time
from operations.progress import working
with working("reading", quiet_seconds=0) as work:
    print("rich.console" in sys.modules)
    work.say("asking " + "x" * 200)
    if sys.argv[1:]:
        while work._shown is None:
            time.sleep(0.01)
print("result")
"""


@pytest.mark.parametrize("turning", [False, True])
def test_on_a_terminal_the_first_line_needs_no_imports_and_is_gone_before_the_result(turning: bool) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    environment = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-c", ON_A_TERMINAL, *(["turning"] if turning else [])]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal that nobody holds any more
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(20) == 0
    lines = shown.decode()
    assert lines.startswith("\r\x1b[Kreading ...False\r\n")
    cut = f"\r\x1b[Kasking {'x' * 72}\r\x1b[K"  # a line that wraps could not be taken away
    assert cut in lines
    assert lines.rstrip().endswith("\x1b[2Kresult" if turning else f"{cut}result")


WAITING = """\
import signal, sys
from types import SimpleNamespace
from operations import cli
def command():
    print("ready", flush=True)
    signal.pause()
cli.COMMANDS["wait"] = "Waits."
sys.modules[cli.module_of("wait")] = SimpleNamespace(command=command)
sys.exit(cli.main(["wait"]))
"""


def test_ctrl_c_ends_a_command_with_130_and_without_a_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert errors.strip() == "Stopped. You can run the command again."
