"""Texts that Google and its provider really write, and what is said about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llmd_gke.google_errors import CLUSTER_ALONE, ERRORS, GONE, explained, explanation, pool_again, pool_fix
from llmd_gke.repository import CLONE

MESSAGES = [
    (key, text.replace(r"\n", "\n").replace(r"\t", "\t"))
    for file in sorted((Path(__file__).parent / "messages").glob("*.txt"))
    for key, _, text in (line.partition(" | ") for line in file.read_text().splitlines())
]
"""Texts that Google, its provider and Kubernetes' really write, with the key of the entry that explains each: no other
entry may match them, and none those of ``none``."""

PLUGIN = "configured Kubernetes cluster is unreachable: getting credentials: exec: executable x not found"
BARE = "configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this resource"


def test_a_message_is_explained_by_its_cause_or_not_at_all() -> None:
    for key, message in MESSAGES:
        for spelling in (message, f"error: {message}", message.upper()):
            entry = explanation(spelling)
            assert (entry.key if entry else "none") == key, spelling


def test_every_entry_has_a_message_and_none_has_two_entries() -> None:
    assert {key for key, _ in MESSAGES} == {one.key for one in ERRORS} | {"none"}
    assert len({one.key for one in ERRORS}) == len(ERRORS)


def test_only_a_cluster_that_may_be_gone_leads_to_removing_objects_from_the_state() -> None:
    assert [one.key for one in ERRORS if "DELETE_UNREACHABLE" in one.fix] == ["cluster-gone"]
    assert {one.key for one in ERRORS if "destroy --" in one.fix} == {"cluster-incomplete", "cluster-not-followed"}


def test_what_keeps_this_machine_from_the_cluster_is_no_sign_that_it_is_gone() -> None:
    ((_, fix),) = explained([BARE, PLUGIN], "dev")
    assert "DELETE_UNREACHABLE" not in fix
    assert "refresh --stack dev" in dict(explained([BARE], "dev"))[GONE.cause]


def test_a_cause_is_said_once() -> None:
    exists = "googleapi: Error 409: The resource 'projects/p/regions/r/addresses/x' already exists, alreadyExists"
    assert len(list(explained([exists, exists, "update failed"], "dev"))) == 1


@pytest.mark.parametrize(
    ("fix", "resource"),
    [
        (pool_again("v6e1", "eu4a"), "NodePool::v6e1-nodes"),
        (pool_again("system", "eu4a"), "NodePool::cluster-system"),
        (CLUSTER_ALONE, "gcp:container/cluster:Cluster::cluster-control-plane"),
    ],
)
def test_the_pattern_of_a_fix_fits_its_resource_alone(fix: str, resource: str) -> None:
    (pattern,) = re.findall(r"--(?:replace|target) '([^']+)'", fix)
    # Pulumi's own patterns: `**` is anything, `*` anything but a colon (pulumi/pkg/resource/deploy/target.go).
    expression = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
    names = (CLONE / "tests" / "components" / "golden" / "prod.txt").read_text().splitlines()
    (fits,) = [name for name in names if re.fullmatch(expression, name)]
    assert fits.endswith(resource)


def test_a_reason_of_gke_that_is_not_known_is_left_to_the_reader() -> None:
    assert pool_fix("a meteor", "dev") == "fix the cause that GKE names"
