"""Describes problems of a cluster: processes that keep crashing, etcd's space quota."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import cast

from llmd_common import child_process
from localcloud.cluster import crashes
from localcloud.cluster.processes import ETCD_URL
from localcloud.common import cluster_status as status
from localcloud.common.environment import clean
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover, enter

FULL = (
    "etcd has reached its space quota and rejects writes (alarm NOSPACE).\n"
    "Fix: make down CLOUD=laptop, then make up CLOUD=laptop"
)
"""The message for etcd's full quota, which does not go away by itself."""

_ASK = f"""
import httpx
print(httpx.get("{ETCD_URL}/health", timeout=5, trust_env=False).text)
"""
"""Run inside: etcd answers with the reason when it is not well
(https://etcd.io/docs/v3.6/op-guide/monitoring/#health-check)."""


def problems(workdir: Workdir) -> list[str]:
    """Sentences about the problems; empty if none is known."""
    present = discover.running(workdir.home)
    if present is None:
        return ["it is not running"]
    layout = Layout(workdir.home)
    cluster = status.read(layout.status)
    ended = crashes.processes(layout, cluster) if cluster else []
    if crashes.serving(cluster):
        ended += [one for one in crashes.containers(layout, crashes.pods(workdir)) if one.ends >= crashes.TOO_OFTEN]
    sentences = [one.with_log() for one in ended]
    if "NOSPACE" in etcd_health(workdir, present):
        sentences.append(FULL)
    return sentences


def etcd_health(workdir: Workdir, present: discover.NamespacedCluster) -> str:
    """The reason why etcd is unhealthy, as it reports it; empty if it is healthy or does not answer."""
    command = enter.command(present.init.pid, [sys.executable, "-I", "-c", _ASK])
    done = child_process.run(command, environment=clean(os.environ, workdir))
    try:
        answer = cast("Mapping[str, object]", json.loads(done.stdout))
    except json.JSONDecodeError:
        return ""
    return str(answer.get("reason") or "")
