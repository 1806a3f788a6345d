"""The provider protocol on top of :class:`Kubernetes`.

Messages and their meaning: pulumi/pulumi ``proto/pulumi/provider.proto`` @v3.259.0; how the engine calls them:
``sdk/go/common/resource/plugin/provider_plugin.go``. Secrets are accepted, so the engine sends them marked and takes
the marks that come back; it strips nothing and guesses nothing. Methods that are not here answer UNIMPLEMENTED.
"""

# ruff: noqa: ARG002, D102, N802 - methods and arguments are the protocol's
from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path as FilePath

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from localcloud.providers.kubernetes.provider import Kubernetes
from localcloud.providers.protocol.difference import Difference, dotted
from localcloud.providers.protocol.rules import ProviderRefusal, ResourceSubject
from localcloud.providers.protocol.values import Bag, JsonObject, Path, decode, encode

Context = grpc.ServicerContext

_KINDS = {
    ("ADD", False): provider_pb2.PropertyDiff.ADD,
    ("ADD", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("DELETE", False): provider_pb2.PropertyDiff.DELETE,
    ("DELETE", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("UPDATE", False): provider_pb2.PropertyDiff.UPDATE,
    ("UPDATE", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """Serves the stand-in. To the file ``calls`` it writes a line for each call: tests kill processes by them."""

    def __init__(self, rules: Kubernetes, calls: FilePath) -> None:
        self._rules, self._calls = rules, calls
        self._under_way, self._ended = 0, threading.Condition()

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits until no call is under way, recorded and all, also of a client that is gone."""
        with self._ended:
            return self._ended.wait_for(lambda: self._under_way == 0, seconds)

    # -- the plugin ----------------------------------------------------------------------------------------------

    def Handshake(self, request: provider_pb2.ProviderHandshakeRequest, context: Context):
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=False, accept_outputs=False)

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context):
        return plugin_pb2.PluginInfo(version=self._rules.version)

    def GetSchema(self, request: provider_pb2.GetSchemaRequest, context: Context):
        return provider_pb2.GetSchemaResponse(
            schema=json.dumps({"name": self._rules.name, "version": self._rules.version})
        )

    def Cancel(self, request: empty_pb2.Empty, context: Context):
        return empty_pb2.Empty()  # nothing waits

    # -- its configuration ---------------------------------------------------------------------------------------

    def CheckConfig(self, request: provider_pb2.CheckRequest, context: Context):
        with self._call("CheckConfig", context, request.urn):
            return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: Context):
        with self._call("DiffConfig", context, request.urn):
            old = decode(request.old_inputs).values or decode(request.olds).values
            return _answer(self._rules.diff_config(old, decode(request.news).values))

    def Configure(self, request: provider_pb2.ConfigureRequest, context: Context):
        with self._call("Configure", context, request.urn):
            self._rules.configure(decode(request.args).values)
            return provider_pb2.ConfigureResponse(
                acceptSecrets=True,
                supportsPreview=True,
                acceptResources=False,
                acceptOutputs=False,
            )

    # -- resources -----------------------------------------------------------------------------------------------

    def Check(self, request: provider_pb2.CheckRequest, context: Context):
        subject = _subject(request)
        with self._call("Check", context, request.urn):
            new = decode(request.news)
            inputs, failures = self._rules.check(subject, new.values)
            return provider_pb2.CheckResponse(
                inputs=encode(inputs, new.secrets | set(self._rules.secret_outputs(subject, inputs))),
                failures=[provider_pb2.CheckFailure(property=f.property, reason=f.reason) for f in failures],
            )

    def Diff(self, request: provider_pb2.DiffRequest, context: Context):
        subject = _subject(request)
        with self._call("Diff", context, request.urn):
            old, new = (decode(bag).values for bag in (request.old_inputs, request.news))
            # The engine has put the old values of ``ignoreChanges`` into the new inputs.
            return _answer(self._rules.diff(subject, old, new))

    def Create(self, request: provider_pb2.CreateRequest, context: Context):
        subject = _subject(request)
        with self._call("Create", context, request.urn):
            inputs = decode(request.properties)
            if request.preview:
                outputs = self._rules.preview(subject, inputs, None)
                return provider_pb2.CreateResponse(properties=self._encode(subject, outputs, inputs))
            ident, outputs = self._rules.create(subject, inputs)
            return provider_pb2.CreateResponse(id=ident, properties=self._encode(subject, outputs, inputs))

    def Read(self, request: provider_pb2.ReadRequest, context: Context):
        subject = _subject(request)
        with self._call("Read", context, request.urn):
            inputs, state = decode(request.inputs), decode(request.properties)
            current = self._rules.read(subject, {**state.values, **inputs.values})
            if current is None:
                return provider_pb2.ReadResponse()
            return provider_pb2.ReadResponse(
                id=request.id,
                inputs=self._encode(subject, current[0], inputs),
                properties=self._encode(subject, current[1], inputs, state.secrets),
            )

    def Update(self, request: provider_pb2.UpdateRequest, context: Context):
        subject = _subject(request)
        with self._call("Update", context, request.urn):
            inputs = decode(request.news)
            if request.preview:
                outputs = self._rules.preview(subject, inputs, decode(request.olds).values)
            else:
                outputs = self._rules.update(subject, inputs)
            return provider_pb2.UpdateResponse(properties=self._encode(subject, outputs, inputs))

    def Delete(self, request: provider_pb2.DeleteRequest, context: Context):
        subject = _subject(request)
        with self._call("Delete", context, request.urn):
            self._rules.delete(subject, decode(request.properties).values)
        return empty_pb2.Empty()

    def Invoke(self, request: provider_pb2.InvokeRequest, context: Context):
        context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the {self._rules.name} stand-in has no function {request.tok}")

    # -- inside ----------------------------------------------------------------------------------------------------

    def _encode(self, subject: ResourceSubject, values: JsonObject, inputs: Bag, more: frozenset[Path] = frozenset()):
        return encode(values, inputs.secrets | more | set(self._rules.secret_outputs(subject, values)))

    @contextmanager
    def _call(self, method: str, context: Context, urn: str) -> Generator[None, None, None]:
        """Turns a refusal into a gRPC error with the refusal as its message."""
        with self._ended:
            self._under_way += 1
        try:
            yield
        except ProviderRefusal as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))
        except Exception as error:
            where = "" if isinstance(error, ValueError | OSError) else f"\n{traceback.format_exc()}"
            context.abort(grpc.StatusCode.INTERNAL, f"the {self._rules.name} stand-in failed: {error}{where}")
        finally:
            with self._ended:
                with self._calls.open("a", encoding="utf-8") as file:
                    file.write(f"{method} {urn}\n")
                self._under_way -= 1
                self._ended.notify_all()


def _subject(
    request: provider_pb2.CheckRequest
    | provider_pb2.DiffRequest
    | provider_pb2.CreateRequest
    | provider_pb2.ReadRequest
    | provider_pb2.UpdateRequest
    | provider_pb2.DeleteRequest,
) -> ResourceSubject:
    """The resource of a call."""
    ident = "" if isinstance(request, provider_pb2.CheckRequest | provider_pb2.CreateRequest) else request.id
    return ResourceSubject(request.type, request.name, request.urn, ident)


def _answer(difference: Difference) -> provider_pb2.DiffResponse:
    detailed = {
        dotted(change.path): provider_pb2.PropertyDiff(
            kind=_KINDS[change.kind, change in difference.replaces], inputDiff=True
        )
        for change in difference.changes
    }
    some = provider_pb2.DiffResponse.DIFF_SOME if difference.changes else provider_pb2.DiffResponse.DIFF_NONE
    return provider_pb2.DiffResponse(
        changes=some,
        diffs=sorted({str(change.path[0]) for change in difference.changes}),
        replaces=sorted({dotted(change.path) for change in difference.replaces}),
        deleteBeforeReplace=difference.delete_before_replace,
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )
