"""A cluster with two hand-made deployments is adopted, used, and left as it was."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import pytest

from llmd_gke.repository import CLONE
from tests.operations.adopt import support
from tests.real_engine.harness import Rehearsal

UP = ("up", "--yes", "--skip-preview")
STACK = "field"
MODELS = {f"llm-d-inference-scheduling/qwen2-3b-pattern{number}" for number in (1, 3)}

OTHERS = """
import json
from pathlib import Path

import pulumi
from pulumi_gcp import compute, container
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace

PLACE = {"location": "europe-west4", "project": "rehearsal"}
vpc = compute.Network("corp", name="corp", project="rehearsal", auto_create_subnetworks=False)
subnet = compute.Subnetwork(
    "gke", name="gke", project="rehearsal", region="europe-west4", network=vpc.id, ip_cidr_range="10.0.0.0/20",
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.4.0.0/14"},
        {"range_name": "services", "ip_cidr_range": "10.8.0.0/20"},
    ],
)
proxies = compute.Subnetwork(
    "proxies", name="proxies", project="rehearsal", region="europe-west4", network=vpc.id, ip_cidr_range="10.9.0.0/23",
    purpose="REGIONAL_MANAGED_PROXY", role="ACTIVE",
)
cluster = container.Cluster(
    "shared", name="shared", network=vpc.name, subnetwork=subnet.name, initial_node_count=1, **PLACE,
    deletion_protection=False, networking_mode="VPC_NATIVE", gateway_api_config={"channel": "CHANNEL_STANDARD"},
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    control_plane_endpoints_config={"dns_endpoint_config": {"allow_external_traffic": True}},
    workload_identity_config={"workload_pool": "rehearsal.svc.id.goog"},
)
pool = container.NodePool(
    "tpu", name="tpu", cluster=cluster.name, node_locations=["europe-west4-a"], **PLACE, node_count=4,
    node_config={"machine_type": "ct6e-standard-4t", "disk_type": "hyperdisk-balanced"},
)
kubeconfig = cluster.control_plane_endpoints_config.dns_endpoint_config.endpoint.apply(lambda host: json.dumps({
    "clusters": [{"name": "c", "cluster": {"server": f"https://{host}"}}],
    "users": [{"name": "c", "user": {"token": "t"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}], "current-context": "c",
}))
provider = Provider("shared", kubeconfig=kubeconfig, cluster_identifier="shared")
options = pulumi.ResourceOptions(provider=provider, depends_on=[pool, proxies])
earlier = []
for one in json.loads(Path("objects.json").read_text()):
    name, kind, _ = one["metadata"]["name"], one.pop("kind"), one.pop("status", None)
    title, version = f"{kind}-{name}", one.pop("apiVersion")
    opts = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=[*earlier]))
    if kind == "Namespace":
        earlier.append(Namespace(title, metadata=one["metadata"], opts=options))
    elif kind == "Deployment":
        Deployment(title, **one, opts=opts)
    else:
        CustomResource(title, version, kind, **one, opts=opts)
"""


@pytest.fixture
def shared(rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    """The cluster of others, made by a program that is gone, and their ``kubectl``."""
    (rehearsal.root / "objects.json").write_text(json.dumps(support.objects()))
    shutil.copy(rehearsal.root / "Pulumi.local.yaml", rehearsal.root / "Pulumi.others.yaml")
    rehearsal.program(OTHERS)
    rehearsal.make("preview", "--stack", "others", check=False)  # prepares the home
    rehearsal.pulumi("stack", "init", "others", check=False)
    rehearsal.events(*UP, stack="others")
    (rehearsal.root / "__main__.py").unlink()
    (rehearsal.root / "__main__.py").symlink_to(CLONE / "__main__.py")
    support.kubectl(rehearsal.folder, monkeypatch)
    return rehearsal


def adopt(rehearsal: Rehearsal, *arguments: str, check: bool = True) -> str:
    words = [sys.executable, "-m", "operations", "adopt", "--stack", STACK, "--context", support.CONTEXT, *arguments]
    return rehearsal._run(words, check).stdout  # pyright: ignore[reportPrivateUsage]


def steps(rehearsal: Rehearsal, *arguments: str) -> dict[str, str]:
    return {
        name: step for name, step in rehearsal.steps(*arguments, stack=STACK).items() if step not in ("same", "read")
    }


def test_hand_made_deployments_are_adopted_and_what_others_own_stays_as_it_was(shared: Rehearsal) -> None:
    rehearsal = shared
    before = rehearsal.cloud()
    adopt(rehearsal, "--write", check=False)

    def complete(config: dict[str, Any]) -> None:
        network = {"network": "corp", "subnet": "gke", "podsRange": "pods", "servicesRange": "services"}
        config["llmd-gke:network"] = {"existing": network, "proxies": "10.9.0.0/23"}

    rehearsal.edit(STACK, complete)
    adopt(rehearsal, "--write")
    listed = json.loads((rehearsal.root / f"import.{STACK}.json").read_text())
    assert {one["id"] for one in listed["resources"] if "id" in one} == MODELS
    rehearsal.pulumi("stack", "init", STACK)
    first = [f"--target=**llmd-gke:{part}:**" for part in ("project", "network", "cluster")]
    rehearsal.events(*UP, *first, stack=STACK)
    rehearsal.events(
        "import", "--yes", "--file", f"import.{STACK}.json", "--protect=false", "--generate-code=false", stack=STACK
    )
    assert before.items() <= rehearsal.cloud().items()
    made = steps(rehearsal, *UP)
    assert {name: step for name, step in made.items() if step != "create"} == {
        "qwen2-3b-pattern1-service": "update",
        "qwen2-3b-pattern3-service": "update",
    }
    assert not steps(rehearsal, *UP)
    rehearsal.events("destroy", "--yes", "--skip-preview", stack=STACK)
    assert rehearsal.cloud() == {key: one for key, one in before.items() if key not in MODELS}
