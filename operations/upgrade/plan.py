"""What an upgrade changes: the versions in a stack's state, and those that the program registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import yaml

from llmd_common.kubernetes.fields import each, get, part, text
from llmd_gke.catalog import versions
from llmd_gke.catalog.upgrades import COMPONENTS, Component, Walk, walked
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.upgrades import RULE, findings
from llmd_gke.rules.versions import is_older, version_of
from operations.comment.outages import CLUSTER
from operations.timeline.simulate import RELEASE

Resource = Mapping[str, object]


@dataclass(frozen=True)
class Step:
    """The upgrade of one component. ``urns``: what of the program it changes, and what that needs and is not there."""

    component: Component
    before: str
    after: str
    urns: Sequence[str]
    crd_step: str = ""
    findings: Sequence[Finding] = field(default_factory=tuple[Finding, ...])

    @property
    def line(self) -> str:
        """The component with both versions."""
        return f"{self.component.title} {self.before} to {self.after}"

    @property
    def walk(self) -> Walk | None:
        """What was seen when this step was walked on the laptop cloud."""
        return walked(self.component.key, self.before, self.after)


def steps(state: Iterable[Resource], wanted: Graph, root: Path, live: Mapping[str, str]) -> list[Step]:
    """The steps, in their order. ``live``: versions by component's title, as the cluster says; a state
    that says otherwise has to be refreshed first. A resource whose last change failed is upgraded again.
    """
    there = {str(one["urn"]): one for one in state}
    return [step for one in COMPONENTS if (step := _step(one, there, wanted, root, live.get(one.title, "")))]


def _step(component: Component, there: Mapping[str, Resource], wanted: Graph, root: Path, live: str) -> Step | None:
    nodes: list[ResourceNode] = []
    pairs: list[tuple[str, str]] = []
    found: list[Finding] = []
    for urn, node in wanted.nodes.items():
        old = there.get(urn)
        if old is None or old.get("external") or not (after := _version(component, node.type, node.inputs, {}, root)):
            continue
        before = _version(component, node.type, part(old, "inputs"), part(old, "outputs"), root)
        if component.key == "gke":
            before = max(before, live, key=_number)  # GKE upgrades by itself
        elif component.charts and version_of(live) and _number(live) != _number(before):
            drift = f"the cluster runs {component.title} {live}, the state says {before}"
            found.append(Finding(RULE, drift, fix=f"pulumi refresh --target '{target(urn)}', then this command again"))
            before = live
        if old.get("initErrors") or _differ(component, before, after):
            nodes.append(node)
            pairs.append((before, after))
    if not pairs:
        return None
    before, after = min(pairs, key=lambda pair: _number(pair[0]))
    new = [other for node in nodes for other in wanted.before(node) - there.keys() if wanted.nodes[other].custom]
    crd_step = ""
    if component.crd_step:
        charts = [[text(node.inputs, "chart"), text(node.inputs, "version")] for node in nodes]
        crd_step = "; ".join(component.crd_step.format(chart=" --version ".join(filter(None, one))) for one in charts)
    urns = [*dict.fromkeys([*new, *(node.urn for node in nodes)])]
    return Step(component, before, after, urns, crd_step, [*found, *findings(component, before, after)])


def target(urn: str) -> str:
    """The pattern of a resource for ``--target``, which a shell and make take as it is."""
    return f"**{urn.rpartition('$')[2]}"


def _number(version: str) -> tuple[int, ...]:
    return version_of(version) or ()


def _differ(component: Component, before: str, after: str) -> bool:
    if component.key == "gke":  # the program asks for a version or a newer one, and GKE upgrades by itself
        return is_older(before, after)
    return before.removeprefix("v") != after.removeprefix("v")


def _version(component: Component, type_: str, inputs: Resource, outputs: Resource, root: Path) -> str:
    if type_ == CLUSTER and component.key == "gke":
        return text(outputs, "masterVersion") or text(inputs, "minMasterVersion")
    if type_ == RELEASE:
        chart = text(inputs, "chart")
        known = next((one for one in component.charts if _name(chart) == one), None)
        return "" if known is None else _chart(chart, known, inputs, outputs, root)
    if not component.image or not type_.endswith(f":{component.image[0]}"):
        return ""
    place = get(inputs, *component.image[1].split("."))
    containers = [one for one in each(place, "containers") if text(one, "name") == "main"]
    image = text(containers[0] if containers else place, "image")
    return image.rpartition("/")[2].partition(":")[2] or image


def _name(chart: str) -> str:
    """The name of a chart by its address or folder; of an archive, NAME-VERSION.tgz, without the version."""
    last = chart.rstrip("/").rpartition("/")[2]
    return last.rpartition("-")[0] if last.endswith(".tgz") else last


def _chart(chart: str, known: str, inputs: Resource, outputs: Resource, root: Path) -> str:
    own = text(inputs, "values", "recordedFrom")  # a chart of this repository, for a version of what it configures
    if chart.endswith(".tgz"):
        own = chart.removesuffix(".tgz").rpartition("-")[2]
    if version := own or text(outputs, "status", "version") or text(inputs, "version"):
        return version
    with suppress(OSError):
        about = cast("object", yaml.safe_load((root / chart / "Chart.yaml").read_text(encoding="utf-8")))
        return text(about, "version")
    return versions.chart(known).version
