"""The process of the stand-in: port, signals, end."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from concurrent import futures
from pathlib import Path

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from localcloud.providers.kubernetes.provider import Kubernetes
from localcloud.providers.kubernetes.servicer import Servicer

MESSAGE_LIMIT = 400 * 1024 * 1024
"""The engine's own limit (pulumi/pulumi ``sdk/go/common/util/rpcutil/serve.go``)."""

WORKERS = 64
"""Long waits hold a thread each; the engine asks for at most 16 resources at once unless told otherwise."""


GRACE_SECONDS = 1
"""Seconds that running calls have to return."""


def cloud_folder() -> Path:
    """The folder with the cloud's files. Exits with a message if the variable is not set."""
    home = os.environ.get("LLMD_GKE_HOME")
    if not home:
        sys.exit(
            "LLMD_GKE_HOME is not set: this provider is a stand-in and only runs in the rehearsal "
            "(`make up`, `make shell`)"
        )
    return Path(home, "cloud")


def serve() -> None:
    """Serves until a signal, or until the end of standard input if the engine holds it open."""
    folder = cloud_folder()
    # Waited for below, in no handler: one that runs while a lock is held would never end. Threads inherit the mask.
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    rules = Kubernetes(folder)
    limits = [("grpc.max_receive_message_length", MESSAGE_LIMIT), ("grpc.max_send_message_length", MESSAGE_LIMIT)]
    server = grpc.server(futures.ThreadPoolExecutor(WORKERS), options=limits)
    folder.mkdir(parents=True, exist_ok=True)
    servicer = Servicer(rules, folder / "calls.log")
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=_end_with_standard_input, daemon=True).start()
    signal.sigwait(ends)
    server.stop(grace=GRACE_SECONDS).wait(GRACE_SECONDS)
    # For grpc a call has ended when its client is gone: what was made for a killed engine must get into the record.
    servicer.wait_until_idle(GRACE_SECONDS)
    # grpc's threads would hold the interpreter for a second more. The engine waits for us, and it gives all its
    # providers five seconds together (pulumi/pulumi pkg/host/host.go ReleaseContext): who is slow makes it say that
    # the next one "exited prematurely".
    os._exit(0)


def _end_with_standard_input() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
