"""The front door's Lua script in a real Envoy: what a model receives, which version, and why a client gets a 400."""

from __future__ import annotations

import json
import math
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest

from llmd_gke.catalog import front_door
from llmd_gke.catalog.streamed_usage import FILTER
from llmd_gke.manifests.front_door import models, script
from llmd_gke.settings import FrontDoorSettings, ModelSettings
from localcloud.gke_gateway.envoy.process import binary
from localcloud.tests.gke_gateway.servers import ModelServer, free_port
from tests.waiting import eventually

REQUESTS = 1000


def divided(name: str, percent: int, **rollout: object) -> tuple[ModelSettings, ...]:
    """Two versions of a model, in the middle of a rollout; only the second one has the adapter ``NAME-sql``."""
    adapters = [f"--lora-modules={name}-sql=/mnt/sql"]
    given = {"to": "v2", "percent": percent, **rollout}
    versions = [{"name": "v1"}, {"name": "v2", "extraArgs": adapters}]
    model = {"name": name, "uri": "hf://Qwen/Qwen3-4B", "pool": "p", "versions": versions, "rollout": given}
    return ModelSettings.model_validate(model).expanded()


MODELS = [
    *divided("none", 0),
    *divided("few", 5),
    *divided("half", 50),
    *divided("all", 100),
    *divided("sticky", 50, sticky=True),
]
DOOR = FrontDoorSettings.model_validate({"callers": [{"name": "team-a"}, {"name": "batch"}]})
AI_ERROR = '{"type":"error","error":{"type":"InvalidRequest","code":"400","message":"%s"}}'
BODIES: dict[str, tuple[int, str, str | None]] = {
    "picker": (400, 'must have "prompt"\n\\ field é', 'must have "prompt"\n\\ field é'),
    "json-array": (400, '["prompt"]', '["prompt"]'),
    "ai-gateway": (400, AI_ERROR % 'invalid character "x" after \\', 'invalid character "x" after \\'),
    "envoy": (400, "", "The path, a header or the body of the request is not valid."),
    "model": (400, '{"error": {"message": "max_tokens is too large", "code": 400}}', None),
    "model-indented": (400, ' \n{"object": "error", "message": "no"}', None),
    "ai-gateway-422": (422, AI_ERROR % 'no "tool"', 'no "tool"'),
    "model-422": (422, '{"detail": []}', None),
    "other-status": (418, "must have prompt", None),
}
"""By path: status and body of an answer, and the message that the client gets; none where the answer is unchanged."""


def typed(kind: str, **more: Any) -> dict[str, Any]:
    return {"typed_config": {"@type": f"type.googleapis.com/envoy.extensions.filters.{kind}", **more}}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    made = ModelServer("127.0.0.1", free_port())
    yield made
    made.close()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Iterator[httpx.Client]:
    """A client of an Envoy with the script, fixed answers, and a model that answers with the headers that it got."""
    folder, port = tmp_path_factory.mktemp("envoy"), free_port()
    fixed = [
        {"match": {"path": f"/{name}"}, "direct_response": {"status": status, "body": {"inline_string": body}}}
        for name, (status, body, _) in BODIES.items()
    ]
    versions: list[dict[str, Any]] = []
    for one in MODELS:
        (rule,) = cast("Any", models.route(one)["spec"])["rules"]
        headers = [
            {"name": given["name"], "string_match": {"safe_regex": {"regex": given["value"]}}}
            for given in rule["matches"][0]["headers"]
        ]
        answer = {"status": 200, "body": {"inline_string": one.name}}
        versions.append({"match": {"prefix": "/v1", "headers": headers}, "direct_response": answer})
    # Envoy Gateway sorts routes by the number of their headers.
    fixed += sorted(versions, key=lambda route: -len(route["match"]["headers"]))
    seen = {"header": {"key": "x-path", "value": "%REQ(:PATH)%"}}
    model = {"match": {"prefix": "/v1"}, "route": {"cluster": "model"}, "request_headers_to_add": [seen]}
    hosts = [{"name": "door", "domains": ["*"], "routes": [*fixed, model]}]
    lua = {"name": "lua", **typed("http.lua.v3.Lua", default_source_code={"inline_string": script.code(DOOR, MODELS)})}
    abort = {"http_status": 400, "percentage": {"numerator": 100}}
    earlier = typed("http.fault.v3.HTTPFault", abort=abort, headers=[{"name": "x-earlier", "present_match": True}])
    http = [FILTER, {"name": "earlier", **earlier}, lua, {"name": "router", **typed("http.router.v3.Router")}]
    manager = typed(
        "network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="door",
        route_config={"virtual_hosts": hosts},
        http_filters=http,
    )

    def at(number: int) -> dict[str, Any]:
        return {"address": {"socket_address": {"address": "127.0.0.1", "port_value": number}}}

    listener = {"name": "door", **at(port), "filter_chains": [{"filters": [{"name": "manager", **manager}]}]}
    endpoints = {"cluster_name": "model", "endpoints": [{"lb_endpoints": [{"endpoint": at(server.port)}]}]}
    cluster = {"name": "model", "load_assignment": endpoints}
    config = folder / "envoy.json"
    config.write_text(json.dumps({"static_resources": {"listeners": [listener], "clusters": [cluster]}}))
    command = [binary(), "--config-path", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as client,
    ):

        def answers() -> bool:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                return bool(client.get("/v1").status_code)
            except httpx.TransportError:
                return False

        try:
            eventually(answers)
            yield client
        finally:
            process.terminate()


