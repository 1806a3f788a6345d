"""What a change of a stack's settings does, by the published provider's own plans: the table of docs/stacks.md.

``python -m localcloud.tests.published_provider.stack_changes`` writes it there, in about three minutes; a test compares
it. Needs the plugin: ``python -m localcloud programs pulumi-resource-gcp``.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmd_gke.repository import CLONE
from localcloud.tests.life_cycle.settings_changes import (
    Config,
    in_cluster,
    in_model,
    in_pool,
    pool,
    second_model,
    second_pool,
)
from tests.real_engine.harness import Rehearsal

PAGE = CLONE / "docs/stacks.md"
MARK = "<!-- made by `python -m localcloud.tests.published_provider.stack_changes` -->"
_TABLE = re.compile(re.escape(MARK) + r"\n\n((?:\|[^\n]*\n)+)")
STACK = "dev"
Event = dict[str, Any]
Change = Callable[[Config], None]
MOST_NAMES = 4


def base(config: Config) -> None:
    """The stack before each change: room for a replica more."""
    pool(config).update(maxNodes=4)


def _network(**over: object) -> Change:
    return lambda config: config.setdefault("llmd-gke:network", {}).update(over)


def _external(config: Config) -> None:
    config.setdefault("llmd-gke:gateway", {}).update(exposure="external", allowPlainHttp=True, open=True)


CHANGES: dict[str, Change] = {
    "none": lambda config: None,
    "a second entry in `models`": second_model,
    "`models[].replicas`": in_model(replicas=2),
    "`models[].maxModelLen`": in_model(maxModelLen=2048),
    "a second entry in `pools`": second_pool,
    "`pools[].maxNodes`": in_pool(maxNodes=5),
    "`pools[].machineType` and `topology`": in_pool(machineType="ct6e-standard-4t", topology="2x2"),
    "`pools[].capacity`": in_pool(capacity="on-demand"),
    "`network.nodes`, larger": _network(nodes="10.0.0.0/19"),
    "`network.nodes`, smaller": _network(nodes="10.0.0.0/21"),
    "`network.pods` or `network.services`": _network(services="10.8.16.0/20"),
    "`network.proxies`": _network(proxies="10.9.2.0/23"),
    "`gateway.exposure`": _external,
    "`cluster.releaseChannel`": in_cluster(releaseChannel="STABLE"),
    "`cluster.binaryAuthorization`": in_cluster(binaryAuthorization=True),
    "`cluster.deletionProtection`": in_cluster(deletionProtection=True),
    "`cluster.controlPlane`": in_cluster(controlPlane="regional"),
    "`cluster.name`": in_cluster(name="llmd-other"),
    "`cluster.zone` in another region": in_cluster(zone="europe-west4-a"),
}
"""The change as the page calls it, and the change of the stack file."""


def _planned(rehearsal: Rehearsal) -> str:
    """What a preview plans, or why it refuses, as a cell of the table."""
    events = rehearsal.events("preview", stack=STACK, check=False)
    errors = [event["diagnosticEvent"]["message"] for event in events if _is_error(event)]
    if not errors:
        return cell(_steps(events))
    reason = re.search(r"this stack has \S+, and (.+?)\.\n", errors[0])
    assert reason, errors
    return f"the preview refuses it: {reason[1]}"


def _is_error(event: Event) -> bool:
    return event.get("diagnosticEvent", {}).get("severity") == "error"


def _steps(events: list[Event]) -> dict[str, tuple[str, str]]:
    """Name of the resource to its type and step, without what stays."""
    steps: dict[str, tuple[str, str]] = {}
    for event in events:
        if step := event.get("resourcePreEvent"):
            about = step["metadata"]
            operation = "replaced" if "replace" in about["op"] else f"{about['op'].removesuffix('e')}ed"
            if about["op"] not in ("same", "read"):
                steps[about["urn"].rpartition("::")[2]] = (about["urn"].split("::")[-2].split("$")[-1], operation)
    return steps


def cell(steps: dict[str, tuple[str, str]]) -> str:
    """A plan as a cell of the table: Google's resources by name, the cluster's objects by name where they are few."""
    parts: list[str] = []
    for operation in ("replaced", "deleted", "created", "updated"):
        of_google, inside = list[str](), list[str]()
        for name, (kind, done) in sorted(steps.items()):
            if done == operation and kind.startswith(("gcp:", "kubernetes:")):
                (of_google if kind.startswith("gcp:") else inside).append(f"`{name}`")
        more = inside if len(inside) <= MOST_NAMES else [f"{len(inside)} objects in the cluster"]
        if listed := of_google + more:
            parts.append(f"{operation}: {', '.join(listed)}")
    return "; ".join(parts) or "nothing changes"


def table(rehearsal: Rehearsal) -> str:
    """Brings the stack up, previews each change, and says what each plan does."""
    rehearsal.edit(STACK, base)
    rehearsal.up(STACK)
    file = rehearsal.workdir.stack_file(STACK)
    before = file.read_text()
    rows = ["| Change | What happens |", "|---|---|"]
    for name, change in CHANGES.items():
        rehearsal.edit(STACK, change)
        rows.append(f"| {name} | {_planned(rehearsal)} |")
        file.write_text(before)
    return "\n".join(rows) + "\n"


def shown() -> str:
    """The table of the page."""
    match = _TABLE.search(PAGE.read_text())
    assert match, f"{PAGE} has no line {MARK} with a table below"
    return match[1]


def main() -> int:
    """Writes the table into the page."""
    from tests.real_engine.harness import Rehearsal

    with tempfile.TemporaryDirectory() as folder:
        rehearsal = Rehearsal(Path(folder))
        rehearsal.copy_project()
        try:
            new = table(rehearsal)
        finally:
            rehearsal.stop_everything()
    PAGE.write_text(_TABLE.sub(lambda _: f"{MARK}\n\n{new}", PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
