"""An endpoint picker of the tests: Envoy's external processing protocol over TLS, and gRPC health.

Messages: envoyproxy/envoy ``api/envoy/service/ext_proc/v3/external_processor.proto``, as far as a picker needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

from localcloud.gke_gateway.certificates import self_signed

_STRING, _BYTES, _BOOL, _MESSAGE = 9, 12, 8, 11
_SHAPES: dict[str, list[tuple[str, int, int, str]]] = {
    "HeaderValue": [("key", 1, _STRING, ""), ("raw_value", 3, _BYTES, "")],
    "HeaderValueOption": [("header", 1, _MESSAGE, "HeaderValue")],
    "HeaderMutation": [("*set_headers", 1, _MESSAGE, "HeaderValueOption")],
    "StreamedBody": [("body", 1, _BYTES, ""), ("end_of_stream", 2, _BOOL, "")],
    "BodyMutation": [("streamed_response", 3, _MESSAGE, "StreamedBody")],
    "Common": [("header_mutation", 2, _MESSAGE, "HeaderMutation"), ("body_mutation", 3, _MESSAGE, "BodyMutation")],
    "Answer": [("response", 1, _MESSAGE, "Common")],
    "HttpHeaders": [("end_of_stream", 3, _BOOL, "")],
    "HttpBody": [("body", 1, _BYTES, ""), ("end_of_stream", 2, _BOOL, "")],
    # A map's entry, and a google.protobuf.Struct.
    "Namespace": [("name", 1, _STRING, ""), ("content", 2, _BYTES, "")],
    "Metadata": [("*filter_metadata", 1, _MESSAGE, "Namespace")],
    "Request": [
        ("request_headers", 2, _MESSAGE, "HttpHeaders"),
        ("response_headers", 3, _MESSAGE, "HttpHeaders"),
        ("request_body", 4, _MESSAGE, "HttpBody"),
        ("response_body", 5, _MESSAGE, "HttpBody"),
        ("metadata_context", 8, _MESSAGE, "Metadata"),
    ],
    "Response": [
        ("request_headers", 1, _MESSAGE, "Answer"),
        ("response_headers", 2, _MESSAGE, "Answer"),
        ("request_body", 3, _MESSAGE, "Answer"),
        ("response_body", 4, _MESSAGE, "Answer"),
    ],
}


def _messages() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="picker_of_tests.proto", package="tests", syntax="proto3")
    for name, fields in _SHAPES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, of in fields:
            label = 3 if field.startswith("*") else 1
            added = message.field.add(name=field.lstrip("*"), number=number, label=label)
            added.type = cast("Any", kind)
            if of:
                added.type_name = f".tests.{of}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(find(f"tests.{name}")) for name in _SHAPES}


_MESSAGES = _messages()


class Picker:
    """Sends every request to `choice` (``IP:PORT``, or several with commas), after it has seen the whole body."""

    def __init__(self, address: str, folder: Path) -> None:
        self.choice = ""
        self.bodies: list[int] = []
        self.served: list[str] = []
        """The pods that the gateway says have answered, empty where it says nothing."""
        self_signed("picker", "picker.invalid", folder)
        pair = (folder / "picker.key").read_bytes(), (folder / "picker.pem").read_bytes()
        self._pool = futures.ThreadPoolExecutor(8)
        self._server = grpc.server(self._pool)
        process = grpc.stream_stream_rpc_method_handler(self._process)
        service = "envoy.service.ext_proc.v3.ExternalProcessor"
        health = grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"\x08\x01")
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(service, {"Process": process}),
                grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": health}),
            )
        )
        self.port = self._server.add_secure_port(f"{address}:0", grpc.ssl_server_credentials([pair]))
        self.health_port = self._server.add_insecure_port(f"{address}:0")
        self._server.start()

    def _process(self, requests: Iterator[bytes], _: object) -> Iterator[bytes]:
        body = b""
        for raw in requests:
            asked = _MESSAGES["Request"].FromString(raw)
            if asked.HasField("request_headers"):
                if asked.request_headers.end_of_stream:
                    yield self._chosen()
            elif asked.HasField("request_body"):
                body += asked.request_body.body
                if asked.request_body.end_of_stream:
                    self.bodies.append(len(body))
                    yield self._chosen()
                    for start in range(0, max(len(body), 1), 60_000):
                        yield _piece("request_body", body[start : start + 60_000], start + 60_000 >= len(body))
            elif asked.HasField("response_headers"):
                self.served.append(_served(asked.metadata_context))
                yield _MESSAGES["Response"](response_headers=_MESSAGES["Answer"]()).SerializeToString()
            elif asked.HasField("response_body"):
                yield _piece("response_body", asked.response_body.body, asked.response_body.end_of_stream)

    def _chosen(self) -> bytes:
        header = _MESSAGES["HeaderValue"](key="x-gateway-destination-endpoint", raw_value=self.choice.encode())
        mutation = _MESSAGES["HeaderMutation"](
            set_headers=[_MESSAGES["HeaderValueOption"](header=header)] if self.choice else []
        )
        answer = _MESSAGES["Answer"](response=_MESSAGES["Common"](header_mutation=mutation))
        return cast("bytes", _MESSAGES["Response"](request_headers=answer).SerializeToString())

    def close(self) -> None:
        self._server.stop(0).wait()
        self._pool.shutdown()


def _served(context: Any) -> str:
    for namespace in context.filter_metadata:
        if namespace.name == "envoy.lb":
            fields = struct_pb2.Struct.FromString(namespace.content).fields
            return fields["x-gateway-destination-endpoint-served"].string_value
    return ""


def _piece(field: str, body: bytes, last: bool) -> bytes:
    streamed = _MESSAGES["StreamedBody"](body=body, end_of_stream=last)
    common = _MESSAGES["Common"](body_mutation=_MESSAGES["BodyMutation"](streamed_response=streamed))
    return cast("bytes", _MESSAGES["Response"](**{field: _MESSAGES["Answer"](response=common)}).SerializeToString())
