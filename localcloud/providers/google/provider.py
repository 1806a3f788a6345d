"""The Google stand-in: applies a :class:`Kind` to the protocol's calls and keeps the objects in ``google.json``.

Left out: every type that is not in a ``KINDS`` table (refused, with the way to add it), and Google's asynchronous
ways: an object is there when its Create has answered.
"""

# ruff: noqa: ARG002, D102 - documented in core.rules.Rules
from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as FilePath

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.product import versions
from localcloud.providers.google import container, control_plane, projects, schema, storage
from localcloud.providers.google.location import labels_of, outputs_of, place_of, provider_labels, slots, target_of
from localcloud.providers.google.references import NODE_POOL
from localcloud.providers.google.registry import (
    KINDS,
    defaults_of,
    forces,
    kind_of,
    made_up,
    secrets_of,
    without_defaults,
)
from localcloud.providers.google.resource_type import CloudState, TargetResource, digits, exists
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.difference import Difference, changes, compare, names
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.rules import Autoname, Failure, Incomplete, ProviderRefusal, ResourceSubject, Rules
from localcloud.providers.protocol.traits import ordered, without_noise
from localcloud.providers.protocol.values import (
    Bag,
    JsonObject,
    JsonValue,
    Path,
    all_unknown,
    dig,
    redact,
    restore,
    text,
)

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


