"""Reads a cluster with ``kubectl get --raw``: never a Secret, and nothing is changed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import cast

from llmd_common import child_process
from llmd_common.kubernetes.client import Resource
from llmd_common.kubernetes.fields import Object, each, name, namespace, text
from operations.exits import SetUpFailed, Unreachable

ANSWER_SECONDS = 30
AT_ONCE = 8
UNREAD = "Secret"
"""The kind that is never read."""

Key = tuple[str, str, str, str]
"""API version, kind, namespace (empty if the kind has none) and name."""


@dataclass
class Live:
    """A cluster. ``options`` of kubectl select it. ``denied``: what the caller may not read, with the reason."""

    options: Sequence[str]
    denied: dict[str, str] = field(default_factory=dict[str, str])
    _answers: dict[str, Object | None] = field(default_factory=dict[str, "Object | None"])

    def check(self) -> None:
        """Raises ``Unreachable`` or ``SetUpFailed`` if the cluster does not answer."""
        self._get("/version")

    def items(self, version: str, plural: str) -> list[Object]:
        """All objects of a kind; empty if the cluster does not have it, or the caller may not read it."""
        answer = self._get(Resource(version, plural).url())
        return [{"apiVersion": version, **one} for one in each(answer, "items")]

    def groups(self) -> frozenset[str]:
        """The API groups that the cluster serves."""
        return frozenset(text(one, "name") for one in each(self._get("/apis"), "groups"))

    def plural(self, version: str, kind: str) -> str:
        """The plural of a kind, by which it is listed; empty if the cluster does not serve it."""
        served = each(self._get(f"/{'api' if version == 'v1' else 'apis'}/{version}"), "resources")
        return next(
            (text(one, "name") for one in served if one.get("kind") == kind and "/" not in text(one, "name")), ""
        )

    def present(self, kinds: Collection[tuple[str, str]]) -> Mapping[Key, Object]:
        """All objects of these kinds (API version and kind), but for Secrets."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = pool.map(self._of_kind, [one for one in kinds if one[1] != UNREAD])
        return {key: one for objects in found for key, one in objects.items()}

    def _of_kind(self, kind: tuple[str, str]) -> dict[Key, Object]:
        plural = self.plural(*kind)
        return {(*kind, namespace(one), name(one)): one for one in self.items(kind[0], plural)} if plural else {}

    def _get(self, path: str) -> Object | None:
        if path not in self._answers:
            self._answers[path] = self._ask(path)
        return self._answers[path]

    def _ask(self, path: str) -> Object | None:
        program = shutil.which("kubectl")
        if program is None:
            raise SetUpFailed("`kubectl` is not on PATH.\nFix: gcloud components install kubectl")
        try:
            done = child_process.run([program, *self.options, "get", "--raw", path], seconds=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unreachable(_silent(f"no answer within {ANSWER_SECONDS} s")) from None
        if not done.returncode:
            return cast("Object", json.loads(done.stdout))
        error = " ".join(done.stderr.split())[-300:]
        if "(NotFound)" in error or "could not find the requested resource" in error:
            return None
        if "(Forbidden)" in error:
            self.denied[path] = error
            return None
        raise Unreachable(_silent(error))


def _silent(why: str) -> str:
    return (
        f"The cluster does not answer: {why}\n"
        "Fix: kubectl config get-contexts lists the contexts; gcloud container clusters get-credentials CLUSTER "
        "--location LOCATION makes one, with --dns-endpoint for a cluster whose addresses are private"
    )
