"""The stand-in's process, protocol and files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from google.protobuf import empty_pb2

from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.values import Bag, decode, encode, redact, restore
from localcloud.tests.providers.conftest import ENDPOINT, Standin, kubeconfig, start, write_google

NAMESPACE = "kubernetes:core/v1:Namespace"
Start = Callable[[], Standin]


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """The folder of a cloud with a cluster."""
    cloud = tmp_path / "cloud"
    cloud.mkdir()
    write_google(cloud)
    return cloud


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Start]:
    """Start stand-ins of this test's own; the cloud is in ``tmp_path``."""
    running: list[Standin] = []

    def begin() -> Standin:
        running.append(start(tmp_path.parent))
        running[-1].configure(kubeconfig=kubeconfig(f"https://{ENDPOINT}"))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def namespace(standin: Standin, name: str) -> str:
    """Makes one; its id."""
    inputs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    return standin.create(NAMESPACE, inputs).id


def faults(folder: Path, **given: object) -> None:
    (folder / "faults.json").write_text(json.dumps({"enabledApis": ["*"], **given}))


def test_cancel_ends_a_long_wait_and_the_object_is_in_the_cloud(launch: Start, tmp_path: Path):
    faults(tmp_path, delaySeconds={NAMESPACE: 3600})
    standin = launch()
    answers: list[str] = []
    waiting = threading.Thread(target=lambda: answers.append(namespace(standin, "models")))
    waiting.start()
    cloud = tmp_path / "kubernetes.json"
    deadline = threading.Event()
    while not (cloud.exists() and "models" in cloud.read_text()):
        deadline.wait(0.02)
        assert waiting.is_alive()
    standin.stub.Cancel(empty_pb2.Empty())
    waiting.join(timeout=10)
    assert not waiting.is_alive()
    assert answers == ["models"]


def test_two_processes_share_one_cloud_without_losing_anything(launch: Start, tmp_path: Path):
    faults(tmp_path)
    both = [launch() for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: namespace(both[i % 2], f"models-{i}"), range(40)))
    content = json.loads((tmp_path / "kubernetes.json").read_text())
    assert all(f'"{ident}"' in json.dumps(content) for ident in made)
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert sum(call["method"] == "Create" for call in calls) == 40
    assert len({call["pid"] for call in calls}) == 2


def test_a_change_that_fails_leaves_the_file_as_it_was(tmp_path: Path):
    cloud = CloudFile(tmp_path / "cloud.json")
    with cloud.edit() as content:
        content["kept"] = 1

    with pytest.raises(RuntimeError), cloud.edit() as content:  # noqa: PT012 - the block is what fails
        content["lost"] = 2
        raise RuntimeError("in the middle")
    assert cloud.read() == {"kept": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cloud.json", "cloud.lock", "google.json"]


def test_a_damaged_file_is_named(tmp_path: Path):
    (tmp_path / "cloud.json").write_text("{")
    with pytest.raises(ValueError, match=r"cloud\.json is not JSON.*remove the file"):
        CloudFile(tmp_path / "cloud.json").read()


def test_a_misspelt_fault_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "faults.json").write_text('{"stockouts": []}')
    monkeypatch.setenv("LLMD_GKE_FAULTS", str(tmp_path / "faults.json"))
    with pytest.raises(ValueError, match="unknown stockouts"):
        Faults().read()


def test_secrets_survive_the_wire_both_ways():
    bag = decode(encode({"a": {"b": "x"}, "c": [1, "y"]}, [("a", "b"), ("c", 1)]))
    assert bag == Bag({"a": {"b": "x"}, "c": [1, "y"]}, frozenset({("a", "b"), ("c", 1)}))


def test_a_redacted_secret_comes_back_only_to_who_knows_it():
    stored = redact({"a": {"b": "x"}, "c": "z"}, [("a", "b")])
    assert "x" not in json.dumps(stored["a"]).replace("sha256", "")[:20]
    assert restore(stored, {"a": {"b": "x"}}) == {"a": {"b": "x"}, "c": "z"}
    assert restore(stored, {"a": {"b": "wrong"}}) == stored
