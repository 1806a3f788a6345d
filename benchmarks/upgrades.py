"""Walks upgrades on the laptop cloud: ``python benchmarks/upgrades.py``.

``llmd_gke/catalog/walks.toml`` has the results, which ``llmd-gke upgrade`` cites. First a whole stack, while clients
ask (``upgrades_under_load.py``). Then charts: on an API server alone, the provider's Helm installs the older chart with
the program's values and then the newer one, as ``pulumi up`` does. Neither knows of the breaks in the catalogue.

``--newest`` writes nothing: it walks from the charts of this release to the newest ones, and fails where an update
does, where objects go with it, or where nobody says which is the newest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from upgrades_under_load import present, walks  # noqa: E402 - this file is run from anywhere

from llmd_gke.catalog.upgrades import COMPONENTS, WALKED, Walk  # noqa: E402
from llmd_gke.manifests.charts import PLATFORM, Release  # noqa: E402
from localcloud.go_builds import charts, go_toolchain  # noqa: E402
from localcloud.product import versions  # noqa: E402
from localcloud.tests.real_kubernetes import objects  # noqa: E402
from localcloud.tests.real_kubernetes.harness import CONTROL_PLANE, Laptop  # noqa: E402


class Pair(NamedTuple):
    """Two versions of a component's chart."""

    component: str
    chart: str
    before: str
    after: str


def now(chart: str) -> str:
    """The version of a chart in this release."""
    return versions.chart(chart).version.removeprefix("v")


PAIRS = (
    Pair("lws", "lws", "0.7.0", "0.8.0"),
    Pair("lws", "lws", "0.8.0", now("lws")),
    Pair("kserve", "kserve-llmisvc-crd", "0.19.0", now("kserve-llmisvc-crd")),
)
PROGRAM = """
import json
from pathlib import Path
import pulumi
import pulumi_kubernetes as k8s
stage = json.loads(Path("stage.json").read_text())
provider = k8s.Provider("cluster", kubeconfig=stage.pop("kubeconfig"))
options = pulumi.ResourceOptions(provider=provider)
k8s.helm.v3.Release("release", **stage, skip_await=True, disable_webhooks=True, opts=options)
"""


def staged(laptop: Laptop, release: Release, chart: Path) -> None:
    """The program installs this chart."""
    stage = {
        "kubeconfig": str(laptop.layout.kubeconfig),
        "name": release.name,
        "namespace": release.namespace,
        "create_namespace": True,
        "chart": str(chart),
        "values": release.values,
    }
    (laptop.root / "stage.json").write_text(json.dumps(stage))


def behind(laptop: Laptop, chart: Path) -> list[str]:
    """The CRDs in the chart's folder ``crds/`` of which the cluster lacks a version or a field."""
    wanted = [yaml.safe_load(file.read_text()) for file in sorted((chart / "crds").glob("*.yaml"))]
    there = {objects.name(one): fields(one) for one in objects.every(laptop, "customresourcedefinitions")}
    return [objects.name(one) for one in wanted if not fields(one) <= there.get(objects.name(one), set())]


def fields(crd: objects.Object) -> set[str]:
    """The paths of the fields of every version of a CRD."""

    def below(schema: objects.Object, path: str) -> set[str]:
        named = {f"{path}.{key}": value for key, value in schema.get("properties", {}).items()}
        inner: objects.Object = {f"{path}[]": schema["items"]} if "items" in schema else {}
        return {*named, *(one for at, value in {**named, **inner}.items() for one in below(value, at))}

    every = {one["name"]: one["schema"]["openAPIV3Schema"] for one in crd["spec"]["versions"]}
    return {*every, *(one for name, schema in every.items() for one in below(schema, name))}


def walk(pair: Pair) -> Walk:
    """One upgrade, on an API server of its own."""
    release = next(made() for made in PLATFORM if made().name == pair.chart)
    with tempfile.TemporaryDirectory(prefix="llmd-gke-upgrade-") as folder:
        older, newer = (
            charts.made(pair.chart, f"v{version}", Path(folder) / version) for version in (pair.before, pair.after)
        )
        laptop = Laptop(Path(folder) / "laptop")
        laptop.copy_project()
        try:
            laptop.start(*CONTROL_PLANE)
            laptop.program(PROGRAM)
            staged(laptop, release, older)
            laptop.make("env")
            laptop.pulumi("stack", "init", "local")
            laptop.pulumi("up", "--yes", "--stack", "local")
            there = present(laptop)
            staged(laptop, release, newer)
            done = laptop.pulumi("up", "--yes", "--stack", "local", check=False)
            now, missing = present(laptop), behind(laptop, newer)
        finally:
            laptop.stop_everything()
    return Walk(
        component=pair.component,
        chart=pair.chart,
        before=pair.before,
        after=pair.after,
        on=f"{datetime.now(UTC):%Y-%m-%d}",
        update="succeeded" if done.returncode == 0 else "failed",
        kept=len([one for one in there if there[one] == now.get(one)]),
        gone=sorted(there.keys() - now.keys()),
        replaced=sorted(one for one in there.keys() & now.keys() if there[one] != now[one]),
        behind=missing,
    )


def written(walks: Sequence[Walk]) -> str:
    """The file of results."""
    entries = ("".join(f"{key} = {json.dumps(value)}\n" for key, value in asdict(one).items()) for one in walks)
    return "# Written by `python benchmarks/upgrades.py`.\n" + "".join(f"\n[[walk]]\n{one}" for one in entries)


def newest(unknown: list[str]) -> Generator[Pair]:
    """From each chart of this release to the newest one, where there is one; ``unknown``: those without an answer."""
    go = go_toolchain.find(os.environ).command
    for made in PLATFORM:
        chart, module = made().name, charts.SOURCES[made().name].module
        command = [go, "list", "-m", "-f", "{{.Version}}", f"{module}@latest"]
        with tempfile.TemporaryDirectory() as empty:
            answer = subprocess.run(command, cwd=empty, text=True, capture_output=True, check=False)
        version = answer.stdout.strip().removeprefix("v")
        print(f"{chart}: {now(chart)} here, newest: {version or answer.stderr.strip()}", flush=True)
        if not version:
            unknown.append(chart)
        elif version != now(chart):
            yield Pair(next(one.key for one in COMPONENTS if chart in one.charts), chart, now(chart), version)


def main() -> int:
    """Walks all pairs and writes their results, or to the newest versions."""
    latest = "--newest" in sys.argv[1:]
    results: list[Walk] = []
    unknown: list[str] = []
    with tempfile.TemporaryDirectory(prefix="llmd-gke-upgrades-") as folder:
        for one in chain([] if latest else walks(Path(folder)), map(walk, newest(unknown) if latest else PAIRS)):
            results.append(one)
            print(one.component, one.line, flush=True)
    if not latest:
        WALKED.write_text(written(results))
    return int(latest and (unknown != [] or any(one.gone or one.update == "failed" for one in results)))


if __name__ == "__main__":
    sys.exit(main())
