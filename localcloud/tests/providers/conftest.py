"""The stand-in for Kubernetes as the engine sees it: its executable, spoken to in the provider protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf import struct_pb2

from localcloud.google_api.rules.references import CLUSTER, NODE_POOL
from localcloud.providers.protocol.protos import provider_pb2, provider_pb2_grpc
from localcloud.providers.protocol.values import JsonObject, decode, encode
from localcloud.providers.protocol.values import Path as PropertyPath

REPOSITORY = Path(__file__).parents[3]
Props = dict[str, Any]


class Refusal(Exception):
    """A check failure or a refused call; the text is what a user would read."""


@dataclass
class Bag:
    """Properties from the wire, with the paths of what is secret. Loosely typed: tests index into it."""

    values: Props
    secrets: frozenset[PropertyPath]


def unpack(struct: struct_pb2.Struct) -> Bag:
    bag = decode(struct)
    return Bag(bag.values, bag.secrets)


@dataclass
class Result:
    """What Create answered, and the inputs that Check made."""

    id: str
    inputs: Props
    outputs: Props
    secrets: frozenset[PropertyPath]


class Standin:
    """One running stand-in. Methods do what the engine does: Check before everything, secrets marked."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, faults: Path) -> None:
        assert process.stdout is not None
        self.process, self.folder, self.faults_file = process, folder, faults
        self.port = int(process.stdout.readline())
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)

    def configure(self, **config: object) -> None:
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode(cast(JsonObject, config))))

    def faults(self, **faults: object) -> None:
        self.faults_file.write_text(json.dumps(faults))

    def check(self, kind: str, inputs: Props, *, old: Props | None = None, secrets: Any = ()) -> Bag:
        request = provider_pb2.CheckRequest(
            urn=urn(kind),
            type=kind,
            name="it",
            randomSeed=b"seed",
            olds=encode(old or {}),
            news=encode(inputs, secrets),
        )
        response = self.stub.Check(request)
        if response.failures:
            raise Refusal("; ".join(f"{f.property}: {f.reason}" for f in response.failures))
        return unpack(response.inputs)

    def create(
        self,
        kind: str,
        inputs: Props,
        *,
        timeout: float = 0,
        secrets: Any = (),
    ) -> Result:
        checked = self.check(kind, inputs, secrets=secrets)
        request = provider_pb2.CreateRequest(
            urn=urn(kind),
            type=kind,
            name="it",
            timeout=timeout,
            properties=encode(checked.values, checked.secrets),
        )
        with refusals():
            response = self.stub.Create(request)
        outputs = unpack(response.properties)
        return Result(response.id, checked.values, outputs.values, outputs.secrets)

    def update(self, kind: str, made: Result, inputs: Props, timeout: float = 0) -> Props:
        checked = self.check(kind, inputs, old=made.inputs)
        with refusals():
            response = self.stub.Update(
                provider_pb2.UpdateRequest(
                    id=made.id,
                    urn=urn(kind),
                    type=kind,
                    name="it",
                    olds=encode(made.outputs),
                    old_inputs=encode(made.inputs),
                    news=encode(checked.values),
                    timeout=timeout,
                )
            )
        return unpack(response.properties).values

    def read(self, kind: str, ident: str, inputs: Props | None = None, secrets: Any = ()) -> tuple[Bag, Bag] | None:
        with refusals():
            response = self.stub.Read(
                provider_pb2.ReadRequest(
                    id=ident, urn=urn(kind), type=kind, name="it", inputs=encode(inputs or {}, secrets)
                )
            )
        return (unpack(response.inputs), unpack(response.properties)) if response.id else None

    def delete(self, kind: str, made: Result) -> None:
        with refusals():
            self.stub.Delete(
                provider_pb2.DeleteRequest(
                    id=made.id, urn=urn(kind), type=kind, name="it", properties=encode(made.outputs)
                )
            )

    def close(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.communicate()


@contextmanager
def refusals() -> Generator[None, None, None]:
    try:
        yield
    except grpc.RpcError as error:
        raise Refusal(cast(grpc.Call, error).details()) from error


def urn(kind: str) -> str:
    return f"urn:pulumi:test::project::{kind}::it"


def start(home: Path) -> Standin:
    folder = home / "cloud"
    folder.mkdir(exist_ok=True)
    faults = folder / "faults.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "localcloud.providers.kubernetes"],
        cwd=REPOSITORY,
        env={**os.environ, "LLMD_GKE_HOME": str(home), "LLMD_GKE_FAULTS": str(faults)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        return Standin(process, folder, faults)
    except BaseException:
        process.kill()
        raise


CLUSTER_ID, ENDPOINT = "projects/rehearsal/locations/europe-west4/clusters/gke", "192.0.2.10"
GATEWAY_API: Props = {"gatewayApiConfig": {"channel": "CHANNEL_STANDARD"}}


def write_google(folder: Path, cluster: Props | None = GATEWAY_API, **pools: Props) -> None:
    """A cluster with node pools, or nothing, in the file that the emulator of Google's APIs keeps."""
    made: Props = {}
    if cluster is not None:
        made[CLUSTER] = {CLUSTER_ID: {"inputs": cluster, "computed": {"endpoint": ENDPOINT}, "status": "RUNNING"}}
        made[NODE_POOL] = {
            f"{CLUSTER_ID}/nodePools/{name}": {"inputs": {"name": name, **inputs}, "status": "RUNNING"}
            for name, inputs in pools.items()
        }
    (folder / "google.json").write_text(json.dumps({"objects": made}))


@pytest.fixture(scope="session")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    standin = start(tmp_path_factory.mktemp("home"))
    try:
        yield standin
    finally:
        standin.close()


def kubeconfig(server: str) -> str:
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            "users": [{"name": "u", "user": {"exec": {"command": "gke-gcloud-auth-plugin"}}}],
        }
    )


@pytest.fixture
def kubernetes(process: Standin) -> Standin:
    """Kubernetes in a cluster that Google has."""
    for file in process.folder.iterdir():
        file.unlink()
    write_google(process.folder)
    process.configure(kubeconfig=kubeconfig(f"https://{ENDPOINT}"))
    return process


@pytest.fixture
def namespace(kubernetes: Standin) -> Result:
    return kubernetes.create(
        "kubernetes:core/v1:Namespace", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}}
    )
