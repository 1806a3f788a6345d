"""APIs, service accounts and roles: nothing works before its API is on and its account is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from llmd_common.pulumi_signatures import UNKNOWN

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

SERVICE = "gcp:projects/service:Service"
ACCOUNT = "gcp:serviceaccount/account:Account"
ROLE = "gcp:projects/iAMMember:IAMMember"
NETWORK = "gcp:compute/network:Network"


@pytest.fixture
def bare(google: Standin) -> Standin:
    """A project in which nothing is enabled."""
    google.faults()
    return google


def test_a_call_of_an_api_that_is_off_is_refused(bare: Standin):
    with pytest.raises(
        Exception,
        match=r"Error 403: compute\.googleapis\.com has not been used .*SERVICE_DISABLED.*accessNotConfigured",
    ):
        bare.create(NETWORK, {"name": "vpc"})
    bare.create(SERVICE, {"service": "compute.googleapis.com"})
    bare.create(NETWORK, {"name": "vpc"})


def test_an_api_stays_on_unless_destroying_shall_switch_it_off(bare: Standin):
    keep = bare.create(SERVICE, {"service": "compute.googleapis.com"})
    network = bare.create(NETWORK, {"name": "vpc"})
    bare.delete(SERVICE, keep)
    bare.create(NETWORK, {"name": "other"})
    drop = bare.create(SERVICE, {"service": "compute.googleapis.com", "disableOnDestroy": True})
    bare.delete(SERVICE, drop)
    with pytest.raises(Exception, match="SERVICE_DISABLED"):
        bare.delete(NETWORK, network)


def test_the_last_object_takes_all_along_but_enabled_apis(bare: Standin):
    made = bare.create(SERVICE, {"service": "compute.googleapis.com"})
    bare.delete(SERVICE, made)
    # resource_google_project_service.go: without disable_on_destroy the API stays enabled.
    assert json.loads((bare.folder / "google.json").read_text()) == {"apis": {"rehearsal": ["compute.googleapis.com"]}}


def test_enabling_twice_is_no_error(bare: Standin):
    for _ in range(2):
        assert bare.create(SERVICE, {"service": "compute.googleapis.com"}).id == "rehearsal/compute.googleapis.com"


def test_the_mail_address_of_an_account_is_known_in_the_first_preview(google: Standin):
    preview = google.create(ACCOUNT, {"accountId": "nodes-of-gke"}, preview=True)
    assert preview.outputs["email"] == "nodes-of-gke@rehearsal.iam.gserviceaccount.com"
    assert preview.outputs["uniqueId"] == UNKNOWN


def test_a_role_needs_its_account(google: Standin):
    role = {
        "project": "rehearsal",
        "role": "roles/viewer",
        "member": "serviceAccount:nodes-of-gke@rehearsal.iam.gserviceaccount.com",
    }
    with pytest.raises(Exception, match=r"Service account nodes-of-gke@.* does not exist\., badRequest"):
        google.create(ROLE, role)
    google.create(ACCOUNT, {"accountId": "nodes-of-gke"})
    assert google.create(ROLE, role).id == f"rehearsal/roles/viewer/{role['member']}"


def test_an_account_id_that_google_would_refuse_is_refused(google: Standin):
    with pytest.raises(Exception, match='"account_id"'):
        google.check(ACCOUNT, {"accountId": "abc"})


def test_the_project_has_a_number(google: Standin):
    from localcloud.providers.protocol.protos import provider_pb2
    from localcloud.providers.protocol.values import decode

    answer = google.stub.Invoke(provider_pb2.InvokeRequest(tok="gcp:organizations/getProject:getProject"))
    result = decode(getattr(answer, "return")).values
    assert result["projectId"] == "rehearsal"
    assert str(result["number"]).isdecimal()


def test_the_token_of_the_client_is_secret(google: Standin):
    from localcloud.providers.protocol.protos import provider_pb2
    from localcloud.providers.protocol.values import decode

    answer = google.stub.Invoke(provider_pb2.InvokeRequest(tok="gcp:organizations/getClientConfig:getClientConfig"))
    assert ("accessToken",) in decode(getattr(answer, "return")).secrets


def test_nobody_is_let_into_a_bucket_that_is_not_there(google: Standin):
    member = {"bucket": "my-weights", "role": "roles/storage.objectViewer", "member": "user:someone@example.com"}
    kind = "gcp:storage/bucketIAMMember:BucketIAMMember"
    with pytest.raises(Exception, match="b/my-weights"):
        google.create(kind, member)
    google.faults(enabledApis=["*"], existingBuckets=["my-weights"])
    google.create(kind, member)
