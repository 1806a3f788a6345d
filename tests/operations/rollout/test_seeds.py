"""Over fifty drawn rollouts: a bad version is stopped within two steps, and a good one never.

Real are the decision at each step, what ``status`` says of alerts, their expressions in a Prometheus, the smoke test,
and how the benchmark's numbers are judged. Drawn are requests: what servers have counted of them in a rollout that
nobody stops, their times under the benchmark, and the name in answers. Imitated are updates, and the load generator.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from random import Random
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from llmd_common.problems import SetUpFailed
from llmd_gke.catalog.metrics import Server
from llmd_gke.settings import StackSettings, parse
from localcloud import binaries
from operations.bench.result import Level
from operations.exits import Failed
from operations.live.calls import Done
from operations.options import Cloud, Output
from operations.outputs import Endpoint
from operations.prometheus.client import connected
from operations.rollout import checks, run
from operations.rollout.checks import Check
from operations.rollout.plan import Plan
from operations.smoke.client import Options
from operations.smoke.run import smoke
from operations.stack_change import StackChange
from operations.status import alerts
from tests.fakes.vllm import Behaviour, serving
from tests.llmd_gke.manifests.alerts.series import FIRST_TOKEN
from tests.real_engine.harness import until

SEEDS = 50
PERCENTS, EVERY = (10, 50, 100), 300
BEFORE, LENGTH = 10, 60
"""Minutes until the first step, and of the series: an alert that has begun may be awaited."""
BEGIN = 1_790_000_000 // 7200 * 7200
"""Seconds since 1970 of the series' beginning."""
OBJECTIVE = 5.0
"""Seconds to the first token that one request in twenty may exceed."""


@dataclass(frozen=True)
class Drawn:
    """A version of a model in a rollout of its own, bad in one way or, ``how`` empty, in none."""

    seed: int
    how: str
    checks: Sequence[Check]
    failing: float = 0
    """Part of the requests that end with status 500."""
    before_fails: float = 0
    """The same of the version before."""
    slower: float = 1
    """Times that the first token takes, of those of the version before."""
    answers_as: str = "qwen-v2"

    @property
    def cluster(self) -> str:
        return f"seed-{self.seed}-{self.how.split()[0] if self.how else 'good'}"

    @cached_property
    def settings(self) -> StackSettings:
        """Of a stack of its own, so that one Prometheus has the series of all."""
        model = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "replicas": 1}
        pool = {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9}
        config = {
            "gcp:project": "my-project",
            "llmd-gke:cluster": {"name": self.cluster, "zone": "us-east5-b", "deletionProtection": False},
            "llmd-gke:pools": [pool],
            "llmd-gke:models": [{**model, "versions": [{"name": "v1"}, {"name": "v2"}]}],
        }
        return parse(config, "any").settings


def pair(seed: int) -> tuple[Drawn, Drawn]:
    """A bad version, and a good one that is checked in the same way."""
    draw = Random(seed)
    bad = (
        Drawn(seed, "errors", [Check.ALERTS], failing=draw.uniform(0.2, 0.8)),
        Drawn(seed, "slow first token", [Check.ALERTS], slower=draw.uniform(6, 20)),
        Drawn(seed, "slow under load", [Check.BENCH], slower=draw.uniform(2, 5)),
        Drawn(seed, "wrong model", [Check.SMOKE], answers_as=draw.choice(["qwen", "qwen-v3", "Qwen/Qwen3-4B"])),
    )[seed % 4]
    fine = Drawn(seed, "", bad.checks, draw.uniform(0, 0.002), before_fails=bad.failing, slower=draw.uniform(0.8, 1.2))
    return bad, fine


PAIRS = [pair(seed) for seed in range(SEEDS)]


def first_tokens(drawn: Drawn, draw: Random, version: str, count: int) -> list[float]:
    """Seconds to the first token; of the version before, one in twenty takes 0.2 to 0.5 of the objective."""
    ninety_five = OBJECTIVE * (0.2 + 0.3 * (drawn.seed % 7) / 6) * (drawn.slower if version == "qwen-v2" else 1)
    return [draw.lognormvariate(math.log(ninety_five) - 1.645 * 0.4, 0.4) for _ in range(count)]


