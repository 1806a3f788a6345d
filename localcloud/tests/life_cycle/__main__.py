"""Life cycles under random faults: ``python -m localcloud.tests.life_cycle --seeds 5``.

Without ``--seed``, the first seed is drawn and printed.

Every seed is played in a project of its own: about a minute each, half of which is waiting, so that ``--jobs 2`` plays
two at a time on two cores. ``--seed N`` plays one again, ``--plan '[…]'`` a plan as it is printed. Needs the Google
provider: ``python -m localcloud programs pulumi-resource-gcp``.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from localcloud.binaries import resolve
from localcloud.binaries.table import GOOGLE_PROVIDER
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve as engine_resolve
from localcloud.tests.life_cycle.machine import Machine, Outcome
from localcloud.tests.life_cycle.settings_changes import STACK
from localcloud.tests.life_cycle.steps import Step, as_text, from_text, plan_of

RESULTS = Path(".cache/life-cycles.jsonl")
"""One line for each seed that was played."""


@dataclass
class Result:
    """What came of a seed."""

    seed: int
    plan: str
    steps: int
    seconds: float
    wrong: list[str]
    by_hand: int = 0
    met: dict[str, int] = field(default_factory=dict[str, int])


def played(plan: list[Step], folder: Path, stack: str = STACK) -> Outcome:
    """One life cycle. An error of the test itself is a failure, too."""
    machine = Machine(folder, stack)
    try:
        machine.prepare()
        return machine.play(plan)
    except Exception:
        machine.outcome.wrong.append(traceback.format_exc())
        return machine.outcome
    finally:
        machine.rehearsal.stop_everything()


def of_seed(number: int, plan: list[Step], stack: str) -> Result:
    """Plays a seed; its folder stays where something was wrong."""
    folder = Path(tempfile.mkdtemp(prefix=f"life-cycle-{number}-"))
    started = time.monotonic()
    outcome = played(plan, folder, stack)
    if outcome.wrong:
        print(f"  its folder: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print("  " + "; ".join(outcome.log))
    return Result(
        seed=number,
        plan=as_text(plan),
        steps=outcome.steps,
        seconds=round(time.monotonic() - started, 1),
        wrong=outcome.wrong,
        by_hand=outcome.by_hand,
        met=dict(outcome.met),
    )


def summary(results: list[Result]) -> str:
    """Seeds, steps, faults met, failures."""
    met = sum((Counter(one.met) for one in results), Counter[str]())
    failed = [one.seed for one in results if one.wrong]
    return (
        f"{len(results)} seeds, {sum(one.steps for one in results)} commands, "
        f"{sum(one.seconds for one in results):.0f} s\n"
        f"faults met: {', '.join(f'{name} {count}' for name, count in sorted(met.items())) or 'none'}\n"
        f"objects of lost answers deleted by hand: {sum(one.by_hand for one in results)}\n"
        f"failed: {', '.join(map(str, failed)) or 'none'}"
    )


def side_by_side(numbers: Sequence[int], jobs: int, file: Path, more: Sequence[str]) -> list[Result]:
    """Plays each seed in a process of its own, ``jobs`` at a time, and prints what each said when it has ended.

    The processes add their results to ``file``; what has no line there, because its process was killed, is a failure.
    """
    running: list[subprocess.Popen[str]] = []

    def play(number: int) -> str:
        command = [
            sys.executable,
            "-m",
            "localcloud.tests.life_cycle",
            "--seed",
            str(number),
            "--results",
            str(file),
            *more,
        ]
        # In a session of its own, Ctrl-C does not reach it a second time.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        running.append(process)
        return process.communicate()[0]

    before = len(_results(file))
    pool = ThreadPoolExecutor(jobs)
    try:
        for output in pool.map(play, numbers):
            print(output, end="", flush=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        pool.shutdown()
    played = {one.seed: one for one in _results(file)[before:]}
    lost = "its process ended without a result"
    return [played.get(number) or Result(number, "", 0, 0, [lost]) for number in numbers]


def main() -> int:
    """Plays, and says what came of it. Status 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--seed", type=int, help="the first one; without it, one is drawn")
    parser.add_argument("--stack", default=STACK, help="the shipped stack that lives (gpu: on GPUs, with a front door)")
    parser.add_argument("--plan", help="a plan as JSON, in place of a seed's")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file that a line for each seed is added to")
    parser.add_argument("--resume", action="store_true", help="leave out seeds that have passed, by that file")
    parser.add_argument("--jobs", type=int, default=1, help="how many seeds are played at a time")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what a seed has started ends with it
    if resolve.ready(GOOGLE_PROVIDER, cache_folder()) is None or engine_resolve.ready(cache_folder()) is None:
        print(
            f"{GOOGLE_PROVIDER} or the engine is not built. Fix: {resolve.COMMAND} {GOOGLE_PROVIDER}", file=sys.stderr
        )
        return 2
    first: int = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    passed = _passed(options.results) if options.resume else set[int]()
    numbers = [number for number in range(first, first + options.seeds) if number not in passed]
    results: list[Result] = []
    if options.jobs > 1 and len(numbers) > 1 and not options.plan:
        results = side_by_side(numbers, options.jobs, options.results, ["--stack", options.stack])
        numbers = []
    for number in numbers:
        plan = from_text(options.plan) if options.plan else plan_of(number)
        print(f"seed {number}: {as_text(plan)}", flush=True)
        result = of_seed(number, plan, options.stack)
        results.append(result)
        options.results.parent.mkdir(parents=True, exist_ok=True)
        with options.results.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        for sentence in result.wrong:
            print(f"  WRONG: {sentence}")
        if result.wrong:
            print(f"  again: python -m localcloud.tests.life_cycle --stack {options.stack} --seed {number}", flush=True)
    print(summary(results))
    return 1 if any(one.wrong for one in results) else 0


def _results(file: Path) -> list[Result]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [Result(**one) for one in map(json.loads, lines)]


def _passed(file: Path) -> set[int]:
    last = {one.seed: one.wrong for one in _results(file)}
    return {number for number, wrong in last.items() if not wrong}


if __name__ == "__main__":
    sys.exit(main())
