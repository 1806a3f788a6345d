"""The steps of an acceptance run. Whatever happens, what was brought up is destroyed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from llmd_gke.laptop.paths import CLONE
from llmd_gke.operations import cli
from llmd_gke.operations.exits import NotUp, Problem, Refused, SetUpFailed
from llmd_gke.operations.live import engine, leftovers
from llmd_gke.operations.live.evidence import Evidence, Step, Verdict
from llmd_gke.operations.options import Cloud
from llmd_gke.operations.target import Target

Say = Callable[[str], None]

UP_SECONDS = 90 * 60
DOWN_SECONDS = 60 * 60


@dataclass(frozen=True)
class Plan:
    """``folder`` takes logs and results. ``bench_seconds`` of each level, 0 for no benchmark."""

    folder: Path
    bench_seconds: float = 20
    bench_most: int = 64


def check_free(target: Target) -> None:
    """Raises ``Refused`` for a stack that is up already, also in part: it would be destroyed at the end."""
    count = _resources(target)
    if count:
        raise Refused(
            f"Stack {target.stack} has {count} resources on {target.cloud.value}; an acceptance run would destroy them "
            f"at its end.\nFix: use a stack of its own (docs/stacks.md), or destroy this one first: "
            f"{' '.join(engine.down(target))}"
        )


def _resources(target: Target) -> int:
    if target.cloud is not Cloud.GOOGLE:
        from llmd_gke.laptop.rehearsal import state

        # Without a project folder of its own nothing was ever made there.
        found = state.read(target.places, target.stack) if (target.places.root / "Pulumi.yaml").exists() else None
        return len(found.urns) if found else 0
    try:
        done = subprocess.run(
            ["pulumi", "stack", "ls", "--json"],
            cwd=target.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError:
        raise SetUpFailed(
            "There is no `pulumi` on PATH.\nFix: https://www.pulumi.com/docs/install/; to rehearse: --cloud rehearsal"
        ) from None
    if done.returncode:
        raise SetUpFailed(f"Pulumi does not list its stacks: {done.stderr.strip()[:300]}\nFix: pulumi login")
    stacks = cast("Sequence[Mapping[str, object]]", json.loads(done.stdout))
    found_stack = next((one for one in stacks if str(one.get("name")).split("/")[-1] == target.stack), None)
    if found_stack is None:
        raise NotUp(f"Pulumi knows no stack {target.stack}.\nFix: pulumi stack init {target.stack}")
    return int(str(found_stack.get("resourceCount") or 0))


def check_destroyable(target: Target) -> None:
    """Raises ``Refused`` when the destroy at the end could not work."""
    if target.cloud is Cloud.GOOGLE and target.settings.cluster.deletion_protection:
        raise Refused(
            f"Pulumi.{target.stack}.yaml protects the cluster (cluster.deletionProtection), so that it could not be "
            "destroyed at the end.\nFix: use a stack with deletionProtection: false"
        )


def preflight(target: Target) -> Step:
    """``doctor``, where it exists and there is something to ask."""
    if "doctor" not in cli.COMMANDS:
        return Step("preflight", "skipped", "there is no doctor in this version")
    if target.cloud is not Cloud.GOOGLE:
        return Step("preflight", "skipped", f"nothing to ask: stack {target.stack} is on {target.cloud.value}")
    started = time.monotonic()
    # Named, since $CLOUD may name another one, of which doctor would find nothing to ask.
    wanted = ("--stack", target.stack, "--cloud", target.cloud.value, "--output", "json")
    done = _ourselves(target, "doctor", *wanted)
    took = time.monotonic() - started
    if done.returncode == 0:
        return Step("preflight", "passed", "doctor found nothing wrong", took)
    return Step("preflight", "failed", f"doctor: {_found(done.stdout) or done.stderr[-600:]}", took)


def _found(report: str) -> str:
    """What doctor's JSON says would stop the stack, each with its fix."""
    try:
        findings = cast("Sequence[Mapping[str, str]]", json.loads(report)["findings"])
    except (ValueError, KeyError):
        return ""
    return "; ".join(f"{o['check']}: {o['said']} (fix: {o['fix']})" for o in findings if o["verdict"] == "failed")


def _ourselves(target: Target, *words: str) -> subprocess.CompletedProcess[str]:
    """Another command of ours, by a process of its own. The project's folder may be another one than this package's."""
    return subprocess.run(
        [sys.executable, "-m", "llmd_gke.operations", *words],
        cwd=target.root,
        env=os.environ | {"PYTHONPATH": str(CLONE)},
        capture_output=True,
        text=True,
        check=False,
    )