class GoogleProvider(Rules):
    """Rules of ``pulumi-resource-gcp``."""

    name = "gcp"
    version = versions.program("pulumi-resource-gcp")

    def __init__(self, folder: FilePath, faults: Faults) -> None:
        self._cloud, self._faults, self._folder = CloudFile(folder / "google.json"), faults, folder
        self._config: JsonObject = {}

    # -- the provider's own settings -----------------------------------------------------------------------------

    def configure(self, config: JsonObject) -> None:
        self._config = config

    def diff_config(self, old: JsonObject, new: JsonObject) -> Difference:
        # The bridge never replaces a provider (pulumi/pulumi-terraform-bridge pkg/tfbridge/provider.go DiffConfig).
        return compare(old, new, lambda _: False)

    # -- resources -----------------------------------------------------------------------------------------------

    def check(
        self, subject: ResourceSubject, old: JsonObject, new: JsonObject, autoname: Autoname
    ) -> tuple[JsonObject, list[Failure]]:
        kind, inputs, defaulted = kind_of(subject.type), dict(new), list[JsonValue]()
        if kind.autoname and kind.named not in inputs and not text(inputs, "namePrefix"):
            kept = text(old, kind.named) if kind.named in defaults_of(old) else ""
            inputs[kind.named] = kept or made_up(subject.name, autoname, kind.autoname)
            defaulted.append(kind.named)
        for key, value in schema.facts(subject.type).get("defaults", {}).items():
            if "." not in key and key not in inputs:
                inputs[key] = value
                defaulted.append(key)
        inputs["__defaults"] = defaulted
        target = target_of(self._config, subject, kind, inputs)
        failures = list(schema.failures_in(subject.type, inputs))
        for slot in slots(kind):
            if slot not in inputs and slot in ("project", "region", "location") and not target.scope.get(slot):
                failures.append(Failure(slot, f"{slot}: required field is not set"))  # upstream GetProject, GetRegion
        name = text(inputs, "name")
        if (
            kind.autoname
            and subject.type != storage.BUCKET
            and name
            and (not _NAME.fullmatch(name) or len(name) > kind.autoname)
        ):
            failures.append(
                Failure(
                    "name",
                    f'"name" ("{name}") doesn\'t match regexp '
                    f'"^(?:[a-z](?:[-a-z0-9]{{0,{kind.autoname - 2}}}[a-z0-9])?)$"',
                )
            )  # upstream verify.ValidateGCEName
        return inputs, failures or list(kind.check(target))

    def diff(
        self, subject: ResourceSubject, old_inputs: JsonObject, old_outputs: JsonObject, new: JsonObject
    ) -> Difference:
        kind = kind_of(subject.type)
        traits = schema.traits(subject.type)
        inputs = ordered(old_inputs, new, traits)
        new = inputs if isinstance(inputs, dict) else new
        difference = compare(old_inputs, new, lambda change: forces(subject.type, change, old_inputs, new))
        difference = without_noise(difference, old_inputs, new, traits)
        if kind.labels and "effectiveLabels" in old_outputs:
            # upstream SetLabelsDiff: changed default labels of the provider change every labelled resource.
            effective = labels_of(self._config, kind, new)
            for key, labels in effective.items():
                difference.changes += changes(old_outputs.get(key), labels, (key,))
        # The bridge deletes first wherever the name was given, also where it changes
        # (pulumi/pulumi-terraform-bridge pkg/tfbridge/schema.go nameRequiresDeleteBeforeReplace).
        given = bool(kind.autoname) and kind.named in new and kind.named not in defaults_of(new)
        difference.delete_before_replace = bool(difference.replaces) and (given or kind.delete_first)
        return difference

    def preview(self, subject: ResourceSubject, inputs: Bag, old_outputs: JsonObject | None) -> JsonObject:
        kind = kind_of(subject.type)
        target = target_of(self._config, subject, kind, inputs.values)
        computed = kind.computed(target)
        if old_outputs is None:
            computed = {key: all_unknown(value) for key, value in computed.items()}
        else:
            computed = {key: old_outputs.get(key, UNKNOWN) for key in computed}
        return outputs_of(self._config, kind, target, computed)

    def create(self, subject: ResourceSubject, inputs: Bag, timeout: float) -> tuple[str, JsonObject]:
        kind = kind_of(subject.type)
        target = target_of(self._config, subject, kind, inputs.values)
        if failure := self._faults.create_failure(subject.type):
            raise ProviderRefusal(f"Error creating {kind.title}: {failure}")
        with self._cloud.edit() as content:
            cloud_state = CloudState(content, self._faults)
            if kind.numbered:
                target = replace(target, id=_free(cloud_state, target, subject.urn))
            projects.require(cloud_state, target.project, kind.api, f"Error creating {kind.title}")
            if cloud_state.get(subject.type, target.id) is not None and not kind.adopts:
                raise exists(target, kind.title)
            kind.create(cloud_state, target)
            computed = kind.computed(target)
            cloud_state.put(
                subject.type, target.id, _record(subject.type, inputs, computed) | {"status": "PROVISIONING"}
            )
        outputs = outputs_of(self._config, kind, target, computed)
        if not self._faults.delay(subject.type):
            # Google goes on without us; upstream keeps the object in the state so that it is found again
            # (resource_container_node_pool.go "Terraform was prematurely terminated").
            raise Incomplete(
                f"creation of {target.id} was cancelled", target.id, outputs, ["cancelled while Google was still at it"]
            )
        with self._cloud.edit() as content:
            cloud_state = CloudState(content, self._faults)
            record = cloud_state.get(subject.type, target.id) or {}
            record["status"] = "RUNNING"
            kind.after(cloud_state, target)
        _raise_error_state(target, record, outputs)
        return target.id, outputs

    def update(self, subject: ResourceSubject, old_inputs: Bag, inputs: Bag, timeout: float) -> JsonObject:
        kind = kind_of(subject.type)
        target = target_of(self._config, subject, kind, inputs.values)
        with self._cloud.edit() as content:
            cloud_state = CloudState(content, self._faults)
            projects.require(cloud_state, target.project, kind.api, f"Error updating {kind.title}")
            record = cloud_state.get(subject.type, subject.id)
            if record is None:
                raise ProviderRefusal(
                    f"Error updating {kind.title}: googleapi: Error 404: The resource '{subject.id}' was not found, "
                    "notFound"
                )
            kind.update(cloud_state, target, old_inputs.values)
            record["inputs"] = redact(without_defaults(inputs.values), inputs.secrets)
            if record.get("status") == "ERROR":
                kind.after(cloud_state, target)
            computed = record.get("computed")
        outputs = outputs_of(self._config, kind, target, computed if isinstance(computed, dict) else {})
        _raise_error_state(target, record, outputs)
        return outputs

    def read(self, subject: ResourceSubject, state: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        kind = kind_of(subject.type)
        record = CloudState(self._cloud.read(), self._faults).get(subject.type, subject.id)
        if record is None:
            return None
        stored, computed = restore(record["inputs"], state), record.get("computed")
        inputs: JsonObject = stored if isinstance(stored, dict) else {}
        target = target_of(self._config, subject, kind, inputs)
        kept: JsonObject = {"__defaults": state["__defaults"]} if "__defaults" in state else {}
        return inputs | kept, outputs_of(self._config, kind, target, computed if isinstance(computed, dict) else {})

    def delete(self, subject: ResourceSubject, outputs: JsonObject) -> None:
        kind = kind_of(subject.type)
        if outputs.get("deletionProtection") is True and subject.type == container.CLUSTER:
            # resource_container_cluster.go resourceContainerClusterDelete: the state decides, not the program.
            raise ProviderRefusal(
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion."
            )
        if outputs.get("deletionPolicy") == "PREVENT":
            raise ProviderRefusal(
                f'cannot destroy {kind.title} without setting deletion_policy="DELETE" and running `pulumi up`'
            )
        if failure := text(self._faults.read(), "failDelete", subject.type):
            raise ProviderRefusal(f"Error deleting {kind.title}: {failure}")
        if outputs.get("deletionPolicy") == "ABANDON":
            return
        with self._cloud.edit() as content:
            cloud_state = CloudState(content, self._faults)
            record = cloud_state.get(subject.type, subject.id)
            if record is None:  # upstream HandleNotFoundError: gone is gone
                return
            stored = record["inputs"]
            target = target_of(self._config, subject, kind, stored if isinstance(stored, dict) else {})
            projects.require(cloud_state, target.project, kind.api, f"Error deleting {kind.title}")
            kind.delete(cloud_state, target)
            cloud_state.drop(subject.type, subject.id)
        if subject.type == container.CLUSTER:
            control_plane.forget(self._folder, subject.id)

    def invoke(self, token: str, args: JsonObject) -> JsonObject:
        location = place_of(self._config, {})
        if token == "gcp:organizations/getClientConfig:getClientConfig":  # noqa: S105
            labels = provider_labels(self._config)
            return {"id": "client-config", "accessToken": "rehearsal", "defaultLabels": dict(labels), **location}
        if token == "gcp:organizations/getProject:getProject":  # noqa: S105
            project = text(args, "projectId") or location["project"]
            number = digits(project, 12)
            return {"id": f"projects/{project}", "projectId": project, "name": project, "number": number, "labels": {}}
        raise ProviderRefusal(
            f"the gcp stand-in has no function {token}; add it to google/provider.py if the program needs it"
        )

    def secret_outputs(self, subject: ResourceSubject, outputs: JsonObject) -> Iterator[Path]:
        if subject.type == "gcp:organizations/getClientConfig:getClientConfig":
            yield ("accessToken",)  # Sensitive upstream
        elif subject.type in KINDS:
            yield from (path for path in secrets_of(subject.type) if dig(outputs, *names(path)) is not None)


def _record(type_: str, inputs: Bag, computed: JsonObject) -> JsonObject:
    secrets = inputs.secrets | set(secrets_of(type_))
    return {"inputs": redact(without_defaults(inputs.values), secrets), "computed": computed}


def _free(cloud_state: CloudState, target: TargetResource, urn: str) -> str:
    """An id that Google assigns: always the same for a resource, unless another resource still has it."""
    candidates = (f"{target.id}{digits(f'{urn} {count}')}" for count in itertools.count())
    return next(ident for ident in candidates if cloud_state.get(target.type, ident) is None)


def _raise_error_state(target: TargetResource, record: JsonObject, outputs: JsonObject) -> None:
    """Fails for a pool without nodes, which upstream keeps in the state. Upstream only logs the reason; we show it."""
    if target.type == NODE_POOL and record.get("status") == "ERROR":
        cause = text(record, "statusMessage")
        message = f'NodePool {target.name} was created in the error state "ERROR": {cause}'
        raise Incomplete(message, target.id, outputs, [message])