def series(drawn: Drawn) -> Iterator[str]:
    """What the servers have counted, minute by minute, as Prometheus takes it."""
    draw = Random(f"{drawn.cluster}")
    a_minute = draw.uniform(60, 200)
    for version in ("qwen", "qwen-v2"):
        ok, failed, buckets = 0, 0, dict.fromkeys(FIRST_TOKEN, 0)
        labels = f'cluster="{drawn.cluster}",namespace="models",model="{version}",pod="{version}-kserve-1"'
        for minute in range(LENGTH):
            step = (minute - BEFORE) * 60 // EVERY
            percent = 0 if step < 0 else PERCENTS[min(step, len(PERCENTS) - 1)]
            count = round(a_minute * (percent if version == "qwen-v2" else 100 - percent) / 100)
            failing = drawn.failing if version == "qwen-v2" else drawn.before_fails
            bad = sum(draw.random() < failing for _ in range(count))
            ok, failed = ok + count - bad, failed + bad
            for seconds in first_tokens(drawn, draw, version, count - bad):
                for bound in FIRST_TOKEN:
                    buckets[bound] += seconds <= float(bound)
            at = BEGIN + 60 * minute
            yield f'{Server.HTTP_REQUESTS}{{{labels},status="2xx"}} {ok} {at}'
            yield f'{Server.HTTP_REQUESTS}{{{labels},status="5xx"}} {failed} {at}'
            for bound, value in buckets.items():
                yield f'{Server.FIRST_TOKEN_SECONDS}_bucket{{{labels},le="{bound}"}} {value} {at}'


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one that has the series of every rollout."""
    try:
        program, promtool = binaries.path("prometheus"), binaries.path("promtool")
    except SetUpFailed as problem:
        pytest.skip(str(problem))
    folder = tmp_path_factory.mktemp("prometheus")
    watched = [one for both in PAIRS for one in both if Check.ALERTS in one.checks]
    (folder / "series").write_text("".join(f"{line}\n" for one in watched for line in series(one)) + "# EOF\n")
    (folder / "configuration").touch()
    made = [promtool, "tsdb", "create-blocks-from", "openmetrics", folder / "series", folder / "data"]
    subprocess.run(made, check=True, capture_output=True, timeout=120)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [
            program,
            f"--config.file={folder / 'configuration'}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address={address}",
            "--log.level=error",
        ]
    )
    try:
        until(lambda: answers(f"http://{address}/-/ready"), "Prometheus")
        yield f"http://{address}/api/v1/"
    finally:
        process.terminate()
        process.wait(30)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@dataclass
class Rollout:
    """A rollout of one version: its steps, and its clock, which waits advance. It is called in place of commands."""

    drawn: Drawn
    prometheus: str
    seconds: float = BEGIN + 60 * BEFORE
    percents: list[int] = field(default_factory=list[int])
    name: str = "Pulumi.one.yaml"
    model: str = "qwen"
    again: str = "again"
    back: str = "back"
    target: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(stack="one", cloud=Cloud.GOOGLE))

    def written(self, edit: object, says: str) -> bytes:
        return says.encode()

    def write(self, content: bytes, *, yes: bool) -> None:
        self.percents.append(int(content.partition(b"percent: ")[2].partition(b",")[0]))

    def update(self, says: str) -> None:
        pass

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        assert self.seconds < BEGIN + 60 * LENGTH, "an alert that has begun neither fires nor ends"

    def __call__(self, target: object, command: str, *words: str) -> Done:
        if command == "smoke":
            return self._smoke()
        if command == "bench":
            return Done(0, json.dumps({"levels": [LEVEL | self._level(words[1])]}), "")
        sections = [{"title": f"Model {one}", "lines": [READY]} for one in ("qwen", "qwen-v2")]
        held = asyncio.run(self._alerts()) if self.percents and Check.ALERTS in self.drawn.checks else []
        return Done(0, json.dumps({"sections": [*sections, {"title": "Alerts", "lines": held}]}), "")

    async def _alerts(self) -> list[dict[str, object]]:
        async with connected(self.prometheus) as client:
            return [asdict(one) for one in await alerts.lines(client, self.drawn.settings, self.seconds, Cloud.LAPTOP)]

    def _smoke(self) -> Done:
        names = ("qwen-v2", "publishers/models/models/qwen-v2")
        behaviour = Behaviour(names=names, answers_as=self.drawn.answers_as, max_model_len=256, seconds_a_token=1e-5)
        with serving(behaviour) as url:
            found = asyncio.run(smoke([Endpoint("qwen-v2", url, "qwen-v2", namespace="models")], "one", Options()))
        failed = [f"{one.name}: {one.detail}" for one in found if one.verdict == "failed"]
        return Done(int(bool(failed)), "\n".join(failed), "")

    def _level(self, version: str) -> dict[str, float]:
        """What four requests at once for twenty seconds come to, each with 128 tokens of 15 ms."""
        draw = Random(f"{self.drawn.cluster} {version} {self.percents}")
        left, firsts = checks.AT_ONCE * checks.SECONDS, list[float]()
        for first in first_tokens(self.drawn, draw, version, 100):
            firsts.append(first / 5)  # an idle server
            left -= firsts[-1] + 128 * 0.015
            if left < 0:
                break
        cuts = statistics.quantiles(firsts, n=20, method="inclusive")
        tokens = 128 * len(firsts) / checks.SECONDS
        return {"ttft_p50": cuts[9], "ttft_p95": cuts[18], "output_tokens_per_second": tokens}


LEVEL = {
    **dict.fromkeys((one.name for one in fields(Level)), 1),
    "workload": "random",
    "errors": 0,
    "cached_share": None,
    "turns": (),
}
READY = {"subject": "pod", "state": "good", "text": "ready for 2 min", "fix": ""}


def played(drawn: Drawn, prometheus: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The percents that a rollout of that version goes through; the last one is 0 where it was stopped."""
    made = Rollout(drawn, prometheus)
    monkeypatch.setattr(checks, "call", made)
    monkeypatch.setattr(checks, "up", lambda *_: None)
    for module in (checks, run):
        monkeypatch.setattr(module, "sleep", made.sleep)
    plan = Plan("v2", "v1", PERCENTS, "qwen-v2", "qwen")
    try:
        run.rollout(cast("StackChange", made), plan, every=EVERY, checks=drawn.checks, output=Output.JSON, yes=True)
    except Failed:
        assert made.percents[-1] == 0
    return made.percents


def test_a_bad_version_is_stopped_within_two_steps_and_a_good_one_never(
    prometheus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bad, fine in PAIRS:
        first, *others = played(bad, prometheus, monkeypatch)
        assert others in ([0], [PERCENTS[1], 0]), bad
        # An alert that has begun by the end of the first step is awaited there.
        assert others == [0] or Check.ALERTS not in bad.checks, (bad, first)
        assert played(fine, prometheus, monkeypatch) == [*PERCENTS], fine
