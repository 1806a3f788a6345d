from __future__ import annotations

import pytest

from localcloud.nodes.entrypoints.vllm import translate

SERVED = ["--served-model-name", "qwen", "publishers/llm/models/qwen"]


def translated(*arguments: str, **environment: str) -> str:
    return " ".join(translate(["/mnt/models", *arguments], environment)[0])


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
