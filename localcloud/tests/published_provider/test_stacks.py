"""The shipped stacks with the provider that everybody uses, and what it says of changes."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import Rehearsal

KEY = "projects/my-project/locations/us-east5/keyRings/r/cryptoKeys/k"


@pytest.mark.parametrize("stack", ["dev", "eu4a"])
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


def clustered(**over: object) -> Any:
    return lambda config: config["llmd-gke:cluster"].update(over)


def test_what_is_switched_off_goes_off(published: Rehearsal) -> None:
    published.edit("dev", clustered(binaryAuthorization=True, secretManager=True, encryption={"database": KEY}))
    published.up("dev")

    def cluster() -> dict[str, Any]:
        return next(
            value for name, value in published.kept()["resources"].items() if name.endswith("/clusters/llmd-dev")
        )

    assert cluster()["databaseEncryption"]["state"] == "ENCRYPTED"
    published.edit("dev", clustered(binaryAuthorization=False, secretManager=False, encryption={}))
    steps = changes(published.steps(*UP, stack="dev"))
    # The APIs that the options needed leave the stack, and stay enabled.
    assert {name: step for name, step in steps.items() if step != "delete"} == {"cluster-control-plane": "update"}
    after = cluster()
    assert after["binaryAuthorization"] == {"evaluationMode": "DISABLED"}
    assert after["databaseEncryption"]["state"] == "DECRYPTED"
    assert after["secretManagerConfig"] == {"enabled": False}
    assert changes(published.steps("preview", stack="dev")) == {}


def test_a_stack_that_is_reached_by_dns_has_no_endless_difference(published: Rehearsal) -> None:
    published.edit("dev", clustered(endpoint="dns"))
    published.up("dev")
    assert changes(published.steps("preview", stack="dev")) == {}
    published.pulumi("refresh", "--yes", "--stack", "dev")
    assert changes(published.steps("preview", stack="dev")) == {}


def test_an_image_cache_comes_before_what_pulls_through_it_and_goes_when_it_is_removed(published: Rehearsal) -> None:
    def cached(cache: object) -> Any:
        return lambda config: (
            config.pop("llmd-gke:imageCache", None)
            or config.update({} if cache is None else {"llmd-gke:imageCache": cache})
        )

    def repositories() -> set[str]:
        return {name.rpartition("/")[2] for name in published.kept()["resources"] if "/repositories/" in name}

    published.edit("dev", cached({}))
    published.up("dev")
    assert repositories() == {f"llmd-dev-{ending}" for ending in ("docker-hub", "ghcr", "k8s", "quay")}
    published.pulumi("refresh", "--yes", "--stack", "dev")
    assert changes(published.steps("preview", stack="dev")) == {}
    published.edit("dev", cached(None))
    steps = changes(published.steps(*UP, stack="dev"))
    assert {name for name, step in steps.items() if "delete" in step and "image-cache" in name} >= {"image-cache-ghcr"}
    assert repositories() == set()
    assert changes(published.steps("preview", stack="dev")) == {}
