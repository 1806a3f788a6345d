"""The load generator is started and its last words are read; ``localcloud/tests/simulator`` measures with it."""

from __future__ import annotations

import pytest

from operations.bench import environment, load
from operations.bench.workload import Workload
from operations.exits import Failed
from operations.outputs import Endpoint
from tests.fakes import generator


def test_an_address_where_nothing_answers_ends_with_the_generators_last_words() -> None:
    assert environment.generator().startswith("guidellm=="), "by the pins"
    nowhere = Endpoint("qwen", "http://127.0.0.1:1/models/qwen", "qwen")
    amounts = load.Load([Workload("random")], seconds=2, warmup=0, most=1, timeout=5)
    with pytest.raises(Failed, match=r"The load generator exited with status 1: .*[Cc]onnect"):
        load.run(generator.python(), nowhere, amounts, lambda text: None)
