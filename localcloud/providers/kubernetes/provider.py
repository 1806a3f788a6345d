"""The Kubernetes stand-in: returns objects with an API server's additions, and keeps them in ``kubernetes.json``.

Source of its behaviour: pulumi-kubernetes ``provider/pkg/provider/provider.go`` @v4.0.0-20260115033456-f47bc2d6f199
(= 4.25.0), functions of the same names; since 4.29 Create adopts nothing (pulumi-kubernetes#2926). Left out: schemas
(tests check every object against the real CRDs), controllers, conflicts of field managers.
"""

# ruff: noqa: D102 - methods are the protocol's (``servicer.py``)
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as FilePath

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.kubernetes import live, reach, refusals, release
from localcloud.providers.kubernetes.objects import (  # fmt: skip
    ClusterObjects,
    forces,
    identity,
    kind_of,
    name_of,
    namespace_of,
    same_place,
)
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.difference import Difference, PropertyChange, compare
from localcloud.providers.protocol.rules import Failure, ProviderRefusal, ResourceSubject
from localcloud.providers.protocol.values import (  # fmt: skip
    Bag,
    JsonObject,
    JsonValue,
    Path,
    dig,
    number,
    redact,
    restore,
    text,
)


class Kubernetes:
    """Answers the calls of the engine. Properties are plain JSON; secrets come beside them."""

    name = "kubernetes"
    version = "4.34.2"

    def __init__(self, folder: FilePath) -> None:
        self._cloud, self._google = CloudFile(folder / "kubernetes.json"), CloudFile(folder / "google.json")
        self._config = dict[str, JsonValue]()

    # -- the provider's own settings -----------------------------------------------------------------------------

    def configure(self, config: JsonObject) -> None:
        self._config = config

    def diff_config(self, old: JsonObject, new: JsonObject) -> Difference:
        """``DiffConfig``: another active cluster means new objects, unless ``clusterIdentifier`` stays the same."""
        difference = compare(old, new, lambda _: False)
        keys = {str(change.path[0]) for change in difference.changes}
        identified = "clusterIdentifier" not in keys and bool(new.get("clusterIdentifier"))
        replaced = {"clusterIdentifier"} if {"clusterIdentifier"} & keys & old.keys() & new.keys() else set[str]()
        if new.get("kubeconfig") == UNKNOWN or reach.active(old) != reach.active(new):
            replaced |= keys & {"kubeconfig"}
        if not identified:
            difference.replaces = [change for change in difference.changes if change.path[0] in replaced]
        return difference

    # -- resources -----------------------------------------------------------------------------------------------

    def check(self, subject: ResourceSubject, new: JsonObject) -> tuple[JsonObject, list[Failure]]:
        named = new if subject.type == release.TYPE else dig(new, "metadata")
        if not dig(named, "name"):
            raise refusals.unnamed(subject)
        return release.check(new) if subject.type == release.TYPE else (new, [])

    def diff(self, subject: ResourceSubject, old_inputs: JsonObject, new: JsonObject) -> Difference:
        if subject.type == release.TYPE:
            return release.diff(old_inputs, new)
        kind = kind_of(subject.type)

        # As a text from the SDK (``provider.go`` Configure), and never for an immutable Secret (``diff.go``).
        mutable = str(self._config.get("enableSecretMutable")).lower() == "true" and new.get("immutable") is not True

        def replaces(change: PropertyChange) -> bool:
            return forces(kind, change, mutable=mutable)

        difference = compare(old_inputs, new, replaces)
        difference.delete_before_replace = bool(difference.replaces) and same_place(old_inputs, new)
        return difference

    def preview(self, subject: ResourceSubject, inputs: Bag, old_outputs: JsonObject | None) -> JsonObject:
        if subject.type == release.TYPE:
            return release.preview(inputs.values)
        server: JsonObject = {"metadata": live.server_metadata(old_outputs)} if old_outputs else {}
        return live.live(kind_of(subject.type), inputs.values, server)

    def create(self, subject: ResourceSubject, inputs: Bag) -> tuple[str, JsonObject]:
        where, google = reach.cluster_in(self._google.read(), self._config)
        if subject.type == release.TYPE:
            return self._create_release(where, inputs)
        kind, values = kind_of(subject.type), inputs.values
        ident = identity(kind, values)
        if kind.group == "gateway.networking.k8s.io" and not str(
            dig(google, "inputs", "gatewayApiConfig", "channel")
        ).endswith(("STANDARD", "EXPERIMENTAL")):
            # GKE installs these CRDs when the cluster's Gateway API channel is on (gateway-api how-to of GKE).
            raise refusals.no_such_kind(subject, kind)
        with self._cloud.edit() as content:
            cluster = ClusterObjects(content, where)
            namespace = namespace_of(kind, values)
            if not cluster.has_namespace(namespace):
                raise refusals.not_created(subject, f'namespaces "{namespace}" not found')
            if not kind.patch and cluster.get(kind.key, ident) is not None:
                plural = f"{kind.kind.lower()}s{'.' if kind.group else ''}{kind.group}"
                raise refusals.not_created(subject, f'{plural} "{name_of(values)}" already exists')
            server: JsonObject = {"metadata": live.first_metadata()}
            cluster.put(kind.key, ident, self._record(subject, inputs, server))
            if kind.patch and kind.kind == "Namespace" and not cluster.has_namespace(ident):
                # Server-side apply makes what is missing (await.go Creation), and giving the fields up leaves it.
                made: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ident}}
                cluster.put("v1/Namespace", ident, {"inputs": made, "server": {}, "madeBy": f"patch {subject.name}"})
        return ident, live.live(kind, values, server)

    def update(self, subject: ResourceSubject, inputs: Bag) -> JsonObject:
        where, _ = reach.cluster_in(self._google.read(), self._config)
        key = release.KEY if subject.type == release.TYPE else kind_of(subject.type).key
        if subject.type == release.TYPE:
            release.fetch(inputs.values)
        with self._cloud.edit() as content:
            cluster = ClusterObjects(content, where)
            record = cluster.get(key, subject.id)
            if record is None:
                raise refusals.not_updated(subject)
            if subject.type == release.TYPE:
                revision = (number(record, "server", "revision") or 0) + 1
                cluster.put(key, subject.id, self._record(subject, inputs, {"revision": revision}))
                return release.outputs(inputs.values, revision)
            server: JsonObject = {"metadata": live.next_metadata(record, inputs.values)}
            cluster.put(key, subject.id, {**record, **self._record(subject, inputs, server)})
        return live.live(kind_of(subject.type), inputs.values, server)

    def read(self, subject: ResourceSubject, state: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        try:
            where, _ = reach.cluster_in(self._google.read(), self._config)
        except ProviderRefusal:
            if os.environ.get("PULUMI_K8S_DELETE_UNREACHABLE") == "true":
                return None
            raise refusals.unreachable_to_read() from None
        is_release = subject.type == release.TYPE
        key = release.KEY if is_release else kind_of(subject.type).key
        record = ClusterObjects(self._cloud.read(), where).get(key, subject.id)
        if record is None:
            return None
        stored, server = restore(record["inputs"], state), record.get("server")
        inputs: JsonObject = stored if isinstance(stored, dict) else {}
        if is_release:
            return inputs, release.outputs(inputs, number(server, "revision") or 1)
        return inputs, live.live(kind_of(subject.type), inputs, server if isinstance(server, dict) else {})

    def delete(self, subject: ResourceSubject, outputs: JsonObject) -> None:
        try:
            where, _ = reach.cluster_in(self._google.read(), self._config)
        except ProviderRefusal as error:
            if subject.type == release.TYPE:
                raise refusals.unreachable_to_uninstall(error) from None
            if os.environ.get("PULUMI_K8S_DELETE_UNREACHABLE") == "true":
                return
            raise refusals.unreachable_to_delete() from None
        is_release = subject.type == release.TYPE
        key = release.KEY if is_release else kind_of(subject.type).key
        with self._cloud.edit() as content:
            cluster = ClusterObjects(content, where)
            if cluster.get(key, subject.id) is not None:
                cluster.drop(key, subject.id)
            elif is_release:
                name = text(outputs, "name")
                raise ProviderRefusal(f"uninstall: Release not loaded: {name}: release: not found")

    def secret_outputs(self, subject: ResourceSubject, outputs: JsonObject) -> Iterator[Path]:
        """``annotateSecrets``: the contents of a Secret are secret, whoever wrote them."""
        if subject.type.endswith(("core/v1:Secret", "core/v1:SecretPatch")):
            yield from ((key,) for key in ("data", "stringData") if key in outputs)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _record(self, subject: ResourceSubject, inputs: Bag, server: JsonObject) -> JsonObject:
        secrets = inputs.secrets | set(self.secret_outputs(subject, inputs.values))
        return {"inputs": redact(inputs.values, secrets), "server": server}

    def _create_release(self, where: str, inputs: Bag) -> tuple[str, JsonObject]:
        ident = release.identity(inputs.values)
        release.fetch(inputs.values)
        with self._cloud.edit() as content:
            cluster = ClusterObjects(content, where)
            release.create(cluster, inputs.values)
            cluster.put(
                release.KEY, ident, {"inputs": redact(inputs.values, inputs.secrets), "server": {"revision": 1}}
            )
        return ident, release.outputs(inputs.values, 1)
