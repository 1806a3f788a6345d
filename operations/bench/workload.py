"""Prompts: some share a long prefix, others share nothing, and some continue a conversation. It uses only
the standard library, because the load generator imports it.

A prefix cache works in blocks of tokens (vLLM: 16 and more; on TPU 64 to 128 were seen): a prompt shorter than a block
never hits. So prompts are several blocks long. Their length is counted in words, because that needs no tokenizer; the
words are common ones, about one token each, and the server reports the number of tokens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["random", "shared", "agentic"]

_VOCABULARY_TEXT = """
time year people way day man thing woman life child world school state family student group country problem hand part
place case week company system program question work government number night point home water room mother area money
story fact month lot right study book eye job word business issue side kind head house service friend father power hour
game line end member law car city name president team minute idea body information back parent face level office door
health person art war history party result change morning reason research girl guy moment air teacher force education
"""
VOCABULARY = tuple(_VOCABULARY_TEXT.split())


@dataclass(frozen=True)
class Workload:
    """``prompt_tokens`` of a whole prompt; ``prefix_tokens`` of them are shared by the prompts of one of ``groups``.

    ``turns`` of an agent's session: each sends the history with as many new tokens as the first turn had after its
    prefix, ``pause`` seconds after the answer, as if a tool had run.
    """

    kind: Kind
    prompt_tokens: int = 1152
    prefix_tokens: int = 1024
    output_tokens: int = 128
    groups: int = 8
    turns: int = 10
    pause: float = 1.0


def conversations(workload: Workload, seed: str) -> Iterator[list[str]]:
    """Generates what a client says in each turn: one prompt, or instructions and then the results of tools."""
    own = random.Random(f"{seed} turns")  # noqa: S311 - load, not secrets
    rest = workload.prompt_tokens - workload.prefix_tokens
    further = workload.turns - 1 if workload.kind == "agentic" else 0
    for prompt in prompts(workload, seed):
        yield [prompt, *(_random_text(own, rest) for _ in range(further))]


def prompts(workload: Workload, seed: str) -> Iterator[str]:
    """Generates prompts without end. Prompts of different ``seed`` share nothing, so that caches of an earlier run do
    not help.

    Shared prefixes depend on the first word of the seed only: the levels of one run share them.
    """
    own = random.Random(seed)  # noqa: S311 - load, not secrets
    of_run = random.Random(seed.split()[0])  # noqa: S311
    prefixes = [_random_text(of_run, workload.prefix_tokens) for _ in range(workload.groups)]
    rest = workload.prompt_tokens - workload.prefix_tokens
    while True:
        if workload.kind == "random":
            yield _random_text(own, workload.prompt_tokens)
        else:
            yield f"{own.choice(prefixes)} {_random_text(own, rest)}"


def _random_text(source: random.Random, count: int) -> str:
    return " ".join(source.choices(VOCABULARY, k=count))
