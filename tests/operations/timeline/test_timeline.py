from __future__ import annotations

import json

import pytest

from llmd_gke.catalog import durations
from llmd_gke.settings import ScalingSettings, load_stack, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations.timeline.simulate import (
    Timeline,
    seconds_from_zero,
    seconds_of_another_replica,
    simulate,
)
from tests.graphs import load
from tests.operations.support import ROOT, run

pytestmark = pytest.mark.usefixtures("shared_recordings")


@pytest.fixture(scope="module")
def eu4a() -> dict[str, Timeline]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        graph, settings = load(ROOT, "eu4a"), load_stack(ROOT, "eu4a").settings
        return {
            "plain": simulate(graph, settings),
            "cached": simulate(graph, settings, {"compile": 20}),
            "slow cluster": simulate(graph, settings, {"Cluster": 900}),
        }


def test_the_first_token_comes_after_cluster_host_weights_and_compilation(eu4a: dict[str, Timeline]) -> None:
    timeline = eu4a["plain"]
    names = [step.name.rsplit("/", 1)[-1] for step in timeline.chain]
    for earlier, later in (("cluster-control-plane", "host"), ("host", "weights"), ("weights", "compile")):
        assert names.index(earlier) < names.index(later)
    slowest = durations.HOST_FROM_ZERO.seconds + durations.COMPILE_COLD.seconds
    assert timeline.first_token["qwen"] > slowest + 300
    assert timeline.first_token["qwen"] <= timeline.total


def test_another_replica_needs_neither_host_nor_image_and_a_filled_cache_shortens_its_compilation() -> None:
    model = load_stack(ROOT, "eu4a").settings.models[0]
    cold = seconds_of_another_replica(model)
    gigabytes = 66
    download = gigabytes / durations.DOWNLOAD_GB_PER_SECOND
    rest = durations.INITIALISE.seconds + durations.COMPILE_COLD.seconds + durations.WARM_UP.seconds
    assert cold == pytest.approx(download + rest, rel=0.01)
    cached = seconds_of_another_replica(model.model_copy(update={"compile_cache": "gs://my-project-cache/qwen"}))
    assert cold - cached == pytest.approx(durations.COMPILE_COLD.seconds - durations.COMPILE_CACHED.seconds)
    assert seconds_of_another_replica(model, {"weights": 0, "qwen-service/compile": 20}) == pytest.approx(60)


def test_without_servers_a_host_and_its_image_come_first_and_a_request_must_be_noticed() -> None:
    settings = load_stack(ROOT, "eu4a").settings
    idle = settings.models[0].model_copy(
        update={"max_replicas": 2, "scaling": ScalingSettings(idle_after_seconds=7200)}
    )
    scheduled = idle.model_copy(update={"scaling": None})
    more = durations.HOST_FROM_ZERO.seconds + durations.IMAGE.seconds
    assert seconds_from_zero(scheduled, settings) == pytest.approx(seconds_of_another_replica(idle) + more)
    assert seconds_from_zero(idle, settings) == pytest.approx(seconds_of_another_replica(idle) + more + 60)
    assert seconds_from_zero(idle, settings, {"host": 0}) == pytest.approx(
        seconds_of_another_replica(idle) + durations.IMAGE.seconds + 60
    )


def test_a_model_whose_pods_are_ready_first_waits_for_route_and_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    graph, settings = load(ROOT, "eu4a"), load_stack(ROOT, "eu4a").settings
    timeline = simulate(graph, settings, {"host": 0, "weights": 0, "compile": 0})
    steps = {step.name: step for step in timeline.steps}
    assert timeline.first_token["qwen"] == steps["qwen-service/policy"].end > steps["qwen-service/warm-up"].end
    names = [step.name for step in timeline.chain]
    assert names[-3:] == ["qwen-callers", "qwen-door", "qwen-service/policy"]
    assert "front-door-gateway" in names


def test_weights_are_copied_while_the_platform_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    model = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "weightsCache": "gs://my-weights"}
    changes = {"llmd-gke:models": [model]}
    settings = parse({**read_config(ROOT, "eu4a"), **changes}, "eu4a").settings
    timeline = simulate(load(ROOT, "eu4a", changes=changes), settings)
    steps = {step.name: step for step in timeline.steps}
    copy, controller = steps["qwen-weights-job"], steps["platform-kserve-llmisvc-resources"]
    assert copy.seconds == pytest.approx(8 / durations.DOWNLOAD_GB_PER_SECOND)
    assert copy.source == durations.DOWNLOAD_SOURCE
    assert copy.start < controller.end
    assert steps["qwen-service"].start >= copy.end
    read = steps["qwen-service/weights"]
    assert (read.seconds, read.source) == (pytest.approx(8 / (480 / 840)), durations.BUFFERED_SOURCE)


def test_weights_in_a_bucket_are_read_as_fast_as_was_measured_of_the_way_they_are_read() -> None:
    model = load_stack(ROOT, "eu4a").settings.models[0]
    rest = seconds_of_another_replica(model, {"weights": 0})
    bucket = model.model_copy(update={"weights_cache": "gs://my-weights"})
    cached = bucket.model_copy(update={"parallel_download": True})
    measured = [(seconds_of_another_replica(one) - rest) / 65.5 for one in (bucket, cached)]
    assert measured == pytest.approx([14 * 60 / 480, 97 / 16], rel=0.01)


def test_any_kind_of_resource_can_have_another_duration() -> None:
    done = run("timeline", "--stack", "eu4a", "--what-if", "Subnetwork=77", "--output", "json")
    assert done.returncode == 0, done.stderr
    steps = [step for step in json.loads(done.stdout)["steps"] if step["source"] == "what if"]
    assert steps
    assert {step["seconds"] for step in steps} == {77}


def test_the_command_prints_the_chain_and_data() -> None:
    done = run("timeline", "--stack", "eu4a")
    assert done.returncode == 0, done.stderr
    assert "qwen: first token after " in done.stdout
    data = json.loads(run("timeline", "--stack", "eu4a", "--output", "json").stdout)
    assert data["firstTokenSeconds"]["qwen"] <= data["seconds"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--what-if Clutser=3", "Fix: use Cluster"),
        ("--what-if nonsense=3", "--what-if"),
        ("--what-if compile", "--what-if"),
        ("--what-if compile=fast", "--what-if"),
        ("--what-if =3", "--what-if"),
        ("--measured --format gantt", "--format gantt cannot be combined with --measured"),
    ],
)
def test_a_wrong_call_is_named(arguments: str, said: str) -> None:
    done = run("timeline", "--stack", "eu4a", *arguments.split())
    assert done.returncode == 2
    assert said in done.stderr
