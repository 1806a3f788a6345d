"""``python -m localcloud.tests.life_cycle.figures`` writes into ``docs/figures.md`` what the life cycles came to.

Counts the last result of each seed in the file that ``python -m localcloud.tests.life_cycle`` writes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.figures import LIFE_CYCLES, PAGE, machine
from localcloud.tests.life_cycle.__main__ import RESULTS
from localcloud.tests.life_cycle.counter_examples import COUNTER_EXAMPLES


def section(results: Iterable[dict[str, Any]], where: str, day: date, note: str = "") -> str:
    """The part of the page, from its heading on."""
    last = list({one["seed"]: one for one in results}.values())
    met = sum((Counter[str](one["met"]) for one in last), Counter[str]())
    failed = sorted(one["seed"] for one in last if one["wrong"])
    rows = {
        "seeds": len(last),
        "commands (`make up`, `pulumi refresh`, `make down`)": sum(one["steps"] for one in last),
        "hours": f"{sum(one['seconds'] for one in last) / 3600:.1f}",
        "faults and kills met": sum(met.values()),
        **{f"- {name}": count for name, count in sorted(met.items())},
        "objects that a lost answer left, deleted by hand": sum(one["by_hand"] for one in last),
        "seeds in which something was wrong when they were played": ", ".join(map(str, failed)) or "none",
        "defects found by them and fixed": len(COUNTER_EXAMPLES),
    }
    table = "".join(f"| {name} | {value} |\n" for name, value in rows.items())
    defects = "".join(f"| {name} | {one.defect} |\n" for name, one in COUNTER_EXAMPLES.items())
    return (
        f"{LIFE_CYCLES}\n\n"
        "Made by `python -m localcloud.tests.life_cycle.figures` from what `make test-faults` has played\n"
        "([what it does](../localcloud/docs/google-emulator.md#life-cycles-under-random-faults)).\n\n"
        f"Written {day.isoformat()} on {where}.\n\n"
        + (f"{note}\n\n" if note else "")
        + f"| Life cycles | |\n|---|---|\n{table}\n"
        f"| Plan that failed once | What was wrong |\n|---|---|\n{defects}"
    )


def main() -> None:
    """Replaces the part of the page, or adds it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=RESULTS)
    parser.add_argument("--note", default="", help="what a reader has to know of these results")
    options = parser.parse_args()
    file: Path = options.results
    results = [json.loads(line) for line in file.read_text().splitlines()]
    before = PAGE.read_text(encoding="utf-8").partition(LIFE_CYCLES)[0].rstrip()
    PAGE.write_text(f"{before}\n\n{section(results, machine(), date.today(), options.note)}", encoding="utf-8")


if __name__ == "__main__":
    main()