@pytest.mark.parametrize("name", BODIES)
def test_a_400_says_why_in_openais_form_and_a_models_own_is_unchanged(door: httpx.Client, name: str) -> None:
    status, body, message = BODIES[name]
    answer = door.get(f"/{name}")
    assert answer.status_code == status
    if message is None:
        assert answer.text == body
    else:
        assert answer.headers["content-type"] == "application/json"
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": "invalid_request"}
        assert answer.json() == {"error": error}


def test_a_400_of_a_filter_before_the_script_such_as_ai_gateways_says_why(door: httpx.Client) -> None:
    assert door.get("/v1", headers={"x-earlier": "1"}).json()["error"]["message"] == "fault filter abort"


@pytest.mark.parametrize("query", ["", "?", "?api-version=2024-02-01", "?x=/v1/models?y", "?api_key=abc#z"])
def test_a_model_and_its_picker_get_the_path_without_a_query_and_the_caller_of_the_key(
    door: httpx.Client, query: str
) -> None:
    headers = {front_door.CALLER_HEADER: "team-a.next"}
    seen = {
        name.lower(): value
        for name, value in door.get(f"/v1/chat/completions{query}", headers=headers).json()["headers"].items()
    }
    assert seen["x-path"] == "/v1/chat/completions"
    named = (front_door.CALLER_HEADER, *front_door.FAIRNESS_HEADERS, *front_door.OBJECTIVE_HEADERS)
    assert {seen[name] for name in named} == {"team-a"}


def test_a_caller_gets_its_list_of_models_whatever_the_query(door: httpx.Client) -> None:
    for path in ("/v1/models", "/v1/models?limit=5"):
        answer = door.get(path, headers={front_door.CALLER_HEADER: "batch"})
        ids = [one["id"] for one in answer.json()["data"]]
        assert len(ids) == len(set(ids))
        assert {"half", "half-v2", "half-sql"} <= {*ids}


def version(door: httpx.Client, model: str, **headers: str) -> str:
    return door.get("/v1/x", headers={front_door.MODEL_HEADER: model, **headers}).text


@pytest.mark.parametrize(("model", "percent"), [("none", 0), ("few", 5), ("half", 50), ("all", 100)])
def test_a_version_gets_its_part_of_the_requests_whatever_a_client_sends(
    door: httpx.Client, model: str, percent: int
) -> None:
    forged = {"x-request-id": "mine", front_door.SHARE_HEADER: "direct"}
    counts = Counter(version(door, model, **(forged if number % 2 else {})) for number in range(REQUESTS))
    assert {*counts} <= {model, f"{model}-v2"}
    share = percent / 100
    assert abs(counts[f"{model}-v2"] - share * REQUESTS) <= 4 * math.sqrt(REQUESTS * share * (1 - share))


def test_a_sticky_rollout_divides_callers(door: httpx.Client) -> None:
    def of(caller: str) -> str:
        return version(door, "sticky", **{front_door.CALLER_HEADER: caller})

    first = {caller: of(caller) for caller in map(str, range(200))}
    assert {caller: of(f"{caller}.next") for caller in first} == first
    assert 60 < Counter(first.values())["sticky-v2"] < 140


def test_a_name_that_one_version_answers_to_leads_there(door: httpx.Client) -> None:
    names = {"none-v2": "none-v2", "publishers/models/models/none-v2": "none-v2", "none-sql": "none-v2"}
    assert {name: version(door, name) for name in names} == names


TEXT = 'a "usage": {x}, "choices": [] \n\n é'


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ('{"model":"x","stream":true}', False),
        ('{"model":"x", "s\\u0074ream" : true, "stream_options":{"include_usage": false} }\n', False),
        ('{"model":"x","stream":true,"user":"\\"include_usage\\": true"}', False),
        ('{"model":"x","stream":true,"stream_options":{"include_usage": true}}', True),
    ],
)
def test_a_stream_reports_usage_and_shows_it_to_clients_that_asked(
    door: httpx.Client, server: ModelServer, path: str, asked: str, shown: bool
) -> None:
    """The events are those of vLLM 0.27, in pieces that end anywhere."""
    sent = [{"choices": [{"text": TEXT}]}, {"choices": [{"text": "b"}]}, {"choices": [], "usage": {"total_tokens": 5}}]
    text = "".join(f"data: {json.dumps(one, separators=(',', ':'))}\n\n" for one in sent) + "data: [DONE]\n\n"
    server.events = [text.encode()[at : at + 7] for at in range(0, len(text.encode()), 7)]
    answer = door.post(path, content=asked, headers={"content-type": "application/json"})
    *lines, end = answer.content.decode().removesuffix("\n\n").split("\n\n")
    assert end == "data: [DONE]"
    assert [json.loads(line.removeprefix("data: ")) for line in lines] == (sent if shown else sent[:2])
    if path == "/v1/completions":  # AI Gateway asks in chats
        assert json.loads(server.body)["stream_options"] == {"include_usage": True}


def test_a_request_without_a_stream_is_passed_on_as_it_is(door: httpx.Client, server: ModelServer) -> None:
    body = b'{"model":"x","prompt":"\\"stream\\": true"}'
    door.post("/v1/completions", content=body)
    assert server.body == body
