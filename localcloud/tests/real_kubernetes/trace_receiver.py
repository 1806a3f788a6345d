"""A receiver of OTLP over gRPC: prints the names that each export contains, one JSON list a line.

``python trace_receiver.py PORT``. Protocol buffers keep strings as they are; what looks like a name is printed, so that
OpenTelemetry's message types are not needed.
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

NAME = re.compile(rb"[A-Za-z][\w./:-]{3,}")
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def export(request: bytes, _context: grpc.ServicerContext) -> bytes:
    """Takes spans; the answer without a field says that all were taken."""
    print(json.dumps([match.decode() for match in NAME.findall(request)]), flush=True)
    return b""


class Receiver(grpc.GenericRpcHandler):
    """One method, its messages as bytes."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        """The method's handler; no other method exists."""
        return grpc.unary_unary_rpc_method_handler(export) if handler_call_details.method == EXPORT else None


def main(port: str) -> None:
    """Serves until standard input ends."""
    server = grpc.server(ThreadPoolExecutor(2), handlers=[Receiver()])
    server.add_insecure_port(f"0.0.0.0:{port}")
    server.start()
    sys.stdin.read()
    server.stop(0).wait()


if __name__ == "__main__":
    main(sys.argv[1])
