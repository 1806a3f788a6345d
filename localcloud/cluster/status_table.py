"""Shows the processes of a laptop cloud as a table."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
from rich.console import Console
from rich.table import Table

from localcloud.cluster import crashes
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover
from localcloud.workflow.say import say

MB = 1 << 20


def show(workdir: Workdir, console: Console) -> bool:
    """Prints a table of the processes. Returns whether the cluster runs and is ready."""
    layout = Layout(workdir.home)
    present, cluster = discover.running(workdir.home), status.read(layout.status)
    if present is None:
        say(console, f"cluster  not running ({workdir.home})")
        return False
    inside = {discover.inner_pid(one.pid): one for one in present.processes()}
    if cluster is None:
        say(console, f"cluster  process {present.init.pid} is running, but its folder {layout.run} no longer exists")
        return False
    table = Table(box=None, pad_edge=False)
    for heading in ("process", "state", "pid", "memory", "children", "restarts", "for"):
        table.add_column(heading, justify="right" if heading in ("pid", "memory", "children", "restarts") else "left")
    for one in cluster.processes:
        outer = inside.get(one.pid) if one.pid else None
        below = list(_below(outer))
        restarts = f"{one.restarts} ({one.last_exit})" if one.restarts else "0"
        table.add_row(
            one.name,
            one.state,
            str(outer.pid) if outer else "",
            memory(outer),
            f"{len(below)}, {sum(map(_rss, below)) // MB} MB" if below else "",
            restarts,
            f"{time.time() - one.since:.0f} s" if outer else "",
        )
    whole = sum(map(_rss, inside.values())) // MB
    say(console, f"cluster  {cluster.state}, process {present.init.pid}, {len(inside)} processes, {whole} MB")
    if cluster.message:
        say(console, cluster.message)
    console.print(table, soft_wrap=True, highlight=False)
    for line in crashes.problems(workdir):
        say(console, f"trouble  {line}")
    say(console, f"logs     {layout.logs}")
    return cluster.state == "ready"


def memory(process: psutil.Process | None) -> str:
    """Resident memory, for people."""
    return f"{_rss(process) // MB} MB" if process else ""


def _rss(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _below(process: psutil.Process | None) -> Iterator[psutil.Process]:
    try:
        yield from process.children(recursive=True) if process else ()
    except psutil.Error:
        return
