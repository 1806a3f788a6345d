"""Reads clusters with ``kubectl``, and runs it and other programs that have to be on PATH."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from llmd_common import child_process
from llmd_common.problems import SetUpFailed, Unreachable

SECONDS = 300
"""Seconds that a program may take to render, or a cluster to answer."""
NEVER_READ = {"Secret"}


def contexts() -> list[str]:
    """The contexts of the kubeconfig; none without kubectl."""
    if shutil.which("kubectl") is None:
        return []
    return (child_process.output_of(["kubectl", "config", "get-contexts", "-o", "name"], seconds=30) or "").split()


@dataclass(frozen=True)
class Listed:
    """Objects of a cluster. ``served``: all of its kinds, as KIND.GROUP; ``read``: the resources that were asked for;
    ``errors``: what kubectl said about those that it could not read.
    """

    objects: list[object]
    served: frozenset[str]
    read: list[str]
    errors: list[str]


def in_cluster(options: Sequence[str], wanted: Collection[str], *flags: str) -> Listed:
    """All objects of the kinds ``wanted`` (KIND.GROUP) that the cluster has, but for Secrets. ``options`` of kubectl
    select it, and ``flags`` are those of its ``get``.

    Raises ``Unreachable`` if the cluster does not answer, and ``SetUpFailed`` without kubectl.
    """
    kubectl = ("kubectl", *options, "--request-timeout=60s")
    names: list[str] = []
    served: set[str] = set()
    kinds = run(*kubectl, "api-resources", "--verbs=list", "--no-headers")
    for line in kinds.stdout.splitlines():
        name, *_, version, _namespaced, kind = line.split()
        group = version.partition("/")[0] if "/" in version else ""
        title = f"{kind}.{group}".rstrip(".")
        served.add(title)
        if title in wanted and title not in NEVER_READ:
            names.append(f"{name}.{group}".rstrip("."))
    if not names:
        cause, chosen = kinds.stderr.strip().rpartition("\n")[2], " ".join(options)
        raise Unreachable(f"the cluster ({chosen}) does not answer: {cause}\nFix: try kubectl {chosen} version")
    done = run(*kubectl, "get", ",".join(names), "-A", "-o", "json", *flags)
    objects = cast("list[object]", json.loads(done.stdout or "{}").get("items", []))
    refused = bool(kinds.returncode or done.returncode)
    return Listed(objects, frozenset(served), names, f"{kinds.stderr}{done.stderr}".splitlines() if refused else [])


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program, and says so. Raises ``SetUpFailed`` if it is not on PATH, ``Unreachable`` if it does not end."""
    if shutil.which(program) is None:
        raise SetUpFailed(
            f"{program} is not on PATH, and this source needs it: {program} {' '.join(arguments)}.\n"
            f"Fix: install {program}, or render the source elsewhere and pass the manifests (`-` reads standard input)"
        )
    print(f"running {program} ...", file=sys.stderr)
    try:
        return child_process.run([program, *arguments], seconds=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"`{program} {' '.join(arguments)}` has not ended in {SECONDS} s") from None
