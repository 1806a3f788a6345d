"""Google's plugin reaches this machine only, whatever it is told: the built one, and one that is taken for official."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from localcloud import binaries
from localcloud.binaries.official import VARIABLE
from localcloud.binaries.table import GOOGLE_PROVIDER
from localcloud.common.workdir import cache_folder
from localcloud.google_api import isolation
from localcloud.google_api.plugin import ADDRESS
from localcloud.providers.protocol.values import encode
from localcloud.pulumi_cli import resolve
from tests.real_engine.harness import Rehearsal

PROGRAM = """
import pulumi_gcp as gcp

gcp.compute.Network("net", name="net", auto_create_subnetworks=False)
"""
OWN_ENDPOINT = """
import pulumi
import pulumi_gcp as gcp

own = gcp.Provider("own", project="my-project", access_token="ya29", compute_custom_endpoint="https://x/")
gcp.compute.Network("net", name="net", opts=pulumi.ResourceOptions(provider=own))
"""
Stub = provider_pb2_grpc.ResourceProviderStub


class Plugin:
    """A running plugin that was told that address."""

    def __init__(self, folder: Path, address: str) -> None:
        environment = {**os.environ, "HOME": str(folder), ADDRESS: address}
        environment["GOOGLE_COMPUTE_CUSTOM_ENDPOINT"] = "https://compute.googleapis.com/compute/v1/"
        self.process = subprocess.Popen(
            [binaries.path(GOOGLE_PROVIDER), "127.0.0.1:1"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.channel = grpc.insecure_channel(f"127.0.0.1:{int(self.process.stdout.readline())}")
        self.stub = Stub(self.channel)

    def configure(self) -> str:
        """What it answers to its settings: ``""`` when it took them."""
        config = encode({"project": "my-project", "region": "us-east5", "zone": "us-east5-b"})
        try:
            self.stub.Configure(provider_pb2.ConfigureRequest(args=config, acceptSecrets=True), timeout=60)
        except grpc.RpcError as error:
            return str(error)
        return ""

    def connections(self) -> set[str]:
        """Addresses that it is, or tries to be, connected to."""
        connections = psutil.Process(self.process.pid).net_connections("inet")
        return {one.raddr.ip for one in connections if one.raddr}

    def stop(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def plugins(tmp_path: Path) -> Iterator[list[Plugin]]:
    started: list[Plugin] = []
    yield started
    for plugin in started:
        plugin.stop()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://compute.googleapis.com",
        "http://compute.googleapis.com:80",
        "http://10.0.0.1:80",
        "http://example.com:1",
    ],
)
def test_an_address_that_is_not_on_this_machine_is_refused(plugins: list[Plugin], tmp_path: Path, address: str) -> None:
    plugins.append(Plugin(tmp_path, address))
    answer = plugins[0].configure()
    assert "talks to an emulator of Google's APIs on this machine only" in answer
    assert plugins[0].connections() <= {"127.0.0.1", "::1"}


def test_with_an_address_on_this_machine_it_asks_nobody_else(plugins: list[Plugin], tmp_path: Path) -> None:
    """An endpoint of Google in the environment, which upstream would take, changes nothing."""
    plugins.append(Plugin(tmp_path, "http://127.0.0.1:9"))
    assert plugins[0].configure() == ""
    request = provider_pb2.ReadRequest(
        id="projects/my-project/global/networks/vpc",
        urn="urn:pulumi:test::project::gcp:compute/network:Network::it",
        type="gcp:compute/network:Network",
        name="it",
        properties=encode({"name": "vpc", "project": "my-project"}),
    )
    with pytest.raises(grpc.RpcError, match=r"127\.0\.0\.1:9"):
        plugins[0].stub.Read(request, timeout=5)
    assert plugins[0].connections() <= {"127.0.0.1", "::1"}


@pytest.fixture
def trap() -> Iterator[socket.socket]:
    """A port that a client which took an endpoint or a proxy from elsewhere would connect to."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def test_a_provider_with_an_endpoint_and_a_token_of_its_own_is_refused(published: Rehearsal) -> None:
    published.program(OWN_ENDPOINT)
    done = published.up("local", check=False)
    assert done.returncode == 1
    for key in ("accessToken", "computeCustomEndpoint"):
        assert f"Invalid or unknown key. Examine values at 'own.{key}'" in done.stdout
    assert "resources" not in published.kept()


