"""A cluster with two hand-made deployments is adopted, used, and left as it was."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import pytest
import yaml

from llmd_gke.repository import CLONE
from tests.operations.adopt import support
from tests.real_engine.harness import Rehearsal

UP = ("up", "--yes", "--skip-preview")
STACK = "field"
CLUSTER = {"name": "shared", "zone": "europe-west4-a", "deletionProtection": False}
SPACE = "llm-d-inference-scheduling"
SERVICES = {f"qwen2-3b-pattern{number}": f"{SPACE}/qwen2-3b-pattern{number}" for number in (1, 3)}

OTHERS = """
import json
from pathlib import Path

from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace

args = PoolArgs.of(settings, settings.pools[0], project=project, cluster=cluster)
earlier = [Pool("tpu", args, after(cluster))]
for one in json.loads(Path("objects.json").read_text()):
    version, kind = one.pop("apiVersion"), one.pop("kind")
    title = f"{kind}-{one['metadata']['name']}"
    opts = pulumi.ResourceOptions(provider=cluster.provider, depends_on=[*earlier])
    if kind == "Namespace":
        earlier.append(Namespace(title, **one, opts=opts))
    elif kind == "Deployment":
        Deployment(title, **one, opts=opts)
    else:
        CustomResource(title, version, kind, metadata=one["metadata"], spec=one.get("spec"), opts=opts)
"""
"""What others have in their cluster; it continues after network and cluster of the program."""


@pytest.fixture
def shared(rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    """The cluster of others, made by a program that is gone, and their ``kubectl``."""
    (rehearsal.root / "objects.json").write_text(json.dumps(yaml.safe_load(support.OTHERS)))
    shutil.copy(rehearsal.root / "Pulumi.local.yaml", rehearsal.root / "Pulumi.others.yaml")
    rehearsal.program((CLONE / "__main__.py").read_text().partition("optional(BudgetArgs")[0] + OTHERS)
    rehearsal.edit("others", lambda config: config.update({"llmd-gke:cluster": CLUSTER}))
    rehearsal.make("preview", "--stack", "others", check=False)  # prepares the home
    rehearsal.pulumi("stack", "init", "others", check=False)
    rehearsal.events(*UP, stack="others")
    (rehearsal.root / "__main__.py").unlink()
    (rehearsal.root / "__main__.py").symlink_to(CLONE / "__main__.py")
    support.kubectl(rehearsal.folder, monkeypatch)
    return rehearsal


def test_hand_made_deployments_are_adopted_and_what_others_own_stays_as_it_was(shared: Rehearsal) -> None:
    def adopt(*, check: bool) -> dict[str, str]:
        words = ["adopt", "--stack", STACK, "--context", support.CONTEXT, "--write", "--output", "json"]
        command = [sys.executable, "-m", "operations", *words]
        printed = shared._run(command, check).stdout  # pyright: ignore[reportPrivateUsage]
        return {one["what"]: one["said"] for one in support.answer(printed)["findings"]}

    def complete(config: dict[str, Any]) -> None:
        network = {"network": "shared", "subnet": "shared-nodes", "podsRange": "pods", "servicesRange": "services"}
        config["llmd-gke:network"] = {"existing": network, "proxies": "10.9.0.0/23"}

    def changed() -> dict[str, dict[str, Any]]:
        """What a first or second update does, by the resource's name."""
        steps = [
            step["metadata"] for event in shared.events(*UP, stack=STACK) if (step := event.get("resourcePreEvent"))
        ]
        return {one["urn"].rpartition("::")[2]: one for one in steps if one["op"] not in ("same", "read")}

    before = shared.cloud()
    adopt(check=False)
    shared.edit(STACK, complete)
    said = adopt(check=True)
    shared.pulumi("stack", "init", STACK)
    first = [f"--target=**llmd-gke:{part}:**" for part in ("project", "network", "cluster")]
    shared.events(*UP, *first, stack=STACK)
    listed = ("--file", f"import.{STACK}.json", "--generate-code=false")
    shared.events("import", "--yes", *listed, stack=STACK)
    shared.events("destroy", "--yes", "--skip-preview", "--target=**-service", stack=STACK, check=False)
    assert before.items() <= shared.cloud().items(), "half adopted is not owned"
    updates = {name: one for name, one in changed().items() if one["op"] != "create"}
    assert {(name, one["op"]) for name, one in updates.items()} == {(f"{name}-service", "update") for name in SERVICES}
    for name, ident in SERVICES.items():
        announced = said[f"LLMInferenceService {ident}"].partition("changes ")[2].split(", ")
        sections = {tuple(path.split(".")[:2]) for path in announced}
        assert {tuple(path.split(".")[:2]) for path in updates[f"{name}-service"]["detailedDiff"]} <= sections
    assert not changed()
    used = shared.cloud()
    shared._run([sys.executable, "-c", support.KEEP, STACK, "rehearsal"], check=True)  # pyright: ignore[reportPrivateUsage]
    shared.events("destroy", "--yes", "--skip-preview", stack=STACK)
    left = shared.cloud()
    assert left.items() <= used.items()
    assert {key: one for key, one in left.items() if not key.startswith(f"{SPACE}/")} == {
        key: one for key, one in before.items() if not key.startswith(f"{SPACE}/")
    }
    assert {key for key in used if key.startswith(f"{SPACE}/qwen2-3b")} <= left.keys()
