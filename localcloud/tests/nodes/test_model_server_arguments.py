from __future__ import annotations

import pytest
import yaml

from llmd_gke.catalog import versions
from localcloud.nodes.entrypoints import endpoint_picker
from localcloud.nodes.entrypoints.vllm import translate
from localcloud.nodes.images import ImageEntry, ImageTable, NoImage, repository_of

SERVED = ["--served-model-name", "qwen", "publishers/llm/models/qwen"]


def translated(*arguments: str, **environment: str) -> str:
    return " ".join(translate(["/mnt/models", *arguments], environment)[0])


def test_every_served_name_is_kept_and_the_first_is_the_model() -> None:
    text = translated(*SERVED, "--port", "8000")
    assert text.startswith("--model qwen ")
    assert " ".join(SERVED) in text
    assert "--port 8000" in text


def test_what_the_simulator_lacks_is_dropped_and_told() -> None:
    arguments, dropped = translate(
        [
            "/mnt/models", *SERVED, "--tensor-parallel-size", "4", "--enable-prefix-caching", "--dtype=bfloat16",
            "--port", "8000",
        ],
        {},
    )  # fmt: skip
    assert dropped == ["--tensor-parallel-size 4", "--enable-prefix-caching", "--dtype bfloat16"]
    assert not {"4", "bfloat16"} & set(arguments)


def test_the_models_own_limits_win() -> None:
    text = translated("--max-num-seqs", "8", "--max-model-len", "2048")
    assert "--max-num-seqs 8" in text
    assert "--max-num-seqs 256" not in text
    assert "--max-model-len 2048" in text


@pytest.mark.parametrize("length", [2048, 8192, 131072])
def test_what_the_simulator_sets_aside_stays_small(length: int) -> None:
    arguments = translated("--max-model-len", str(length)).split()
    waiting = int(arguments[arguments.index("--max-waiting-queue-length") + 1])
    # It sets 8 bytes aside for every token of every request; before, this was more than the machine had.
    assert (waiting + 256) * length * 8 < 400 << 20
    assert waiting >= 50


def test_further_arguments_come_from_the_environment_and_win() -> None:
    text = translated(LLMD_GKE_SIMULATOR_ARGS="--time-to-first-token 200ms --mode random")
    assert text.endswith("--time-to-first-token 200ms --mode random")
    assert "--mode echo" not in text


# -- the endpoint picker ---------------------------------------------------------------------------------------------


def picker_config(*scorers: str) -> str:
    """As KServe hands it over: YAML with sorted keys."""
    used = [{"pluginRef": name, "weight": 2} for name in scorers]
    declared = [{"type": name, "parameters": {"a": {"b": 1}}} for name in (*scorers, "max-score-picker")]
    return yaml.safe_dump({"plugins": declared, "schedulingProfiles": [{"name": "default", "plugins": used}]})


def test_scorers_that_only_llm_d_has_are_left_out_of_the_configuration() -> None:
    text, dropped = endpoint_picker.without(picker_config("no-hit-lru-scorer", "queue-scorer", "load-aware-scorer"))
    assert dropped == ["no-hit-lru-scorer", "load-aware-scorer"]
    assert yaml.safe_load(text) == yaml.safe_load(picker_config("queue-scorer"))


def test_an_unknown_plugin_is_left_for_the_picker_to_refuse() -> None:
    text, dropped = endpoint_picker.without(picker_config("qeue-scorer"))
    assert dropped == []
    assert "qeue-scorer" in text


# -- the image table ---------------------------------------------------------------------------------------------------


def table(tmp_path):
    return ImageTable(tmp_path, lambda name: tmp_path / name)


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("busybox", "busybox"),
        ("quay.io/a/b:v1", "quay.io/a/b"),
        ("localhost:5000/a/b", "localhost:5000/a/b"),
        ("localhost:5000/a/b:v1@sha256:00", "localhost:5000/a/b"),
    ],
)
def test_tag_and_digest_are_left_out(image: str, repository: str) -> None:
    assert repository_of(image) == repository


@pytest.mark.parametrize(
    ("image", "program"),
    [
        (versions.image("vllm-tpu"), "stand-in:vllm"),
        (versions.image("endpoint-picker"), "endpoint-picker"),
        ("quay.io/jetstack/cert-manager-controller:v1.21.2", "cert-manager"),
        ("quay.io/jetstack/cert-manager-startupapicheck:v1.21.2", "cert-manager"),
        ("registry.k8s.io/lws/lws:v0.9.0", "lws-manager"),
        ("kserve/llmisvc-controller:v0.20.0", "llmisvc-controller"),
        ("docker.io/kserve/llmisvc-controller:v0.20.0", "llmisvc-controller"),
        ("kserve/storage-initializer:v0.20.0", "stand-in:storage_initializer"),
    ],
)
def test_every_image_of_the_program_is_in_the_table(image: str, program: str, tmp_path) -> None:
    assert program in table(tmp_path).find(image).programs.values()


def test_an_image_that_is_not_there_names_the_table(tmp_path) -> None:
    with pytest.raises(NoImage, match=r'"example\.com/a:1".*example\.com/a.*images\.toml'):
        table(tmp_path).find("example.com/a:1")


def test_a_program_that_is_not_built_says_how_to(tmp_path) -> None:
    def absent(name: str):
        raise RuntimeError(f"build {name} so")

    entries = ImageTable(tmp_path, absent)
    entry = entries.find("registry.k8s.io/lws/lws:v0.9.0")
    with pytest.raises(NoImage, match="Program lws-manager is missing: build lws-manager so"):
        entries.sees(entry)


IMAGE = ImageEntry("r", ("/app/x", "run"), arguments=("controller",))


@pytest.mark.parametrize(
    ("command", "arguments", "runs"),
    [
        ([], [], ["/app/x", "controller", "run"]),
        ([], ["--a"], ["/app/x", "controller", "run", "--a"]),
        (["sh", "-c"], ["ls"], ["sh", "-c", "ls"]),
        (["/app/x"], ["--a"], ["/app/x", "controller", "--a"]),
    ],
)
def test_command_and_arguments(command: list[str], arguments: list[str], runs: list[str]) -> None:
    assert IMAGE.command(command, arguments) == runs
