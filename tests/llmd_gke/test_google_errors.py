"""Texts that Google and its provider really write, and what is said about them."""

from __future__ import annotations

import re

import pytest

from llmd_gke.google_errors import CLUSTER_ALONE, ERRORS, explained, pool_again, pool_fix
from llmd_gke.repository import CLONE

CLUSTER = "urn:pulumi:dev::llmd-gke::llmd-gke:cluster:Cluster$gcp:container/cluster:Cluster::cluster-control-plane"
EXISTS = "googleapi: Error 409: The resource 'projects/p/regions/r/addresses/x' already exists, alreadyExists"


@pytest.mark.parametrize(
    ("message", "cause", "fix"),
    [
        ('* NodePool v6e1 was created in the error state "ERROR"', "does not report why", "doctor --stack dev --probe"),
        (
            "[GCE_STOCKOUT]: Instance 'gke-x-0' creation failed",
            "has no free host of this type",
            "another zone or capacity",
        ),
        (
            "[GCE_QUOTA_EXCEEDED]: Quota 'TPUS_PER_TPU_FAMILY' exceeded. Limit: 0.0",
            "quota is exhausted",
            "names the quota",
        ),
        ("googleapi: Error 401: Request had invalid authentication credentials.", "expired", "gcloud auth login"),
        ("googleapi: Error 403: … has not been used in project p before or it is disabled", "is disabled", "wait"),
        (EXISTS, "created by hand", "pulumi import"),
        ("googleapi: Error 400: … is already being used by 'x', resourceInUse", "still uses it", "llmd-gke destroy"),
        ("googleapi: Error 503: backend error, backendError", "rejected requests temporarily", "wait"),
        ('Error creating Router: Post "https://compute.googleapis.com/v1/x": EOF', "connection", "try again"),
        ("googleapi: Error 409: The operation was aborted: concurrent changes", "another change", "try again"),
        ("error reading from server: EOF", "process ended", "try again"),
        ('connection error: desc = "transport: Error while dialing: dial tcp: refused"', "process ended", "try again"),
        ("Detected that /x/pulumi-resource-gcp exited prematurely.", "process ended", "try again"),
        (
            "configured Kubernetes cluster is unreachable. If the cluster",
            "another one replaced it",
            "DELETE_UNREACHABLE",
        ),
        (
            "can't delete Helm Release with unreachable cluster. Reason: x",
            "is gone",
            "PULUMI_K8S_DELETE_UNREACHABLE=true",
        ),
        ("Error while waiting to delete default node pool: internal error", "leave it", "delete default-pool"),
        ("Error deleting default node pool: googleapi: Error 401: Request had", "leave it", "delete default-pool"),
        ("could not read plugin [/x/pulumi-resource-kubernetes]: exit status -1", "process ended", "try again"),
        ("uninstall: Release not loaded: lws: release: not found", "no longer in the cluster", "refresh --stack dev"),
        ("googleapi: Error 404: Not found: projects/p", "deleted by hand", "refresh --stack dev"),
        ("googleapi: got HTTP response code 404 with body: <html>", "lost its name", "import"),
        ("Error waiting for Creating Router: internal error", "its own service failed", "try again"),
        (f"creating {CLUSTER}: 1 error occurred:\n\t* internal error", "later updates count it", "pulumi destroy"),
        (
            f"creating {CLUSTER}: 1 error occurred:\n\t* Zone x: GCE_STOCKOUT",
            "later updates count it",
            "pulumi destroy",
        ),
        (f"creating {CLUSTER}: 1 error occurred:\n\t* googleapi: Error 503: x", "rejected requests", "wait"),
        (
            f"creating {CLUSTER}: 1 error occurred:\n\t* Error deleting default node pool: x",
            "later updates leave it",
            "delete default-pool",
        ),
        ("1 error occurred:\n\t* internal error\n", "its own service failed", "try again"),
        (
            'not successfully created by the Kubernetes API server: networkpolicies "x" already exists',
            "a destroy that was interrupted",
            "finish the destroy",
        ),
        ("cannot re-use a name that is still in use", "a destroy that was interrupted", "finish the destroy"),
        ("Error waiting to create Address: backend down", "failed later", "the cause that the message names"),
    ],
)
def test_a_known_error_has_a_cause_and_a_fix(message: str, cause: str, fix: str) -> None:
    ((explanation, do),) = explained([message], "dev")
    assert cause in explanation
    assert fix in do


def test_a_cause_is_said_once_and_what_is_not_google_s_is_left_alone() -> None:
    others = ["dial tcp 10.0.0.1:443: connection refused", 'namespaces "x" already exists', "update failed"]
    others.append("Internal error occurred: failed calling webhook")  # of a Kubernetes API server
    assert len(list(explained([EXISTS, EXISTS, *others], "dev"))) == 1


def test_every_cause_is_in_the_documentation() -> None:
    page = (CLONE / "docs" / "troubleshooting.md").read_text()
    assert [one.cause for one in ERRORS if one.cause.split(";")[0].split(":")[0] not in page] == []


@pytest.mark.parametrize("pool", ["v6e4", "system"])
def test_the_pattern_that_makes_a_pool_again_fits_its_resource_alone(pool: str) -> None:
    (pattern,) = re.findall(r"--replace '([^']+)'", pool_again(pool, "eu4a"))
    # Pulumi's own patterns: `**` is anything, `*` anything but a colon (pulumi/pkg/resource/deploy/target.go).
    expression = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
    names = (CLONE / "tests" / "components" / "golden" / "eu4a.txt").read_text().splitlines()
    (fits,) = [name for name in names if re.fullmatch(expression, name)]
    assert fits.endswith({"v6e4": "NodePool::v6e4-nodes", "system": "NodePool::cluster-system"}[pool])


def test_the_pattern_that_deletes_an_incomplete_cluster_fits_it_alone() -> None:
    (pattern,) = re.findall(r"--target '([^']+)'", CLUSTER_ALONE)
    expression = re.escape(pattern).replace(r"\*\*", ".*")
    names = (CLONE / "tests" / "components" / "golden" / "eu4a.txt").read_text().splitlines()
    (fits,) = [name for name in names if re.fullmatch(expression, name)]
    assert "gcp:container/cluster:Cluster::" in fits


def test_a_reason_of_gke_that_is_not_known_is_left_to_the_reader() -> None:
    assert pool_fix("a meteor", "dev") == "fix the cause that GKE names"
