"""Google's Prometheus API and the metadata server of a laptop cloud: who gets a token, and who may read with it."""

from __future__ import annotations

import json

import pytest

from llmd_gke.catalog.scaling import READER_ROLE
from localcloud.common.https import GetResponse
from localcloud.monitoring.query_api import TOKEN_PATH, QueryApi
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.monitoring.cluster import pod

ADDRESS = "10.244.0.7"
GOOGLE = {"Metadata-Flavor": "Google"}
QUERY = "/v1/projects/demo/location/global/prometheus/api/v1/query?query=up"
MEMBER = "principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/demo.svc.id.goog/subject/ns/{}/sa/{}"


def granted(space: str = "keda", name: str = "demo-keda", role: str = READER_ROLE, project: str = "demo") -> JsonObject:
    """As the emulator of Google's APIs keeps it."""
    members: list[JsonValue] = [MEMBER.format(space, name)]
    return {"policies": {f"projects/{project}": {"bindings": [{"role": role, "members": members}]}}}


def api(records: JsonObject) -> tuple[QueryApi, list[str]]:
    asked: list[str] = []

    def ask(path: str) -> GetResponse:
        asked.append(path)
        return GetResponse(200, b"{}")

    made = QueryApi(lambda: records, ask)
    operator = pod("keda-operator", namespace="keda", podIP=ADDRESS, serviceAccountName="demo-keda")
    gone = pod("old", podIP="10.244.0.8", phase="Succeeded", serviceAccountName="demo-keda")
    made.show([operator, gone])
    return made, asked


def token(made: QueryApi) -> dict[str, str]:
    answer = made.metadata(f"{TOKEN_PATH}?scopes=x", ADDRESS, GOOGLE)
    assert answer.status == 200
    return {"Authorization": f"Bearer {json.loads(answer.content)['access_token']}"}


def test_a_pod_with_the_role_reads_out_of_prometheus() -> None:
    made, asked = api(granted())
    assert made.query(QUERY, token(made)).status == 200
    assert asked == ["/api/v1/query?query=up"]


@pytest.mark.parametrize(
    "records",
    [
        {},
        granted(role="roles/viewer"),
        granted(project="other"),
        granted(name="other-keda"),
        granted(space="models"),
    ],
)
def test_an_account_without_the_role_is_refused_with_the_role_to_grant(records: JsonObject) -> None:
    made, asked = api(records)
    answer = made.query(QUERY, token(made))
    assert answer.status == 403
    assert f"keda/demo-keda. Fix: grant it {READER_ROLE}" in json.loads(answer.content)["error"]["message"]
    assert asked == []


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer other"}, {"Authorization": "Basic x"}])
def test_a_request_without_a_token_of_the_metadata_server_is_refused(headers: dict[str, str]) -> None:
    made, asked = api(granted())
    assert made.query(QUERY, headers).status == 401
    assert asked == []


def test_only_addresses_of_running_pods_get_a_token_and_only_with_googles_header() -> None:
    made, _ = api(granted())
    assert made.metadata(TOKEN_PATH, "10.244.0.8", GOOGLE).status == 404
    assert made.metadata(TOKEN_PATH, "10.244.0.99", GOOGLE).status == 404
    assert made.metadata(TOKEN_PATH, ADDRESS, {}).status == 403
    assert made.metadata("/", ADDRESS, GOOGLE).status == 200
    assert made.metadata("/computeMetadata/v1/project/project-id", ADDRESS, GOOGLE).status == 404
