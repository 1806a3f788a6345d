"""The shipped stacks with the provider that everybody uses, and what it says of changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from localcloud.tests.life_cycle.settings_changes import in_cluster
from localcloud.tests.real_engine.test_changes import UP, changes, pool, services
from tests.real_engine.harness import APIS_ON, Rehearsal

KEY = "projects/my-project/locations/us-east5/keyRings/r/cryptoKeys/k"


@pytest.mark.parametrize("stack", ["dev", "eu4a", "gpu"])
def test_a_stack_comes_up_stays_as_it_is_and_goes_without_a_trace(published: Rehearsal, stack: str) -> None:
    assert "to create" in published.preview(stack).stdout
    published.up(stack)
    kept = published.kept()["resources"]
    assert len([name for name in kept if "/nodePools/" in name]) == 2, "the default pool is gone"
    assert changes(published.steps("preview", stack=stack)) == {}
    published.pulumi("refresh", "--yes", "--stack", stack)
    assert changes(published.steps("preview", stack=stack)) == {}, "a refresh finds nothing else"
    assert "Nothing is left" in published.down("--stack", stack).stdout
    assert published.kept() == {}, "what is left would have been named, and the status 1"


def test_what_is_switched_off_goes_off(published: Rehearsal) -> None:
    published.edit("dev", in_cluster(binaryAuthorization=True, secretManager=True, encryption={"database": KEY}))
    published.up("dev")

    def cluster() -> dict[str, Any]:
        return next(
            value for name, value in published.kept()["resources"].items() if name.endswith("/clusters/llmd-dev")
        )

    assert cluster()["databaseEncryption"]["state"] == "ENCRYPTED"
    published.edit("dev", in_cluster(binaryAuthorization=False, secretManager=False, encryption={}))
    steps = changes(published.steps(*UP, stack="dev"))
    # The APIs that the options needed leave the stack, and stay enabled.
    assert {name: step for name, step in steps.items() if step != "delete"} == {"cluster-control-plane": "update"}
    after = cluster()
    assert after["binaryAuthorization"] == {"evaluationMode": "DISABLED"}
    assert after["databaseEncryption"]["state"] == "DECRYPTED"
    assert after["secretManagerConfig"] == {"enabled": False}
    assert changes(published.steps("preview", stack="dev")) == {}


def across_hosts(config: dict[str, Any]) -> None:
    """A model on four hosts, whose downloads are limited to names."""
    config["llmd-gke:network"] = {"egress": {"mode": "names"}}
    pool(config).update(topology="4x4", maxNodes=4, earlyHosts=0)
    config["llmd-gke:models"][0].update(replicas=1, experimentalMultiHost=True)


def shared_vpc(config: dict[str, Any]) -> None:
    """The VPC of another project, the gateway's address in it."""
    existing = {"network": "corp", "subnet": "gke", "hostProject": "corp-net"}
    config["llmd-gke:network"] = {"proxies": "10.20.0.0/23", "existing": existing}
    config["llmd-gke:gateway"]["exposure"] = "internal"


SHARED = {
    "projects/corp-net/regions/europe-west4/subnetworks/gke": {
        "network": "corp",
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": [{"rangeName": "pods"}, {"rangeName": "services"}],
    }
}

STACKS: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "eu4a in a Shared VPC": ("eu4a", shared_vpc),
    "a model across hosts": ("eu4a", across_hosts),
}


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_that_differs_from_the_shipped_ones_comes_up_and_goes(name: str, rehearsal: Rehearsal) -> None:
    stack, change = STACKS[name]
    rehearsal.edit(stack, change)
    if change is shared_vpc:
        rehearsal.faults({**APIS_ON, "existingSubnets": SHARED})
    assert "created" in rehearsal.up(stack).stdout
    assert len(services(rehearsal)) == 1
    assert changes(rehearsal.steps(*UP, stack=stack)) == {}
    if change is across_hosts:
        assert [ident for ident in rehearsal.cloud() if "kserve-config-llm-worker-pipeline-parallel" in ident]
    assert "Nothing is left" in rehearsal.down("--stack", stack).stdout
    assert rehearsal.cloud() == {}


def unprotected(config: dict[str, Any]) -> None:
    """Without what keeps the cluster from being destroyed."""
    config["llmd-gke:cluster"].update(protect=False, deletionProtection=False)


def test_prod_comes_up_as_it_is_shipped_and_goes_once_it_is_no_longer_protected(rehearsal: Rehearsal) -> None:
    rehearsal.up("prod")
    assert len(services(rehearsal)) == 1
    before = rehearsal.cloud()
    kept = rehearsal.down("--stack", "prod", check=False)
    assert kept.returncode == 1
    assert "Stack prod is protected: " in kept.stdout
    assert "cluster-control-plane" in kept.stdout
    assert rehearsal.cloud() == before
    rehearsal.edit("prod", unprotected)
    refused = rehearsal.up("prod", check=False)
    assert "production-protect" in refused.stdout
    (printed,) = re.findall(r"`(pulumi .+?)`", kept.stdout)
    rehearsal.typed(f"{printed} --yes")
    assert "Nothing is left" in rehearsal.down("--stack", "prod").stdout
    assert rehearsal.cloud() == {}


def elsewhere(config: dict[str, Any]) -> None:
    """In another region."""
    config["llmd-gke:cluster"]["zone"] = "us-east5-b"


def test_a_stack_that_moved_to_another_region_is_up_after_what_its_failure_prints(running: Rehearsal) -> None:
    running.edit("local", elsewhere)
    failed = running.up(check=False)
    assert failed.returncode == 1
    assert "already being used by" not in failed.stdout  # the Gateway goes before the subnet of its proxies
    (printed,) = re.findall(r"`(\S+=true pulumi .+?)`", failed.stdout)
    running.typed(f"{printed} --yes")
    running.up()
    assert changes(running.steps("preview")) == {}
    assert {ident.split("/")[3] for ident in running.cloud() if "/clusters/" in ident} == {"us-east5"}
    assert "Nothing is left" in running.down().stdout
    assert running.cloud() == {}
