"""How far a pod has come, from its own status."""

from __future__ import annotations

from typing import Any

import pytest

from operations.status import stages
from operations.status.objects import State
from tests.operations.status.shapes import NOW, at, container, server

INIT = container("storage-initializer", ago=1)
WARM = container("warm-up", ago=2)
DONE = {"name": "storage-initializer", "ready": True, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}

ENGINE = """\
(EngineCore pid=88) INFO 11-26 11:24:02 [core.py:101] Initializing a V1 LLM engine (v0.27.0) with config: \
model='/mnt/models', compilation_config={'mode': 3, 'backend': 'openxla'}
(EngineCore pid=88) INFO 11-26 11:24:03 [compilation_manager.py:62] Enabling JAX compile cache.
(EngineCore pid=88) INFO 11-26 11:24:03 [compilation.py:329] Using torch.compile level 3"""
PRECOMPILES = (
    "(EngineCore pid=88) INFO 11-26 11:25:12 [compilation_manager.py:135] Precompile backbone --> {'num_tokens': 16}"
)
AFTERWARDS = "(EngineCore pid=88) INFO 11-26 11:29:40 [kv_cache_utils.py:1085] GPU KV cache size: 131,072 tokens"


@pytest.mark.parametrize(
    ("pod", "log", "stage"),
    [
        (server(scheduled=False), "", "node"),
        (server("p", container("main", waiting="ContainerCreating")), "", "image"),
        (
            server(
                "p", container("main", waiting="PodInitializing"), inits=(container("s", waiting="PodInitializing"),)
            ),
            "",
            "image",
        ),
        (server("p", container("main", waiting="PodInitializing"), inits=(INIT,)), "", "weights"),
        (server("p", container("main", waiting="PodInitializing"), inits=(DONE,)), "", "image"),
        (server("p", container("main"), WARM, inits=(DONE,)), "INFO Started server process [1]", "server"),
        (server("p", container("main"), WARM), ENGINE, "server"),
        (server("p", container("main"), WARM), f"{ENGINE}\n{PRECOMPILES}", "compile"),
        (server("p", container("main"), WARM), f"{ENGINE}\n{PRECOMPILES}\n{AFTERWARDS}", "compile"),
        (server("p", container("main"), WARM), f"{PRECOMPILES}\nINFO: Application startup complete.", "server"),
        (server("p", container("main", ready=True), WARM), "", "warm-up"),
        (server(ready=True), "", "ready"),
    ],
)
def test_each_stage_is_told_from_the_pods_own_status(pod: dict[str, Any], log: str, stage: str) -> None:
    assert stages.position(pod, log).stage.key == stage


def test_a_pod_that_is_going_is_neither_failing_nor_ready() -> None:
    pod = server(ready=True)
    pod["metadata"]["deletionTimestamp"] = at(-1)
    line = stages.line(pod, NOW)
    assert line.state is State.BUSY
    assert "finishing running requests" in line.text


USAGE = "usage: vllm serve\nvllm: error: unrecognized arguments: --rope-scaling {}\n"


def crashing(
    name: str, code: int, waiting: str = "CrashLoopBackOff", *, restarts: int = 1, **ended: object
) -> dict[str, Any]:
    last = {"terminated": {"exitCode": code, "reason": "Error", **ended}}
    return container(name, waiting=waiting, restartCount=restarts, lastState=last)


@pytest.mark.parametrize(
    ("status", "part", "command"),
    [
        (container("main", waiting="ImagePullBackOff"), "main: ImagePullBackOff", "kubectl -n models describe pod p"),
        (
            crashing("main", 2, restarts=4),
            "4 restarts; exited with status 2",
            "kubectl -n models logs p -c main --previous",
        ),
        (
            crashing("storage-initializer", 137, reason="OOMKilled"),
            "OOMKilled (status 137):  (the download of an `hf://` model",
            "kubectl -n models logs p -c storage-initializer --previous",
        ),
        (
            crashing("main", 1, message="TPU initialization failed: open(/dev/vfio/0): Operation not permitted"),
            "give that model `capabilities`, or `privileged`",
            "kubectl -n models logs p -c main --previous",
        ),
        (
            crashing("main", 2, "", restarts=2, startedAt=at(2), finishedAt=at(1), message=USAGE),
            "2 exits, the last with status 2: vllm: error: unrecognized arguments: --rope-scaling {} (the server",
            "kubectl -n models logs p -c main --previous",
        ),
    ],
)
def test_a_pod_that_fails_says_why_and_which_command_shows_more(
    status: dict[str, Any], part: str, command: str
) -> None:
    line = stages.line(server("p", status), NOW)
    assert line.state is State.BAD
    assert part in line.text
    assert line.fix == command


def test_an_expected_time_stands_beside_the_time_that_has_passed() -> None:
    line = stages.line(server("p", container("main", ago=4), WARM), NOW, PRECOMPILES)
    assert line.text == "5/7 XLA compiles for 4 min (usual: 3 to 7 min, 1 to 2 with a compile cache)"


def test_what_takes_longer_than_usual_says_so_and_where_to_look() -> None:
    line = stages.line(server("p", container("main", ago=40), WARM), NOW, PRECOMPILES)
    assert "for 40 min" in line.text
    assert "longer than usual" in line.text
    assert line.fix == "kubectl -n models describe pod p"


def test_a_picker_that_crashes_is_bad_and_one_that_starts_is_not() -> None:
    crashing = container("main", waiting="CrashLoopBackOff", lastState={"terminated": {"exitCode": 1}})
    assert stages.picker_position(server("p", crashing))[0] is State.BAD
    assert stages.picker_position(server("p", container("main")))[0] is State.BUSY
    assert stages.picker_position(server("p", container("main", ready=True)))[0] is State.GOOD
