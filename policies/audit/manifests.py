"""Reads Kubernetes objects: from folders and files, charts, kustomizations, and the cluster of a context."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from llmd_common import kubectl
from llmd_common.problems import BadInput, Unreachable
from llmd_gke.catalog import kserve
from llmd_gke.rules.inputs import Value, items_of, table_of
from policies.audit.resources import Source, is_object, of_object, unknown_where
from policies.extract import DOCUMENT, UnreadableDocument, documents, plain
from policies.groups import ALL
from policies.rules.kinds import CRD

CHART = "Chart.yaml"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
SUFFIXES = (".yaml", ".yml", ".json")
RENDERED_FROM = re.compile(r"^# Source: (\S+)$", re.MULTILINE)
"""What `helm template` writes above each object."""
PLACEHOLDER = re.compile(r"\$\{?[A-Za-z_]\w*\}?|.*\$\{[A-Za-z_]\w*\}.*|<[^<>]+>")
"""A text of one line that something replaces before it is applied (``envsubst``, a reader of a guide)."""

WORKLOADS = {
    "DaemonSet.apps",
    "CronJob.batch",
    "JobSet.jobset.x-k8s.io",
    "RayCluster.ray.io",
    "RayJob.ray.io",
    "RayService.ray.io",
    f"InferenceService.{kserve.GROUP}",
    "DynamoGraphDeployment.nvidia.com",
}
"""Kinds with pod templates that rules recognize by their shape, as KIND.GROUP."""
OF_GOOGLE = re.compile(r"kube-system|kube-public|kube-node-lease|(?:gke|gmp|config-management|asm|istio)-.*")
"""Namespaces whose objects Kubernetes, Google or an installer made."""


def of_text(text: str, file: str, folder: Path | None = None) -> Source:
    """The objects in the documents of a YAML text. What is not a Kubernetes object is left out.

    ``folder``: of the chart or kustomization that the text is rendered from, whose lines are not those of its files.
    """
    source = Source()
    position = 0
    for end in [*(match.start() for match in DOCUMENT.finditer(text)), len(text)]:
        part, line = text[position:end], text.count("\n", 0, position) + 1
        position = end
        if "apiVersion" not in part:
            continue
        rendered = RENDERED_FROM.search(part)
        for value in documents(DOCUMENT.sub("", part, count=1), file):
            first = line + next((n for n, text in enumerate(part.split("\n")) if text.startswith("apiVersion")), 0)
            if isinstance(value, UnreadableDocument):
                source.unread.append(
                    f"{file}:{line} cannot be read as YAML. Fix: render templates first, and pass these"
                )
                source.status = BadInput.status
            elif isinstance(value, Mapping) and is_object(value):
                place = (file, 0 if folder else first)
                if rendered:  # CHART/templates/...
                    place = (str(folder / rendered[1].partition("/")[2]) if folder else rendered[1], 0)
                made = of_object(value, *place)
                source.resources.append(replace(made, inputs=unknown_where(made.inputs, PLACEHOLDER.fullmatch)))
    return source


def text_of(path: Path) -> str:
    """The text of a file. Raises ``BadInput`` if it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path} cannot be read: {error}.\n"
            "Fix: pass manifests, or a plan as JSON: terraform show -json PLAN (pulumi preview --json)"
        ) from None


def of_folder(folder: Path) -> Source:
    """The manifests in a folder and below. It may itself be a chart or a kustomization, which are rendered.

    Those below are programs of their own, and are only named.
    """
    if (folder / CHART).is_file():
        return of_text(_output("helm", "template", "audit", str(folder)), str(folder / CHART), folder)
    for name in KUSTOMIZATIONS:
        if (folder / name).is_file():
            return of_text(_output("kubectl", "kustomize", str(folder)), str(folder / name), folder)
    source = Source()
    for place, folders, files in os.walk(folder):
        own = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if own != folder and (kind := _own_program(files)):
            source.unread.append(f"{own} is a {kind}: audit it by itself")
            folders.clear()
            continue
        for name in sorted(files):
            if name.endswith(SUFFIXES):
                source.add(of_text(text_of(own / name), str(own / name)))
    return source


def _own_program(files: Sequence[str]) -> str:
    if CHART in files:
        return "chart"
    return "kustomization" if any(name in files for name in KUSTOMIZATIONS) else ""


def of_context(context: str) -> Source:
    """The objects of a cluster that rules are about and that no other object controls. It never asks for Secrets.

    Raises ``Unreachable`` if the cluster does not answer.
    """
    wanted = {f"{kind.name}.{kind.group}".rstrip(".") for rule in ALL for kind in rule.kinds} | WORKLOADS
    listed = kubectl.in_cluster(("--context", context), wanted - {f"{CRD.name}.{CRD.group}"})
    source = Source(unread=listed.errors, status=Unreachable.status if listed.errors else 0)
    for item in listed.objects:
        value = plain(item)
        if isinstance(value, Mapping) and is_object(value) and not _is_of_others(value):
            source.resources.append(of_object({key: part for key, part in value.items() if key != "status"}))
    source.unread.append(
        f"context {context}: read {', '.join(listed.read)} of all namespaces (permissions get and list). Never read: "
        "Secrets, so charts that Helm installed are unknown; settings of the cluster and its node pools at Google; "
        "namespaces of Google and of Kubernetes; objects that others control"
    )
    return source


def _is_of_others(value: Mapping[str, Value]) -> bool:
    metadata = table_of(value.get("metadata"))
    if "kubernetes.io/bootstrapping" in table_of(metadata.get("labels")):
        return True
    if any(table_of(owner).get("controller") for owner in items_of(metadata.get("ownerReferences"))):
        return True
    name = metadata.get("name") if value["kind"] == "Namespace" else metadata.get("namespace")
    return OF_GOOGLE.fullmatch(str(name)) is not None


def _output(program: str, *arguments: str) -> str:
    done = kubectl.run(program, *arguments)
    if done.returncode != 0:
        raise BadInput(f"`{program} {' '.join(arguments)}` failed: {done.stderr.strip()}\nFix: repair what it names")
    return done.stdout
