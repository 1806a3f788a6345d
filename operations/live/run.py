"""The steps of an acceptance run. The stack is destroyed at the end in any case."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from operations.exits import NotUp, Problem
from operations.live import engine, engine_events, leftovers, local_steps
from operations.live.destroying import destroy
from operations.live.evidence import Evidence, Step
from operations.live.sections import MARK
from operations.options import Cloud
from operations.smoke.outcome import Verdict
from operations.target import Target

if TYPE_CHECKING:
    from operations.bench.result import BenchResult

Say = Callable[[str], None]

UP_SECONDS = 90 * 60
UNLOCK_SECONDS = 2 * 60


@dataclass(frozen=True)
class Plan:
    """``folder`` for logs and results. ``bench_seconds`` of each level, 0 for no benchmark."""

    folder: Path
    bench_seconds: float = 20
    bench_most: int = 64


class Run:
    """One run. :meth:`all` leaves a stack behind only if the destroy fails, and then reports it."""

    def __init__(self, target: Target, plan: Plan, say: Say) -> None:
        self.seen = Evidence(target.stack, target.cloud.value, target.settings)
        self._target, self._plan, self._say = target, plan, say
        self._killed = False
        """Whether an engine may have been killed, which leaves its lock."""

    def all(self, wait: Callable[[], None] = lambda: None) -> Evidence:
        """Runs all steps. An interrupt counts as a failed step; the destroy runs in any case.

        Before it begins, ``wait`` is called, after which nothing must interrupt.
        """
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
            wait()
        except KeyboardInterrupt:
            self._killed = True  # an engine that did not stop in time
            self.seen.steps.append(Step("interrupted", "failed", "stopped by a signal; the stack was still destroyed"))
        finally:
            wait()
            self._step("destroy", self._destroy)
        return self.seen

    def _step(self, name: str, work: Callable[[], tuple[Verdict, str]]) -> bool:
        started = time.monotonic()
        self._say(name)
        try:
            verdict, text = work()
        except Problem as problem:
            verdict, text = ("skipped" if isinstance(problem, NotUp) else "failed"), str(problem)
        except KeyboardInterrupt:
            self.seen.steps.append(Step(name, "failed", "interrupted", time.monotonic() - started))
            raise
        except Exception as error:  # the destroy must follow any failure
            verdict, text = "failed", f"{type(error).__name__}: {error}"
        self.seen.steps.append(Step(name, verdict, text, round(time.monotonic() - started, 1)))
        return verdict != "failed"

    def _up(self) -> tuple[Verdict, str]:
        log = self._plan.folder / "up.log"
        with TemporaryDirectory() as folder:  # the events contain inputs: the file is deleted once it is read
            events = Path(folder) / "events.jsonl"
            command = engine.up(self._target, events)
            status = engine.run(command, self._target, log, UP_SECONDS, lambda line: self._say(f"up: {line}"))
            self._killed = engine.was_killed(status)
            self.seen.created = engine_events.created(events)
        return (
            ("passed", "every resource was created") if status == 0 else ("failed", f"status {status}, see {log.name}")
        )

    def _unchanged(self) -> tuple[Verdict, str]:
        log = self._plan.folder / "second-up.log"
        status = engine.run(
            engine.unchanged(self._target), self._target, log, 900, lambda line: self._say(f"second up: {line}")
        )
        self.seen.unchanged = engine.was_unchanged(self._target, status)
        return ("passed", "nothing to change") if self.seen.unchanged else ("failed", f"changes, see {log.name}")

    def _status(self) -> tuple[Verdict, str]:
        if self._target.cloud is Cloud.REHEARSAL:
            return "skipped", "the rehearsal has no Kubernetes API"
        if self._target.cloud is Cloud.LAPTOP:
            self.seen.status = local_steps.status(self._target, self._say)
        else:
            from operations.status.snapshots import evidence

            self.seen.status, self.seen.snapshot = evidence(self._target)
        state = str(self.seen.status["state"])
        return ("failed" if state == "bad" else "passed"), f"overall status: {state}"

    def _smoke(self) -> tuple[Verdict, str]:
        junit = self._plan.folder / "smoke.xml"
        if self._target.cloud is Cloud.LAPTOP:
            self.seen.smoke = local_steps.smoke(self._target, junit, self._say)
        else:
            from operations.smoke import report
            from operations.smoke.command import look

            outcomes = look(self._target)
            self.seen.smoke = {f"{outcome.model}: {outcome.name}": outcome.verdict for outcome in outcomes}
            junit.write_bytes(report.junit(self._target.stack, outcomes))
        counts = Counter(self.seen.smoke.values())
        summary = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        return ("failed" if counts["failed"] else "passed"), summary

    def _bench(self) -> tuple[Verdict, str]:
        if not self._plan.bench_seconds:
            return "skipped", "not requested"
        # Only the first served model: this is a short check, not a comparison of models.
        model = next(one.name for one in self._target.settings.models if not one.stopped)
        result = self.seen.bench = self._measured(model, self._plan.folder / "bench")
        best = result.best("random")
        mark = f" ({MARK}: {result.mark})" if result.mark else ""
        return "passed", f"{best.output_tokens_per_second:,.0f} output tokens/s at best{mark}" if best else "no level"

    def _measured(self, model: str, folder: Path) -> BenchResult:
        seconds, most = self._plan.bench_seconds, self._plan.bench_most
        if self._target.cloud is Cloud.LAPTOP:
            return local_steps.bench(self._target, model, folder, self._say, seconds=seconds, most=most)
        from operations.bench.command import take
        from operations.bench.load import Load
        from operations.bench.workload import Workload

        load = Load([Workload("random"), Workload("shared")], seconds, most=most)
        return take(self._target, load, model=model, folder=folder)[0]

    def _destroy(self) -> tuple[Verdict, str]:
        log = self._plan.folder / "destroy.log"
        command = engine.down(self._target)
        outcome = destroy(self._target, log, self._say)
        if not outcome.complete and not outcome.in_use:
            unlock = engine.cancel(self._target)
            if unlock and (self._killed or engine.was_killed(outcome.status)):
                self._say("removing the lock of the engine that was killed")
                engine.run(unlock, self._target, log, UNLOCK_SECONDS, lambda line: self._say(f"cancel: {line}"))
            self._say("destroy failed, trying once more")
            outcome = destroy(self._target, log, self._say)
        if not outcome.complete:
            still = "STILL EXISTS, AND IS BILLED" if self._target.cloud is Cloud.GOOGLE else "STILL THERE"
            return "failed", f"{still}: {outcome.text}, see {log.name}. Do: {' '.join(command)}"
        if self._target.cloud is Cloud.GOOGLE:  # elsewhere `make down` checks that itself, and deletes the cloud
            self.seen.left = leftovers.look(self._target.settings)
        return ("failed", f"left behind: {self.seen.left}") if self.seen.left else ("passed", "nothing is left")
