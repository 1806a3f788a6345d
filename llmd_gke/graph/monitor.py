"""The monitor behind :mod:`llmd_gke.graph.recording`. Importing it imports Pulumi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from google.protobuf import json_format
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs, Mocks

from llmd_common.pulumi_signatures import UNKNOWN
from llmd_gke.graph.resources import ResourceNode

if TYPE_CHECKING:
    from pulumi.runtime.proto import resource_pb2

PROJECT_NUMBER = "123456789012"
ADDRESS = "203.0.113.7"
ENDPOINT = "203.0.113.8"
DNS_ENDPOINT = "gke-0123456789.europe-west4.gke.goog"


def merged(inputs: Mapping[str, object], computed: Mapping[str, object], unknown: bool) -> dict[str, object]:
    """``inputs`` with the leaves of ``computed`` added; if ``unknown``, as in a preview, those leaves are unknowns."""
    result = dict(inputs)
    for key, value in computed.items():
        if isinstance(value, Mapping):
            inner = result.get(key)
            before = cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else dict[str, object]()
            result[key] = merged(before, cast("Mapping[str, object]", value), unknown)
        else:
            result[key] = UNKNOWN if unknown else value
    return result


class Invented(Mocks):
    """Mocks of the cloud: outputs that only a cloud determines are unknown in a preview, and made up otherwise."""

    def __init__(self, preview: bool) -> None:
        super().__init__()
        self.preview = preview

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, object]]:
        """The id (``None`` in a preview), and the inputs with the values that the cloud would add to them."""
        inputs = cast("dict[str, object]", args.inputs)
        email = f"{inputs.get('accountId')}@{inputs.get('project')}.iam.gserviceaccount.com"
        computed: dict[str, dict[str, object]] = {
            "gcp:compute/address:Address": {"address": ADDRESS},
            "gcp:serviceaccount/account:Account": {"email": email, "member": f"serviceAccount:{email}"},
            "gcp:container/cluster:Cluster": {
                "endpoint": ENDPOINT,
                "masterAuth": {"clusterCaCertificate": "Q0EK"},
                "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": DNS_ENDPOINT}},
            },
        }
        state = merged(inputs, computed.get(args.typ, {}), self.preview)
        return (None if self.preview else f"{args.name}-id"), state

    def call(self, args: MockCallArgs) -> tuple[dict[str, object], list[tuple[str, str]]]:
        """Answers the only function that the program calls: the project's number. Raises ``LookupError`` for others."""
        if args.token == "gcp:organizations/getProject:getProject":  # noqa: S105
            return {"number": PROJECT_NUMBER, "projectId": cast("dict[str, object]", args.args).get("projectId")}, []
        raise LookupError(f"the program calls {args.token}, which the recording does not support")


class RecordingMonitor(MockMonitor):
    """A mock monitor that keeps every registration with its edges."""

    def __init__(self, mocks: Mocks, nodes: dict[str, ResourceNode]) -> None:
        super().__init__(mocks)
        self.nodes = nodes

    def RegisterResource(  # noqa: N802 - the protocol's name
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Answers as the mocks do, and records the request."""
        response = super().RegisterResource(request)  # pyright: ignore[reportUnknownMemberType] - untyped in Pulumi
        through = {urn for dependencies in request.propertyDependencies.values() for urn in dependencies.urns}
        timeouts = request.customTimeouts
        named = {"create": timeouts.create, "update": timeouts.update, "delete": timeouts.delete}
        self.nodes[response.urn] = ResourceNode(
            urn=response.urn,
            type=request.type,
            name=request.name,
            custom=request.custom,
            parent=request.parent,
            provider=request.provider,
            depends_on=frozenset({*request.dependencies, *through}),
            inputs=cast("dict[str, object]", json_format.MessageToDict(request.object)),
            protect=request.protect,
            deleted_with=request.deletedWith,
            timeouts={key: value for key, value in named.items() if value},
            ignore_changes=tuple(request.ignoreChanges),
            replace_on_changes=tuple(request.replaceOnChanges),
            tried_again=bool(request.hooks.on_error),
        )
        return response
