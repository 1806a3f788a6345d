"""What the policy pack costs: ``python benchmarks/policies.py [--runs 5] [--crds FOLDER]``.

Prints, on the real engine and the stand-in clouds, preview with the pack (and with a pack of one policy that is
switched off, the price of having any) divided by preview without: for stack
``eu4a`` (goal: at most 1.15) and for a program that makes KServe's CRDs as individual objects (``--crds``: a folder of
CRD files such as ``config/crd/full/llmisvc`` of kserve/kserve). Then, without engine, milliseconds per resource: with
the pack's server, and with the SDK's own, which shows every resource to every policy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")

import yaml  # noqa: E402
from google.protobuf import struct_pb2  # noqa: E402
from pulumi.runtime.proto import analyzer_pb2  # noqa: E402
from pulumi_policy import EnforcementLevel  # noqa: E402
from pulumi_policy.policy import _PolicyAnalyzerServicer  # noqa: E402  # pyright: ignore[reportPrivateUsage]
from rich.console import Console  # noqa: E402

from llmd_gke.graph.recording import load  # noqa: E402
from localcloud.common.workdir import Workdir, cache_folder  # noqa: E402
from localcloud.pulumi_cli import resolve  # noqa: E402
from localcloud.workflow import commands, config, home  # noqa: E402
from localcloud.workflow.runner import Runner  # noqa: E402
from policies.crossguard import policy  # noqa: E402
from policies.groups import ALL  # noqa: E402
from policies.pack import Analyzer  # noqa: E402
from policies.stack_inputs import StackInputs  # noqa: E402

STACK = "eu4a"
LONG_SECONDS = 5.0
CRD_TYPE = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
CRD_PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

provider = k8s.Provider("cluster", kubeconfig="{}", cluster_identifier="benchmark", render_yaml_to_directory="rendered")
for crd in json.loads(Path("crds.json").read_text()):
    pulumi.CustomResource(
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
        crd["metadata"]["name"],
        props=crd,
        opts=pulumi.ResourceOptions(provider=provider),
    )
"""


def crds_in(folder: Path) -> list[dict[str, object]]:
    """The CustomResourceDefinitions of a folder."""
    documents: list[dict[str, object] | None] = [
        yaml.load(file.read_text(), yaml.CSafeLoader) for file in sorted(folder.rglob("*.yaml"))
    ]
    return [one for one in documents if isinstance(one, dict) and one.get("kind") == "CustomResourceDefinition"]


@contextmanager
def project(crds: list[dict[str, object]] | None) -> Generator[Runner]:
    """A copy of the project (with a program of CRDs, if there are any) and a rehearsal of its own."""
    engine = resolve.ready(cache_folder())
    if engine is None:
        sys.exit("The Pulumi engine is not set up. Run: .venv/bin/python -m localcloud setup")
    with tempfile.TemporaryDirectory() as folder:
        workdir = Workdir(Path(folder) / "project", Path(folder) / "home")
        workdir.root.mkdir()
        for name in ("components", "llmd_common", "llmd_gke", "policies", "quick_sdk", ".venv"):
            (workdir.root / name).symlink_to(ROOT / name)
        for file in ROOT.glob("Pulumi*.yaml"):
            shutil.copy(file, workdir.root)
        shutil.copy(ROOT / "__main__.py", workdir.root)
        if crds is not None:
            (workdir.root / "__main__.py").write_text(CRD_PROGRAM)
            (workdir.root / "crds.json").write_text(json.dumps(crds))
        os.environ["LLMD_GKE_ROOT"], os.environ["LLMD_GKE_HOME"] = str(workdir.root), str(workdir.home)
        home.prepare(workdir, engine)
        config.sync(workdir, STACK, commands.secrets_of(workdir, STACK))
        runner = Runner(workdir, engine)
        commands.ensure_stack(runner, STACK, select=True)
        yield runner


EMPTY_PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

