"""The pack on the real engine, on the stand-in clouds."""

from __future__ import annotations

import re

import pytest

from llmd_gke.repository import CLONE
from llmd_gke.rules import budget
from operations.live import engine_events
from tests.real_engine.harness import GOOGLE, Rehearsal

SUBNET = """
vpc = Google("network:Network", "net", autoCreateSubnetworks=False)
Google(
    "subnetwork:Subnetwork",
    "proxies",
    (vpc,),
    network=vpc.id,
    region="europe-west4",
    ipCidrRange="10.9.0.0/27",
    purpose="REGIONAL_MANAGED_PROXY",
    role="ACTIVE",
)
"""

ROUTE = """
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource

vpc = Google("network:Network", "net", autoCreateSubnetworks=False)
# As before the first `up`: where the cluster is will be known later.
provider = k8s.Provider("cluster", kubeconfig=vpc.id, cluster_identifier="later")
CustomResource(
    "route",
    api_version="gateway.networking.k8s.io/v1",
    kind="HTTPRoute",
    metadata={"name": "route", "namespace": "models"},
    spec={
        "parentRefs": [{"name": "inference-gateway"}],
        "rules": [
            {"backendRefs": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "pool"}]}
        ],
    },
    opts=pulumi.ResourceOptions(provider=provider),
)
"""


SERVICE = """
import pulumi_kubernetes as k8s

k8s.core.v1.Service("open", metadata={"name": "open", "namespace": "models"}, spec={"type": "LoadBalancer"})
"""


TPUS = f"""
from pulumi_gcp import container

cluster = container.Cluster(
    "cluster", name="llmd", location="europe-west4", initial_node_count=1, resource_labels={{"{budget.LABEL}": "100"}}
)
container.NodePool(
    "tpus",
    name="v6e4",
    cluster=cluster.name,
    location="europe-west4",
    node_locations=["europe-west4-a"],
    autoscaling={{"min_node_count": 0, "max_node_count": 4}},
    node_config={{"machine_type": "ct6e-standard-4t"}},
)
"""


@pytest.mark.parametrize("stack", ["eu4a", "prod"])
def test_a_shipped_stack_is_previewed_with_the_pack_and_passes(rehearsal: Rehearsal, stack: str) -> None:
    shown = rehearsal.preview(stack).stdout
    assert "llmd-gke@v0.1.0" in shown
    assert "[mandatory]" not in shown


def made(rehearsal: Rehearsal) -> set[str]:
    state = rehearsal.state()
    return {urn.rpartition("::")[2] for urn in state.urns} if state else set()


def test_a_violation_fails_the_preview_and_up_does_not_create_the_resource(rehearsal: Rehearsal) -> None:
    rehearsal.program(GOOGLE + SUBNET)
    preview = rehearsal.preview(check=False)
    assert preview.returncode != 0
    assert "proxy-subnet" in preview.stdout
    up = rehearsal.pulumi("up", "--stack", "local", "--yes", "--skip-preview", "--policy-pack", "policies", check=False)
    assert up.returncode != 0
    assert "proxy-subnet" in up.stdout
    assert "proxies" not in made(rehearsal)
    rehearsal.events("up", "--yes", "--skip-preview")
    assert "proxies" in made(rehearsal), "without the pack nothing else holds it back"
    assert "proxies" in engine_events.created(rehearsal.folder / "events.jsonl"), "as the engine's own events say"


def test_an_update_beyond_the_budget_fails_before_anything_is_created(rehearsal: Rehearsal) -> None:
    """Past the settings, which check the same rule: as if somebody had added the pool to the program."""
    rehearsal.program(TPUS)
    up = rehearsal.up(check=False)
    assert up.returncode != 0
    assert "[mandatory] [severity: high]  hourly-price  (gcp:container:Cluster: cluster)" in up.stdout
    assert "the stack costs 47.62 USD an hour, more than the budget of 1.00" in up.stdout
    assert "Fix: lower maxNodes of tpus" in up.stdout
    assert not {"cluster", "tpus"} & made(rehearsal)
    rehearsal.program(TPUS.replace('"100"', '"4800"'))
    assert "hourly-price" not in rehearsal.preview(check=False).stdout, "the budget is enough"


def test_a_plain_pulumi_command_of_the_shell_runs_the_pack(rehearsal: Rehearsal) -> None:
    rehearsal.program(GOOGLE + SUBNET)
    rehearsal.make("env")
    rehearsal.pulumi("stack", "init", "local")
    for command in (("preview",), ("up", "--yes", "--skip-preview")):
        done = rehearsal.pulumi(*command, "--stack", "local", check=False)
        assert done.returncode != 0
        assert "proxy-subnet" in done.stdout
    assert "proxies" not in made(rehearsal)


@pytest.mark.parametrize("target", ["up", "preview"])
def test_without_the_pack_nothing_is_previewed_or_made(rehearsal: Rehearsal, target: str) -> None:
    (rehearsal.root / "policies").unlink()
    done = rehearsal.make(target, "--stack", "local", check=False)
    assert done.returncode == 2
    assert "PulumiPolicy.yaml is missing" in done.stdout
    assert "git restore policies" in done.stdout
    assert not made(rehearsal)


def test_a_rule_about_the_whole_program_judges_the_first_preview(rehearsal: Rehearsal) -> None:
    rehearsal.program(GOOGLE + ROUTE)
    preview = rehearsal.preview(check=False)
    assert preview.returncode != 0
    assert "health-check-missing" in preview.stdout
    assert "backend-timeout" in preview.stdout


def test_the_pack_that_the_page_shows_runs_beside_the_shipped_one(rehearsal: Rehearsal) -> None:
    page = (CLONE / "docs" / "custom-policies.md").read_text()
    house = rehearsal.root / "house"
    house.mkdir()
    blocks = dict(re.findall(r"```(yaml|python)\n(.*?)```", page, re.DOTALL))
    (house / "PulumiPolicy.yaml").write_text(blocks["yaml"])
    (house / "__main__.py").write_text(blocks["python"])
    config = rehearsal.root / "policies.json"
    config.write_text('{"gateway-class": {"allowed": ["gke-l7-rilb"]}}')
    rehearsal.environ |= {"LLMD_GKE_POLICY_PACKS": str(house), "LLMD_GKE_POLICY_CONFIG": str(config)}
    preview = rehearsal.preview("eu4a", check=False)
    assert preview.returncode != 0
    assert "the cluster has no label `team`" in preview.stdout
    assert "is not among the classes that the policy's configuration allows" in preview.stdout
    rehearsal.edit("eu4a", lambda config: config["llmd-gke:cluster"].update(labels={"team": "ml"}))  # as its fix says
    assert "`team`" not in rehearsal.preview("eu4a", check=False).stdout


def test_what_is_exposed_is_advice_in_one_stack_and_refused_in_production(rehearsal: Rehearsal) -> None:
    """The engine configures every policy: with the level that the pack has told it, where nobody chose another."""
    rehearsal.program(SERVICE)
    advised = rehearsal.preview("dev")
    assert "public-service" in advised.stdout
    assert "[mandatory]" not in advised.stdout
    refused = rehearsal.preview("prod", check=False)
    assert refused.returncode != 0
    assert "public-service" in refused.stdout
    assert "[mandatory]" in refused.stdout
