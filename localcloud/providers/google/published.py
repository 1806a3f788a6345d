"""Has the published provider, built as a plugin, check inputs, without a cloud behind it.

Checks of a provider call no API, so its address is a port of this machine on which nothing listens.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, cast

import grpc

from localcloud import binaries
from localcloud.providers.protocol.protos import provider_pb2, provider_pb2_grpc
from localcloud.providers.protocol.values import JsonObject, decode, encode

PLUGIN = "pulumi-resource-gcp"
NOBODY = "http://127.0.0.1:9"
_CALL_SECONDS = 60


class _Calls(Protocol):
    """The part of ``ResourceProviderStub`` that we use, typed: it has no type hints."""

    def Configure(self, request: provider_pb2.ConfigureRequest, *, timeout: float) -> object: ...  # noqa: N802
    def Check(self, request: provider_pb2.CheckRequest, *, timeout: float) -> provider_pb2.CheckResponse: ...  # noqa: N802


class Published:
    """A running plugin. Use it in a ``with`` block: it ends with it."""

    def __init__(self, home: str, address: str = NOBODY) -> None:
        """Raises ``SetUpFailed`` where the plugin is not built, ``grpc.RpcError`` where it refuses its settings."""
        environment = {**os.environ, "HOME": home, "LLMD_GKE_GOOGLE_API": address}
        self.process = subprocess.Popen(
            [binaries.path(PLUGIN), "127.0.0.1:1"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None  # noqa: S101
        self.channel = grpc.insecure_channel(f"127.0.0.1:{int(self.process.stdout.readline())}")
        self.stub = cast(_Calls, provider_pb2_grpc.ResourceProviderStub(self.channel))

    def configure(self, config: JsonObject) -> None:
        """Gives the provider its settings."""
        self.stub.Configure(
            provider_pb2.ConfigureRequest(args=encode(config), acceptSecrets=True), timeout=_CALL_SECONDS
        )

    def check(self, kind: str, inputs: JsonObject) -> tuple[JsonObject, list[str]]:
        """The inputs with the provider's additions, and its objections."""
        request = provider_pb2.CheckRequest(
            urn=f"urn:pulumi:test::project::{kind}::it",
            type=kind, name="it", randomSeed=b"seed", olds=encode({}), news=encode(inputs),
        )  # fmt: skip
        answer = self.stub.Check(request, timeout=_CALL_SECONDS)
        return decode(answer.inputs).values, [failure.reason for failure in answer.failures]

    def __enter__(self) -> Published:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.channel.close()
        self.process.kill()
        self.process.communicate()


@contextmanager
def running() -> Generator[Published]:
    """A running plugin, configured with a project and a region."""
    with tempfile.TemporaryDirectory() as home, Published(home) as plugin:
        plugin.configure({"project": "my-project", "region": "us-east5", "zone": "us-east5-b"})
        yield plugin
