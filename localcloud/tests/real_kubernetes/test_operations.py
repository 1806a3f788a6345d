"""The operator's commands on a laptop cloud: called outside, they enter it by themselves."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localcloud.cluster.chat import QUESTION
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.commands import called
from localcloud.tests.real_kubernetes.harness import Laptop
from operations.bench.result import LAPTOP
from operations.live import local_steps
from operations.options import Cloud
from operations.status.gather import KINDS
from operations.target import Target
from tests.fakes import generator
from tests.operations.status import record, shapes, structure


def test_the_first_up_ended_with_an_answer_of_the_model_to_a_chat(laptop: Laptop) -> None:
    url, served_name = models.endpoint(laptop)
    lines = laptop.first_up.splitlines()
    asked = lines.index(f"Question to {served_name} at {url}:")
    assert lines[asked + 1] == lines[asked + 3] == f"  {QUESTION}"
    assert re.fullmatch(r"Answer after \d+\.\d\d s \(the simulator .* repeats the question\):", lines[asked + 2])


def test_status_reads_the_cluster_with_the_programs_own_sign_in_from_any_folder(laptop: Laptop, tmp_path: Path) -> None:
    done = called(laptop, tmp_path, "status")
    assert done.returncode == 0, done.stdout + done.stderr
    # Nothing to complain of, but for what it shows when two seconds are over.
    assert set(done.stderr.splitlines()) <= {"reading the cluster of stack local ..."}
    assert done.stdout.count("Status of stack local") == 1
    assert "3 of 3 nodes ready" in done.stdout
    assert "a token in" in done.stdout


def test_smoke_finds_everything_that_a_client_relies_on(laptop: Laptop, tmp_path: Path) -> None:
    done = called(laptop, tmp_path, "smoke", "--output", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {check["name"]: check["verdict"] for check in json.loads(done.stdout)["checks"]}
    assert verdicts.pop("longer than 30 s") == "skipped", "the simulator is too quick for it"
    assert len(verdicts) == 9
    assert set(verdicts.values()) == {"passed"}, verdicts


def test_each_server_can_be_asked_past_the_gateway(laptop: Laptop, tmp_path: Path) -> None:
    done = called(laptop, tmp_path, "ask", "--output", "json", "Who are you?")
    assert done.returncode == 0, done.stdout + done.stderr
    pods = json.loads(done.stdout)["pods"]
    assert {row["pod"] for row in pods} == objects.names(models.ready_servers(laptop, 3))
    # The simulator repeats the question.
    assert {(row["ready"], row["status"], row["text"]) for row in pods} == {(True, 200, "Who are you?")}


def test_one_server_tells_its_metrics_which_the_gateway_does_not_pass_on(laptop: Laptop, tmp_path: Path) -> None:
    (pod, *_) = sorted(objects.names(models.ready_servers(laptop, 3)))
    done = called(laptop, tmp_path, "ask", "--pod", pod, "--path", "/metrics")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{pod} (Ready): 200" in done.stdout
    assert "vllm:num_requests_waiting" in done.stdout


def test_the_timeline_has_the_first_update_step_by_step_beside_what_was_expected(
    laptop: Laptop, tmp_path: Path
) -> None:
    done = called(laptop, tmp_path, "timeline", "--measured", "--output", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    first = json.loads(done.stdout)["measured"]
    steps = {step["name"]: step for step in first["steps"]}
    service = steps["qwen-service"]
    assert service["expected"] > 60, "a host, an image, weights"
    assert 0 < service["measured"] < first["serviceSeconds"]["qwen"] <= first["seconds"]
    assert service["ratio"] < 1, "none of these is large here"
    before = [step["measured"] for name, step in steps.items() if name != "qwen-service"]
    assert any(0 < seconds < first["serviceSeconds"]["qwen"] for seconds in before)


def test_where_no_laptop_cloud_runs_the_command_that_starts_one_is_named(laptop: Laptop, tmp_path: Path) -> None:
    other = Laptop(tmp_path)
    other.environ["LLMD_GKE_ROOT"] = str(laptop.root)
    done = called(other, tmp_path, "status")
    assert done.returncode == 7
    assert f"is not running.{os.linesep}Fix: make up CLOUD=laptop" in done.stderr


@pytest.fixture
def target(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> Target:
    """The stack as a command of ours sees it that runs outside."""
    for name, value in laptop.environment.items():
        monkeypatch.setenv(name, value)
    return Target("local", Cloud.LAPTOP, laptop.root)


def test_an_acceptance_run_gets_its_status_and_its_benchmark_from_inside(target: Target, tmp_path: Path) -> None:
    generator.python()
    lines: list[str] = []
    screen: Any = local_steps.status(target, lines.append)
    assert screen["state"] == "good"
    assert [section["title"] for section in screen["sections"]][:3] == ["Nodes", "Node pools of GKE", "Model qwen"]
    result = local_steps.bench(target, "qwen", tmp_path / "bench", lines.append, seconds=5, most=1)
    assert result.mark == LAPTOP
    assert {(level.workload, level.errors) for level in result.levels} == {("random", 0), ("shared", 0)}
    assert [level for level in result.levels if level.output_tokens_per_second <= 0] == []
    assert (tmp_path / "bench" / "throughput.svg").exists()
    assert any(line.startswith("bench: ") and "1 concurrent" in line for line in lines), lines


def real(laptop: objects.Asks) -> Callable[[str], list[Any]]:
    """The objects that status reads, by field of its snapshot."""

    def objects_of(kind: str) -> list[Any]:
        version, resource = next((version, resource) for name, version, resource, _ in KINDS if name == kind)
        group, _, number = version.rpartition("/")
        return objects.every(laptop, f"{resource}.{number}.{group}" if group else resource)

    return objects_of


def lacking(objects_of: Callable[[str], list[Any]]) -> dict[str, set[str]]:
    """Parts of shapes that no real object has, nor one that was recorded while it was there for a moment."""
    recorded = record.read()
    result: dict[str, set[str]] = {}
    for name, kind, example in shapes.EXAMPLES:
        ever, at_rest = structure.of(recorded.every[kind]), structure.of(getattr(recorded.snapshot, kind))
        # A container that was started once has no last state: nothing has to have failed here.
        of_a_moment = {path for path in ever if path not in at_rest or ".lastState." in path}
        not_at_rest = of_a_moment | shapes.NEVER_SEEN
        if wrong := structure.of([example]) - structure.of(objects_of(kind)) - not_at_rest:
            result[f"{name} as {kind}"] = wrong
    return result


def test_the_shapes_of_the_unit_tests_are_those_of_real_objects(laptop: Laptop) -> None:
    assert lacking(real(laptop)) == {}
