"""The process around a stand-in: port, signals, end."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from types import FrameType

import grpc

from llmd_gke.laptop.standins.core.calls import CallRecord
from llmd_gke.laptop.standins.core.faults import Faults
from llmd_gke.laptop.standins.core.protos import provider_pb2_grpc
from llmd_gke.laptop.standins.core.rules import Rules
from llmd_gke.laptop.standins.core.servicer import Servicer

MESSAGE_LIMIT = 400 * 1024 * 1024
"""The engine's own limit (pulumi/pulumi ``sdk/go/common/util/rpcutil/serve.go``)."""

WORKERS = 64
"""Long waits hold a thread each; the engine asks for at most 16 resources at once unless told otherwise."""


def cloud_folder() -> Path:
    """The folder with the cloud's files. Ends the process with a message where it is not named."""
    folder = os.environ.get("LLMD_GKE_CLOUD_FOLDER")
    if not folder:
        sys.exit(
            "LLMD_GKE_CLOUD_FOLDER is not set: this provider is a stand-in and only runs in the rehearsal "
            "(`make up`, `make shell`)"
        )
    return Path(folder)


def serve(make: Callable[[Path, Faults], Rules]) -> None:
    """Serve until told to stop: by a signal, or by the end of standard input where the engine holds it open."""
    folder, faults = cloud_folder(), Faults()
    rules = make(folder, faults)
    limits = [("grpc.max_receive_message_length", MESSAGE_LIMIT), ("grpc.max_send_message_length", MESSAGE_LIMIT)]
    server = grpc.server(futures.ThreadPoolExecutor(WORKERS), options=limits)
    calls = CallRecord(folder / "calls.jsonl", rules.name)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(rules, calls, faults.stop.set), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    done = threading.Event()

    def finish(number: int, frame: FrameType | None) -> None:
        del number, frame
        done.set()

    for sort in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sort, finish)
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), done.set()), daemon=True).start()
    done.wait()
    faults.stop.set()
    server.stop(grace=2).wait()
    os._exit(0)  # grpc's threads would hold the interpreter for a second more
