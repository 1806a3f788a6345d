"""The command against an API server, a gateway, and none of both."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from operations.cli import main
from operations.exits import SetUpFailed, Unreachable
from operations.outputs import Endpoint
from operations.status import model_probe
from operations.status.gather import ClusterApi, SignedOut
from operations.status.objects import Snapshot, State
from tests.fakes.vllm import Behaviour, serving
from tests.operations.status.shapes import READY_SERVICE, container, node, server

ROOT = Path(__file__).parents[3]
STARTING = server("qwen-kserve-abc-1", container("main"), container("warm-up"))


class Api(BaseHTTPRequestHandler):
    """A stand-in of the API server: lists and one log, by path."""

    pages: dict[str, Any]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        path = self.path.split("?")[0].rstrip("/")
        answer = self.pages.get(path)
        status = 200 if answer is not None else 404
        body = answer if isinstance(answer, str) else json.dumps(answer or {"message": "not found"})
        if self.headers["authorization"] != "Bearer t":
            status, body = 401, json.dumps({"message": "Unauthorized"})
        elif answer == "forbidden":
            status, body = 403, json.dumps({"message": "events is forbidden: User x cannot list"})
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())


def kubeconfig(server_url: str, **user: Any) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server_url}}],
            "users": [{"name": "u", "user": user or {"token": "t"}}],
        }
    )


@contextmanager
def api(pages: dict[str, Any]) -> Generator[str]:
    version = {"major": "1", "minor": "35", "gitVersion": "v1.35.0"}
    pages["/version"] = version
    handler = type("Bound", (Api,), {"pages": pages})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield kubeconfig(f"http://127.0.0.1:{httpd.server_address[1]}")
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def read(text: str) -> Snapshot:
    async def look() -> Snapshot:
        return await (await ClusterApi.connect(text, ["models"])).snapshot()

    return asyncio.run(look())


def test_lists_come_from_our_namespaces_and_what_cannot_be_read_is_named() -> None:
    pages: dict[str, Any] = {
        "/api/v1/nodes": {"items": [node()]},
        "/api/v1/pods": {"items": [STARTING]},
        "/api/v1/namespaces/models/pods/qwen-kserve-abc-1/log": "Precompile backbone",
        "/api/v1/namespaces/models/events": "forbidden",
    }
    for namespace in ("models", "kserve", "inference-gateway"):
        items = [READY_SERVICE] if namespace == "models" else []
        pages[f"/apis/serving.kserve.io/v1alpha2/namespaces/{namespace}/llminferenceservices"] = {"items": items}
    with api(pages) as text:
        result = read(text)
    assert [len(result.nodes), len(result.pods), len(result.services)] == [1, 1, 1]
    assert result.logs == {("models", "qwen-kserve-abc-1"): "Precompile backbone"}
    message = "events cannot be read: 403 events is forbidden: User x cannot list"
    assert result.unreadable["events"] == message, "the words of the refusal, not its JSON"
    assert result.unreadable["gateways"] == "the cluster does not have the resource type gateways"
    assert "services" not in result.unreadable


def test_a_cluster_that_does_not_answer_is_said_to_be_out_of_reach() -> None:
    with api({}) as text:
        pass  # the port is free again
    with pytest.raises(Unreachable, match=r"docs/security\.md"):
        read(text)


def test_a_token_that_is_not_accepted_is_told_from_a_cluster_out_of_reach() -> None:
    with api({}) as text, pytest.raises(SignedOut, match="rejects the credentials"):
        read(text.replace("token: t", "token: old"))


def test_a_sign_in_program_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "no-such-auth-plugin"}
    with api({}) as text:
        text = kubeconfig(yaml.safe_load(text)["clusters"][0]["cluster"]["server"], exec=plugin)
        with pytest.raises(SetUpFailed, match="gcloud components install gke-gcloud-auth-plugin"):
            read(text)


def ask(behaviour: Behaviour, **more: Any) -> Any:
    with serving(behaviour) as url:
        [line] = asyncio.run(model_probe.lines([Endpoint("qwen", url, "qwen", **more)], "eu4a"))
    return line


@pytest.mark.parametrize(
    ("behaviour", "gateway", "state", "text"),
    [
        (Behaviour(), "gke", State.GOOD, "a token in 0."),
        (Behaviour(names=("other",)), "gke", State.BAD, "healthy, but a completion returns 404"),
        (Behaviour(unhealthy=True), "gke", State.BAD, "health check requests the wrong path"),
        (Behaviour(unhealthy=True), "istio", State.BAD, "no pod of the model is ready"),
    ],
)
def test_a_model_is_good_when_it_answers_and_what_keeps_it_from_that_is_explained(
    behaviour: Behaviour, gateway: str, state: State, text: str
) -> None:
    line = ask(behaviour, gateway=gateway)
    assert (line.state, text in line.text) == (state, True), line


def test_a_gateway_with_iap_is_not_asked_without_a_token() -> None:
    behaviour = Behaviour(seen=[])
    line = ask(behaviour, behind_iap=True)
    assert (line.state, "IAP_TOKEN is not set" in line.text) == (State.UNKNOWN, True)
    assert "gcloud auth print-identity-token" in line.fix
    assert behaviour.seen == []


def test_a_stack_that_is_not_up_leaves_status_7(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path))
    assert main(["status", "--stack", "local"]) == 7
