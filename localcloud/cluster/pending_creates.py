"""Finds the object that a create made in the cluster whose end the engine did not see.

Identities are those of the Kubernetes provider: ``namespace/name``, or ``name`` (pulumi/pulumi-kubernetes v4.25.0,
``fqName`` in provider/pkg/provider/util.go and helm_release.go).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from llmd_common.problems import Problem
from localcloud.cluster import kubectl
from localcloud.common.workdir import Workdir
from localcloud.workflow.state import Pending

RELEASE = "kubernetes:helm.sh/v3:Release"
MANAGER = "pulumi-kubernetes-"
"""Prefix of the provider's field managers (``fieldManagerName`` in provider/pkg/provider/provider.go)."""

FIELD_MANAGER = "__fieldManager"
"""Output of the provider with the field manager by which it applies an object."""

UNFINISHED = ("pending-install", "pending-upgrade", "pending-rollback")
"""States of a release with which Helm rejects further operations: "another operation is in progress"."""


def find(workdir: Workdir, pending: Pending) -> Mapping[str, object] | None:
    """The object that an unfinished create made: its identity as ``id``, and as ``outputs`` the field manager with
    which the provider applied it. ``None`` if there is none.

    The provider generates a field manager for every object, and can change its fields only with that one: with another,
    the API server reports a conflict. The record of a release that Helm did not finish is deleted, so that it can be
    installed again. Raises ``Problem`` if the API server does not answer.
    """
    name, namespace = _names(pending)
    if not name:
        return None
    identity = {"id": f"{namespace}/{name}" if namespace else name}
    if pending.type == RELEASE:
        return identity if _release(workdir, name, namespace) else None
    arguments = ["get", kind(pending.type), name, *_in(namespace), "--ignore-not-found", "--show-managed-fields"]
    output = _kubectl(workdir, *arguments, "-o", "json")
    if not output.strip():
        return None
    metadata = cast("Mapping[str, Mapping[str, object]]", json.loads(output))["metadata"]
    fields = cast("Sequence[Mapping[str, object]]", metadata.get("managedFields") or [])
    applied = (str(one["manager"]) for one in fields if one.get("operation") == "Apply")
    manager = next((one for one in applied if one.startswith(MANAGER)), None)
    return {**identity, "outputs": {FIELD_MANAGER: manager}} if manager else identity


def kind(type_: str) -> str:
    """``kubernetes:apps/v1:Deployment`` as kubectl takes it: ``Deployment.v1.apps``; core kinds end in a dot."""
    _, group_version, name = type_.split(":", 2)
    group, _, version = group_version.rpartition("/")
    return f"{name}.{version}.{'' if group == 'core' else group}"


def _names(pending: Pending) -> tuple[str, str]:
    source: Mapping[str, object] = pending.inputs
    if pending.type != RELEASE:
        source = cast("Mapping[str, object]", pending.inputs.get("metadata") or {})
    return str(source.get("name") or ""), str(source.get("namespace") or "")


def _release(workdir: Workdir, name: str, namespace: str) -> bool:
    """Whether Helm finished a release; its records are Secrets with the state as a label."""
    records = ["secrets", *_in(namespace), "-l", f"owner=helm,name={name}"]
    states = _kubectl(workdir, "get", *records, "-o", "jsonpath={.items[*].metadata.labels.status}").split()
    if states and all(state in UNFINISHED for state in states):
        _kubectl(workdir, "delete", *records)
        return False
    return bool(states)


def _in(namespace: str) -> Sequence[str]:
    return ["-n", namespace] if namespace else []


def _kubectl(workdir: Workdir, *arguments: str) -> str:
    done = kubectl.run(workdir, *arguments)
    if done.returncode:
        if "the server doesn't have a resource type" in done.stderr:  # without its CRD it cannot exist
            return ""
        raise Problem(
            f"{done.stderr.strip()}\n\n`kubectl {' '.join(arguments)}` failed.\nFix: make status CLOUD=laptop"
        )
    return done.stdout
