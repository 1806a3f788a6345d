"""The language host that stands beside a self-built engine. (An official engine brings its own.)"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Generator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import grpc
import psutil
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from llmd_gke.repository import CLONE
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import build, resolve
from localcloud.pulumi_cli.discover import HOST
from tests.real_engine.harness import until


@pytest.fixture(scope="module")
def folder(engine: None) -> Path:
    """Where the self-built host lies; without one these tests are about nothing."""
    program = resolve.ready(cache_folder())
    assert program is not None
    if not (program.pulumi.parent / build.FAST_EXIT).exists():
        pytest.skip(f"the engine is not self-built ({program.origin})")
    return program.pulumi.parent


@contextmanager
def serving(
    folder: Path, *arguments: str, **environ: str
) -> Generator[tuple[subprocess.Popen[str], language_pb2_grpc.LanguageRuntimeStub]]:
    host = subprocess.Popen(
        [folder / HOST, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    try:
        assert host.stdout
        with grpc.insecure_channel(f"127.0.0.1:{host.stdout.readline().strip()}") as channel:
            yield host, language_pb2_grpc.LanguageRuntimeStub(channel)
    finally:
        host.kill()
        host.wait()
        for stream in (host.stdin, host.stdout):
            if stream:
                stream.close()


def info(where: Path, **options: str) -> language_pb2.ProgramInfo:
    chosen = struct_pb2.Struct()
    chosen.update(options or {"virtualenv": str(CLONE / ".venv")})
    return language_pb2.ProgramInfo(
        root_directory=str(where), program_directory=str(where), entry_point=".", options=chosen
    )


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """As much of an engine as a program without resources needs."""

    def SupportsFeature(self, request, context):  # noqa: N802
        return resource_pb2.SupportsFeatureResponse(hasSupport=True)

    def RegisterResource(self, request, context):  # noqa: N802
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:s::p::{request.type}::{request.name}")

    def RegisterResourceOutputs(self, request, context):  # noqa: N802
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request, context):  # noqa: N802
        return empty_pb2.Empty()


@pytest.fixture(scope="module")
def engine_address() -> Generator[str]:
    server = grpc.server(futures.ThreadPoolExecutor())
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(Monitor(), server)
    engine_pb2_grpc.add_EngineServicer_to_server(engine_pb2_grpc.EngineServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0)


Ask = Callable[..., language_pb2.RunRequest]


@pytest.fixture
def request_for(tmp_path: Path, engine_address: str) -> Ask:
    """Asks to run a program."""

    def ask(program: str) -> language_pb2.RunRequest:
        (tmp_path / "__main__.py").write_text(program)
        return language_pb2.RunRequest(
            project="p",
            stack="s",
            pwd=str(tmp_path),
            info=info(tmp_path),
            monitor_address=engine_address,
            parallel=1,
        )

    return ask


def test_an_environment_that_does_not_exist_is_named(folder: Path, tmp_path: Path, request_for: Ask) -> None:
    asked = request_for("")
    asked.info.CopyFrom(info(tmp_path, virtualenv="nowhere"))
    with serving(folder) as (_, stub), pytest.raises(grpc.RpcError, match="nowhere"):
        stub.Run(asked)


ENDS = """
import atexit, sys, threading, time
from pathlib import Path
from typing import Any

def later():
    time.sleep(0.3)
    Path("thread").touch()

threading.Thread(target=later).start()
atexit.register(Path("atexit").touch)
sys.stdout.write("no newline at the end")
raise SystemExit(7)
"""


@pytest.mark.parametrize("official", ["", "1"])
def test_a_program_ends_in_good_order_also_with_the_fast_exit(
    folder: Path, tmp_path: Path, request_for: Ask, official: str
) -> None:
    with serving(folder, LLMD_GKE_SDK_DEBUG=official) as (_, stub):
        answer = stub.Run(request_for(ENDS))
    assert answer.error == "program exited with non-zero exit code: 7"
    assert (tmp_path / "thread").exists(), "threads of the program are waited for"
    assert (tmp_path / "atexit").exists(), "atexit functions run"


SLEEPS = """
import time
from pathlib import Path
from typing import Any

Path("running").touch()
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["cancel", "SIGTERM", "SIGINT", "closed input"])
def test_the_program_ends_with_its_host(folder: Path, tmp_path: Path, request_for: Ask, how: str) -> None:
    with serving(folder) as (host, stub):
        answer = stub.Run.future(request_for(SLEEPS))
        until((tmp_path / "running").exists, "the program runs", wait_seconds=20)
        program = psutil.Process(host.pid).children()
        assert len(program) == 1
        if how == "cancel":
            stub.Cancel(empty_pb2.Empty())
        elif how == "closed input":
            assert host.stdin
            host.stdin.close()
        else:
            host.send_signal(getattr(signal, how))
        host.wait(20)
        _, alive = psutil.wait_procs(program, timeout=10)
        answer.cancel()
    assert not alive, "the program was told to end"
    assert host.returncode == 0
