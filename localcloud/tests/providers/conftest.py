"""The stand-ins as the engine sees them: their executables, spoken to in the provider protocol."""

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

    def calls(self) -> list[Props]:
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]

    def check(self, kind: str, inputs: Props, *, name: str = "it", old: Props | None = None, secrets: Any = ()) -> Bag:
        request = provider_pb2.CheckRequest(
            urn=urn(kind, name),
            type=kind,
            name=name,
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
        name: str = "it",
        preview: bool = False,
        timeout: float = 0,
        secrets: Any = (),
    ) -> Result:
        checked = self.check(kind, inputs, name=name, secrets=secrets)
        request = provider_pb2.CreateRequest(
            urn=urn(kind, name),
            type=kind,
            name=name,
            preview=preview,
            timeout=timeout,
            properties=encode(checked.values, checked.secrets),
        )
        with refusals():
            response = self.stub.Create(request)
        outputs = unpack(response.properties)
        return Result(response.id, checked.values, outputs.values, outputs.secrets)

    def diff(self, kind: str, made: Result, inputs: Props) -> provider_pb2.DiffResponse:
        checked = self.check(kind, inputs, old=made.inputs)
        return self.stub.Diff(
            provider_pb2.DiffRequest(
                id=made.id,
                urn=urn(kind, "it"),
                type=kind,
                name="it",
                olds=encode(made.outputs),
                old_inputs=encode(made.inputs),
                news=encode(checked.values),
            )
        )

    def update(self, kind: str, made: Result, inputs: Props, *, preview: bool = False, timeout: float = 0) -> Props:
        checked = self.check(kind, inputs, old=made.inputs)
        with refusals():
            response = self.stub.Update(
                provider_pb2.UpdateRequest(
                    id=made.id,
                    urn=urn(kind, "it"),
                    type=kind,
                    name="it",
                    olds=encode(made.outputs),
                    preview=preview,
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
                    id=ident, urn=urn(kind, "it"), type=kind, name="it", inputs=encode(inputs or {}, secrets)
                )
            )
        return (unpack(response.inputs), unpack(response.properties)) if response.id else None

    def delete(self, kind: str, made: Result) -> None:
        with refusals():
            self.stub.Delete(
                provider_pb2.DeleteRequest(
                    id=made.id, urn=urn(kind, "it"), type=kind, name="it", properties=encode(made.outputs)
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


def urn(kind: str, name: str) -> str:
    return f"urn:pulumi:test::project::{kind}::{name}"


def start(provider: str, home: Path, **environment: str) -> Standin:
    folder = home / "cloud"
    folder.mkdir(exist_ok=True)
    faults = folder / "faults.json"
    process = subprocess.Popen(
        [sys.executable, "-m", f"localcloud.providers.{provider}"],
        cwd=REPOSITORY,
        env={**os.environ, "LLMD_GKE_HOME": str(home), "LLMD_GKE_FAULTS": str(faults), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        return Standin(process, folder, faults)
    except BaseException:
        process.kill()
        raise


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Standin]]:
    home = tmp_path_factory.mktemp("home")
    running: dict[str, Standin] = {}
    try:
        for provider in ("google", "kubernetes"):
            running[provider] = start(provider, home)
        yield running
    finally:
        for standin in running.values():
            standin.close()


@pytest.fixture
def empty_cloud(processes: dict[str, Standin]) -> Path:
    folder = processes["google"].folder
    for file in folder.iterdir():
        file.unlink()
    return folder


@pytest.fixture
def google(processes: dict[str, Standin], empty_cloud: Path) -> Standin:
    """Google with every API enabled, set to europe-west4."""
    standin = processes["google"]
    standin.configure(project="rehearsal", region="europe-west4", zone="europe-west4-a", defaultLabels='{"team":"llm"}')
    standin.faults(enabledApis=["*"])
    return standin


@pytest.fixture
def network(google: Standin) -> Result:
    return google.create("gcp:compute/network:Network", {"name": "vpc", "autoCreateSubnetworks": False})


SUBNET = {
    "name": "nodes",
    "network": "vpc",
    "ipCidrRange": "10.0.0.0/20",
    "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}],
}
CLUSTER = {
    "name": "gke",
    "location": "europe-west4",
    "network": "vpc",
    "subnetwork": "nodes",
    "initialNodeCount": 1,
    "removeDefaultNodePool": True,
    "gatewayApiConfig": {"channel": "CHANNEL_STANDARD"},
    "deletionProtection": False,
}


@pytest.fixture
def subnet(google: Standin, network: Result) -> Result:
    return google.create("gcp:compute/subnetwork:Subnetwork", SUBNET)


@pytest.fixture
def cluster(google: Standin, subnet: Result) -> Result:
    return google.create("gcp:container/cluster:Cluster", CLUSTER)


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
def kubernetes(processes: dict[str, Standin], cluster: Result) -> Standin:
    """Kubernetes in the cluster that Google has made."""
    standin = processes["kubernetes"]
    standin.configure(kubeconfig=kubeconfig(f"https://{cluster.outputs['endpoint']}"))
    return standin


@pytest.fixture
def namespace(kubernetes: Standin) -> Result:
    return kubernetes.create(
        "kubernetes:core/v1:Namespace", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}}
    )