@pytest.fixture(params=["built", "official"])
def started_as(request: pytest.FixtureRequest, published: Rehearsal, tmp_path: Path) -> Path:
    """The plugin that `make up` has to start: the built one, or the same binary in the plugin cache of a newcomer, who
    has an engine on PATH, and neither Go nor anything that was built here.
    """
    built = binaries.path(GOOGLE_PROVIDER)
    if request.param == "built":
        return built
    engine = resolve.ready(cache_folder())
    assert engine is not None
    version = metadata.version("pulumi-gcp")
    official = tmp_path / "user/.pulumi/plugins" / f"resource-gcp-v{version}" / GOOGLE_PROVIDER
    official.parent.mkdir(parents=True)
    shutil.copyfile(built, official)
    official.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").symlink_to("/bin/false")
    published.environ |= {
        VARIABLE: "", "HOME": str(tmp_path / "user"), "LLMD_GKE_CACHE": str(tmp_path / "cache"),
        "PATH": f"{tmp_path / 'bin'}:{engine.pulumi.parent}:{os.defpath}",
    }  # fmt: skip
    return official


def test_make_up_asks_the_emulator_whatever_the_environment_says(
    published: Rehearsal, trap: socket.socket, started_as: Path
) -> None:
    elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}"
    published.program(PROGRAM)
    published.google_faults({"fault": "world", "enabledApis": ["*"]})
    published.environ.update({
        "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": f"{elsewhere}/compute/v1/", "GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.real",
        "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "x@y.iam.gserviceaccount.com", "HTTPS_PROXY": elsewhere,
        "https_proxy": elsewhere, "HTTP_PROXY": elsewhere, "http_proxy": elsewhere, "ALL_PROXY": elsewhere,
        "NO_PROXY": ".googleapis.com", "PULUMI_GCP_SKIP_REGION_VALIDATION": "false",
    })  # fmt: skip
    peers, programs = set[str](), set[str]()
    with published.started("up", "--stack", "local") as running:
        while running.poll() is None:
            for process in psutil.process_iter(["name", "environ", "exe"]):
                of_this = (process.info["environ"] or {}).get("LLMD_GKE_HOME") == str(published.workdir.home)
                if process.info["name"] == GOOGLE_PROVIDER and of_this:
                    programs.add(process.info["exe"])
                    peers |= {one.raddr.ip for one in connections(process) if one.raddr}
    assert running.returncode == 0, running.stdout.read() if running.stdout else ""
    assert sorted(published.kept()["resources"]) == ["projects/rehearsal/global/networks/net"]
    assert programs == {str(started_as)}
    assert peers == {"127.0.0.1"}
    with pytest.raises(BlockingIOError):
        trap.accept()


def test_a_client_with_an_address_of_its_own_ends_at_a_proxy_at_which_nothing_listens(tmp_path: Path) -> None:
    """As the official plugin with a program's own endpoint, which it would take: a client that is written in Go."""
    engine = resolve.ready(cache_folder())
    assert engine is not None
    user = {**os.environ, "NO_PROXY": "*", "PULUMI_HOME": str(tmp_path), "PULUMI_ACCESS_TOKEN": "none"}
    environment = isolation.environment(user, "http://127.0.0.1:9")
    command = [engine.pulumi, "login", "https://198.51.100.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused" in done.stderr


def connections(process: psutil.Process) -> list[Any]:
    try:
        return list(process.net_connections("inet"))
    except psutil.Error:  # it has just ended
        return []