PolicyPack("empty", [ResourceValidationPolicy("off", "does nothing", lambda a, r: None, EnforcementLevel.DISABLED)])
"""
"""What the engine and the SDK ask for any pack at all: one policy, switched off."""


def empty_pack(runner: Runner) -> Path:
    """A folder with :data:`EMPTY_PACK`."""
    folder = runner.workdir.root / "empty-pack"
    folder.mkdir(exist_ok=True)
    runtime = f"runtime: {{name: python, options: {{virtualenv: {ROOT / '.venv'}}}}}"
    (folder / "PulumiPolicy.yaml").write_text(f"name: empty\nversion: 0.1.0\n{runtime}\n")
    (folder / "__main__.py").write_text(EMPTY_PACK)
    return folder


def preview(runner: Runner, pack: Path | None) -> float:
    """Seconds of one preview."""
    flags = ["--stack", STACK, "--config-file", str(runner.workdir.stack_copy(STACK))]
    flags += ["--policy-pack", str(pack)] if pack else []
    started = time.perf_counter()
    runner.ask("preview", *flags)
    return time.perf_counter() - started


def compare(name: str, crds: list[dict[str, object]] | None, runs: int) -> None:
    """Previews without a pack, with an empty one and with ours in turns, and prints the medians."""
    with project(crds) as runner:
        packs = (None, empty_pack(runner), ROOT / "policies")
        preview(runner, packs[2])  # warms the disk
        times = [tuple(preview(runner, pack) for pack in packs) for _ in range(runs)]
    without, empty, ours = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"{name:<28} without {without:6.2f} s   empty pack {empty:6.2f} s ({empty / without:.3f})   "
        f"this pack {ours:6.2f} s ({ours / without:.3f})"
    )


def request(type_: str, name: str, inputs: dict[str, object]) -> analyzer_pb2.AnalyzeRequest:
    """A resource as the engine shows it."""
    properties = struct_pb2.Struct()
    properties.update(inputs)  # pyright: ignore[reportArgumentType]
    return analyzer_pb2.AnalyzeRequest(
        type=type_, name=name, urn=f"urn:pulumi:{STACK}::benchmark::{type_}::{name}", properties=properties
    )


def per_resource(name: str, requests: list[analyzer_pb2.AnalyzeRequest], analyze: Callable[..., object]) -> None:
    """Prints milliseconds per resource, the best of three rounds (of one, if that takes long)."""
    rounds: list[float] = []
    for _ in range(3):
        started = time.perf_counter()
        for one in requests:
            analyze(one, None)
        rounds.append(time.perf_counter() - started)
        if rounds[0] > LONG_SECONDS:
            break
    print(f"{name:<50} {min(rounds) * 1000 / len(requests):9.2f} ms per resource   {min(rounds):6.3f} s in all")


def main() -> None:
    """Runs the benchmark."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=5, help="previews each, with and without")
    arguments.add_argument("--crds", type=Path, help="folder of KServe's CRDs")
    arguments.add_argument("--no-engine", action="store_true", help="only the time per resource")
    given = arguments.parse_args()
    crds = crds_in(given.crds) if given.crds else None
    Console().print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", highlight=False)
    nodes = load(ROOT, STACK, preview=True).nodes.values()
    programs = {f"stack {STACK}": [request(n.type, n.name, dict(n.inputs)) for n in nodes]}
    if crds is not None:
        programs[f"{len(crds)} CRDs"] = [request(CRD_TYPE, f"crd-{i}", crd) for i, crd in enumerate(crds)]
    plain = [policy(rule, StackInputs([])) for rule in ALL]
    sdk = _PolicyAnalyzerServicer("llmd-gke", "0", plain, EnforcementLevel.ADVISORY)
    analyze = cast("Callable[..., object]", sdk.Analyze)  # pyright: ignore[reportUnknownMemberType]
    for name, requests in programs.items():
        per_resource(f"{name}, the pack's server", requests, Analyzer().Analyze)
        per_resource(f"{name}, the SDK's server, {len(ALL)} policies", requests, analyze)
    if not given.no_engine:
        compare(f"preview of stack {STACK}", None, given.runs)
        if crds is not None:
            compare(f"preview of {len(crds)} CRDs", crds, given.runs)


if __name__ == "__main__":
    main()
