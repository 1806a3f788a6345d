"""The table in docs/pools.md: ``python -m operations.timeline.example`` (run by ``make docs``).

The simulated time to the first token of the stack ``eu4a`` with each kind of capacity, and what ``earlyHosts``,
``weightsCache`` and ``compileCache`` change. The stack is moved to a zone that has every kind.
"""

from __future__ import annotations

import copy
import os
import sys
from typing import Any, NamedTuple, cast

from llmd_gke.repository import CLONE

STACK, ZONE = "eu4a", "us-east5-a"
KINDS: dict[str, dict[str, object]] = {
    "on-demand": {},
    "spot": {"capacity": "spot"},
    "reservation": {"capacity": "reservation", "reservation": {"name": "mine"}},
    "flex-start": {"capacity": "flex-start"},
}
COLUMNS = (
    "Capacity",
    "First token",
    "`earlyHosts: 1`",
    "Longest chain",
    "Ratio",
    "`earlyHosts` and `weightsCache`",
    "Longest chain",
    "Ratio",
    "Another replica",
    "`weightsCache`",
    "both caches",
)
WEIGHTS: dict[str, object] = {"weightsCache": "gs://some-project-weights"}
CACHES: dict[str, object] = {**WEIGHTS, "compileCache": "gs://some-project-cache/qwen"}


class TokenTimes(NamedTuple):
    """Seconds: to the first token, that it takes at least, and to the one of another replica."""

    first: float
    least: float
    another: float

    @property
    def ratio(self) -> float:
        """The time to the first token, as a multiple of the least."""
        return self.first / self.least


def times(pool: dict[str, object], model: dict[str, object]) -> TokenTimes:
    """The times of the stack with these changes to its pool and its model."""
    from llmd_gke.graph.recording import load
    from llmd_gke.settings import parse
    from llmd_gke.settings.load import read_config
    from operations.timeline import simulate

    config = copy.deepcopy(dict(read_config(CLONE, STACK)))
    cast("dict[str, Any]", config["llmd-gke:cluster"])["zone"] = ZONE
    pools = next(key for key in config if key.endswith(":pools"))
    cast("list[dict[str, Any]]", config[pools])[0].update(pool)
    cast("list[dict[str, Any]]", config["llmd-gke:models"])[0].update(model)
    graph, settings = load(CLONE, STACK, changes=config), parse(config, STACK).settings
    (served,) = settings.models
    return TokenTimes(
        simulate.simulate(graph, settings).first_token[served.name],
        simulate.seconds_without_platform(graph, settings, served),
        simulate.seconds_of_another_replica(served),
    )


def table() -> str:
    """The table, in Markdown."""
    from operations.timeline.simulate import clock

    lines = [f"| {' | '.join(COLUMNS)} |", f"|---{'|--:' * (len(COLUMNS) - 1)}|"]
    for kind, pool in KINDS.items():
        plain = times({**pool, "earlyHosts": 0}, {})
        early, copied = times({**pool, "earlyHosts": 1}, {}), times({**pool, "earlyHosts": 1}, WEIGHTS)
        cells = [
            clock(plain.first),
            *(cell for one in (early, copied) for cell in (clock(one.first), clock(one.least), f"{one.ratio:.2f}")),
            clock(plain.another),
            clock(copied.another),
            clock(times({**pool, "earlyHosts": 1}, CACHES).another),
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Prints the table; returns 0."""
    os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")
    print(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