class Run:
    """One run. :meth:`all` never leaves a stack behind, unless the destroy itself fails, and then says so."""

    def __init__(self, target: Target, plan: Plan, say: Say) -> None:
        self.seen = Evidence(target.stack, target.cloud.value, target.settings)
        self._target, self._plan, self._say = target, plan, say

    def all(self) -> Evidence:
        """Up, look, ask, measure, destroy. An interrupt is a failed step; the destroy comes all the same."""
        self._plan.folder.mkdir(parents=True, exist_ok=True)
        try:
            if self._step("up", self._up):
                for name, work in (
                    ("second up", self._unchanged),
                    ("status", self._status),
                    ("smoke", self._smoke),
                    ("bench", self._bench),
                ):
                    self._step(name, work)
        except KeyboardInterrupt:
            self.seen.steps.append(Step("interrupted", "failed", "stopped by Ctrl-C; destroyed all the same"))
        finally:
            restore = engine.interruptions_wait(self._say)
            try:
                self._step("destroy", self._destroy)
            finally:
                restore()
        return self.seen

    def _step(self, name: str, work: Callable[[], tuple[Verdict, str]]) -> bool:
        started = time.monotonic()
        self._say(name)
        try:
            verdict, words = work()
        except Problem as problem:
            verdict, words = ("skipped" if isinstance(problem, NotUp) else "failed"), str(problem)
        except KeyboardInterrupt:
            self.seen.steps.append(Step(name, "failed", "interrupted", time.monotonic() - started))
            raise
        except Exception as error:  # whatever it is, the destroy has to come
            verdict, words = "failed", f"{type(error).__name__}: {error}"
        self.seen.steps.append(Step(name, verdict, words, round(time.monotonic() - started, 1)))
        return verdict != "failed"

    def _up(self) -> tuple[Verdict, str]:
        log = self._plan.folder / "up.log"
        status = engine.run(
            engine.up(self._target), self._target, log, UP_SECONDS, lambda line: self._say(f"up: {line}")
        )
        self.seen.up_log = log.read_text(encoding="utf-8") if log.exists() else ""
        return ("passed", "every resource was made") if status == 0 else ("failed", f"status {status}, see {log.name}")

    def _unchanged(self) -> tuple[Verdict, str]:
        command = engine.unchanged(self._target)
        if command is None:
            return "skipped", f"on {self._target.cloud.value} the tests of the repository hold that"
        log = self._plan.folder / "second-up.log"
        self.seen.unchanged = engine.run(command, self._target, log, 900, self._say) == 0
        return ("passed", "nothing to change") if self.seen.unchanged else ("failed", f"changes, see {log.name}")

    def _status(self) -> tuple[Verdict, str]:
        if self._target.cloud is Cloud.REHEARSAL:
            return "skipped", "the rehearsal has no Kubernetes API"
        if self._target.cloud is Cloud.LAPTOP:
            return "skipped", f"it answers inside only: make status STACK={self._target.stack} CLOUD=laptop"
        from llmd_gke.operations.status.looks import evidence

        self.seen.status, self.seen.snapshot = evidence(self._target)
        state = str(self.seen.status["state"])
        return ("failed" if state == "bad" else "passed"), f"the screen adds up to: {state}"

    def _smoke(self) -> tuple[Verdict, str]:
        if self._target.cloud is Cloud.LAPTOP:
            return self._smoke_inside()
        from llmd_gke.operations.smoke import report
        from llmd_gke.operations.smoke.command import look

        outcomes = look(self._target)
        self.seen.smoke = {f"{outcome.model}: {outcome.name}": outcome.verdict for outcome in outcomes}
        (self._plan.folder / "smoke.xml").write_bytes(report.junit(self._target.stack, outcomes))
        counts = report.count(outcomes)
        words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        return ("failed" if counts["failed"] else "passed"), words

    def _smoke_inside(self) -> tuple[Verdict, str]:
        """The same by a process of its own, which enters the laptop cloud."""
        words = ["--cloud", "laptop", "--output", "json", "--junit", str(self._plan.folder.absolute() / "smoke.xml")]
        done = _ourselves(self._target, "smoke", "--stack", self._target.stack, *words)
        if not done.stdout.strip():
            return "failed", done.stderr.strip()[-600:]
        checks = cast("Sequence[Mapping[str, str]]", json.loads(done.stdout)["checks"])
        self.seen.smoke = {f"{one['model']}: {one['name']}": cast("Verdict", one["verdict"]) for one in checks}
        counts = Counter(one["verdict"] for one in checks)
        words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        return ("passed" if done.returncode == 0 else "failed"), words

    def _bench(self) -> tuple[Verdict, str]:
        if not self._plan.bench_seconds:
            return "skipped", "not asked for"
        if self._target.cloud is Cloud.LAPTOP:
            return "skipped", f"it answers inside only: make bench STACK={self._target.stack} CLOUD=laptop"
        from llmd_gke.operations.bench.command import take
        from llmd_gke.operations.bench.result import as_json
        from llmd_gke.operations.bench.workload import Workload

        # The first model that is served: a short look, not a comparison of models.
        model = next(one.name for one in self._target.settings.models if not one.stopped)
        result, _ = take(
            self._target,
            [Workload("random"), Workload("shared")],
            model=model,
            most=self._plan.bench_most,
            seconds=self._plan.bench_seconds,
            folder=self._plan.folder / "bench",
        )
        self.seen.bench = as_json(result)
        best = result.best("random")
        mark = f" ({result.mark})" if result.mark else ""
        return "passed", f"{best.output_tokens_per_second:,.0f} output tokens/s at best{mark}" if best else "no level"

    def _destroy(self) -> tuple[Verdict, str]:
        log = self._plan.folder / "destroy.log"
        command = engine.down(self._target)
        for again in (False, True):
            status = engine.run(command, self._target, log, DOWN_SECONDS, lambda line: self._say(f"destroy: {line}"))
            if status == 0:
                break
            self._say("destroy failed, once more" if not again else "destroy failed twice")
        if status:
            still = "STILL THERE, AND BILLED" if self._target.cloud is Cloud.GOOGLE else "STILL THERE"
            return "failed", f"{still}: status {status}, see {log.name}. Do: {' '.join(command)}"
        if self._target.cloud is Cloud.GOOGLE:
            self.seen.left = leftovers.look(self._target.settings)
        return ("failed", f"left behind: {self.seen.left}") if self.seen.left else ("passed", "nothing is left")
