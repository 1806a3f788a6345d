"""One module runs child processes; every other one that starts a process says here why it needs to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("llmd_gke", "components", "policies", "operations", "localcloud")
RUNNER = "localcloud/common/child_process.py"

STARTING = {
    "subprocess": frozenset({"run", "Popen", "call", "check_call", "check_output", "getoutput"}),
    "os": frozenset({"system", "popen", "posix_spawn", "posix_spawnp", "fork"})
    | {f"exec{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")},
    "asyncio": frozenset({"create_subprocess_exec", "create_subprocess_shell"}),
}
"""By module, the functions that start a process or replace this one."""

IN_A_CONTAINER = "runs alone in a container, with the standard library only"
REPLACED = "this process becomes the command"
TERMINAL = "the command uses the user's terminal"
EVENT_LOOP = "a child of an event loop, which keeps it running"

EXCEPTIONS = {
    "llmd_gke/manifests/host_group.py": IN_A_CONTAINER,
    "localcloud/binaries/packaged.py": "output and errors in one stream, in their order",
    "localcloud/bootstrap.py": "runs before any package of this project can be imported",
    "localcloud/cluster/cli.py": TERMINAL,
    "localcloud/cluster/lifecycle.py": "the command's progress goes to the terminal",
    "localcloud/cluster/start.py": "the supervisor outlives this process",
    "localcloud/cluster/supervisor.py": "process 1 of the namespaces reaps all processes by itself",
    "localcloud/gke_gateway/envoy/process.py": EVENT_LOOP,
    "localcloud/go_builds/go_process.py": "compilers inherit the builder's lock, and output ends with a tick a second",
    "localcloud/google_api/plugin.py": "the plugin inherits the pipes of the engine",
    "localcloud/linux_namespaces/enter.py": "starts alone, quickly, and passes every signal on once",
    "localcloud/linux_namespaces/inside.py": REPLACED,
    "localcloud/monitoring/children.py": EVENT_LOOP,
    "localcloud/nodes/entrypoints/endpoint_picker.py": IN_A_CONTAINER,
    "localcloud/nodes/entrypoints/ray.py": IN_A_CONTAINER,
    "localcloud/nodes/entrypoints/redis.py": IN_A_CONTAINER,
    "localcloud/nodes/entrypoints/vllm.py": IN_A_CONTAINER,
    "localcloud/nodes/launcher.py": "starts containers, alone, with the standard library only",
    "localcloud/nodes/runtime.py": EVENT_LOOP,
    "localcloud/nodes/sandbox.py": EVENT_LOOP,
    "localcloud/providers/google/generate_traits.py": "a generator for maintainers, which may fail with a traceback",
    "localcloud/providers/google/published.py": "a server, whose port is read from its first line of output",
    "localcloud/workflow/commands.py": "the command's errors go to the terminal, and Ctrl-C does not reach it",
    "localcloud/workflow/runner.py": "the engine owns the terminal and its signals",
    "localcloud/workflow/shell.py": TERMINAL,
    "localcloud/workflow/wrapper.py": REPLACED,
    "operations/ask/kubectl.py": "a forwarded port stays open while requests are sent",
    "operations/bench/load.py": "lines of two pipes, and workers in the same session are stopped, too",
    "operations/comment/base.py": "an archive is bytes, not text",
    "operations/enter_localcloud.py": REPLACED,
}
"""Files that start processes themselves, and why the runner does not fit."""


def starts(source: str) -> Iterator[str]:
    """The functions in a source text that start processes, such as ``subprocess.run``."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in STARTING.get(node.value.id, ())
        ):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in STARTING:
            yield from (f"{node.module}.{one.name}" for one in node.names if one.name in STARTING[node.module])


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['ls'])",
        "start = os.execv",
        "from subprocess import Popen",
        "asyncio.create_subprocess_exec('ls')",
    ],
)
def test_a_started_process_is_noticed(source: str) -> None:
    assert len(list(starts(source))) == 1


def test_processes_are_started_by_one_module_and_by_exceptions_with_a_reason() -> None:
    sources = {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
    }
    starting = {name for name, source in sources.items() if any(starts(source))}
    assert RUNNER in starting
    assert starting - {RUNNER} == set(EXCEPTIONS)


def test_the_runner_returns_status_output_and_errors() -> None:
    from localcloud.common import child_process

    done = child_process.run(
        ["sh", "-c", "cat; echo bad >&2; exit 3"], stdin="given", environment={"PATH": "/usr/bin:/bin"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "given", "bad\n")
