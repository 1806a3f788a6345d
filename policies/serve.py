"""Serves the pack to the engine. ``pulumi_policy.PolicyPack`` would do the same with the SDK's own server."""

from __future__ import annotations

import sys
from concurrent import futures

import grpc
from pulumi.runtime.proto import analyzer_pb2_grpc

from policies.pack import Analyzer

LARGEST_MESSAGE = 400 * 1024 * 1024
"""As in the SDK: KServe's CRDs alone exceed gRPC's default of 4 MB."""


def serve() -> None:
    """Serves on a free loopback port, prints the port number as the first line, and runs until it is killed."""
    options = [("grpc.max_receive_message_length", LARGEST_MESSAGE)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=options)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()
