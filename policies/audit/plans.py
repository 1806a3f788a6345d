"""Reads what programs would create: plans of Terraform, and previews and states of Pulumi, all in JSON.

Formats: https://developer.hashicorp.com/terraform/internals/json-format (format version 1), and pulumi/pulumi v3.259.0,
``sdk/go/common/apitype`` (``PreviewDigest``, ``DeploymentV3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from llmd_common.pulumi_signatures import SECRET, SIGNATURE, UNKNOWNS
from llmd_gke.rules.inputs import UNKNOWN, SecretText, Value, table_of
from policies.audit.manifests import of_text
from policies.audit.resources import Resource, Source, is_object, of_object, unknown_where
from policies.groups import ALL

Table = Mapping[str, Value]

LISTS = {
    "allow": "allows",
    "deny": "denies",
    "guest_accelerator": "guestAccelerators",
    "node_pool": "nodePools",
    "rule": "rules",
    "rules": "rules",
    "secondary_ip_range": "secondaryIpRanges",
    "taint": "taints",
    "cidr_blocks": "cidrBlocks",
}
"""Blocks of Google's resources that are lists in Pulumi, and their names there. Terraform writes every block as a list;
Pulumi makes an object of those that occur once."""

_IRREGULAR = {
    "google_service_account_key": "serviceaccount/key:Key",
    "google_org_policy_policy": "orgpolicy/policy:Policy",
    "google_project_organization_policy": "projects/organizationPolicy:OrganizationPolicy",
    "google_organization_policy": "organizations/policy:Policy",
}


def _terraform_name(kind: str) -> str:
    return "google_" + re.sub(r"(?=[A-Z])", "_", kind.partition(":")[0].replace("/", "_")).lower()


TYPES = {
    _terraform_name(kind.name): kind.name for rule in ALL for kind in rule.kinds if kind.group == "gcp"
} | _IRREGULAR
"""Pulumi's types of the Google resources that rules are about, by Terraform's."""


def of_terraform(plan: Table, file: str) -> Source:
    """The resources as they are after a plan (``terraform show -json``)."""
    source = Source()
    for change in _tables(plan.get("resource_changes")):
        planned = table_of(change.get("change"))
        if change.get("mode") != "managed" or planned.get("after") is None:
            continue
        after = _marked(planned["after"], planned.get("after_unknown"), planned.get("after_sensitive"))
        type_, address = str(change.get("type")), str(change.get("address"))
        made = list(_from_terraform(type_, table_of(after), address, file))
        source.resources += made
        if not made:
            source.unread.append(f"{address} is of a type that is not read")
    return source


def _from_terraform(type_: str, values: Table, address: str, file: str) -> Iterator[Resource]:
    manifest = values.get("manifest")
    if type_.startswith("google_"):
        # `prevent_destroy` is not in a plan.
        yield Resource(f"gcp:{TYPES.get(type_, f'{type_}:{type_}')}", _renamed(values), address, file, protect=None)
    elif type_ == "helm_release":
        chart = {"chart": values.get("chart"), "version": values.get("version"), "namespace": values.get("namespace")}
        texts = values.get("values")
        yield Resource("kubernetes:helm.sh/v3:Release", {**chart, "valueYamlFiles": texts}, address, file)
    elif isinstance(manifest, Mapping) and is_object(manifest):
        yield of_object(manifest, file)
    elif isinstance(text := values.get("yaml_body"), str):
        yield from of_text(text, file).resources


def _renamed(value: Value) -> Value:
    """Terraform's values with the names and shapes of Pulumi's inputs."""
    if isinstance(value, Mapping):
        return {
            LISTS.get(key, re.sub(r"_(\w)", lambda match: match[1].upper(), key)): _renamed(
                _block(item) if key not in LISTS else item
            )
            for key, item in value.items()
            if item not in (None, [])
        }
    return [_renamed(item) for item in value] if isinstance(value, list) else value


def _block(value: Value) -> Value:
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping) else value


def _marked(value: Value, unknown: Value, sensitive: Value) -> Value:
    """A value with its unknown and its sensitive parts marked; ``unknown`` and ``sensitive`` have its shape."""
    if unknown is True:
        return UNKNOWN
    if isinstance(value, Mapping):
        known, secret = table_of(unknown), table_of(sensitive)
        keys = [*value, *(key for key in known if key not in value)]
        return {key: _marked(value.get(key), known.get(key), secret.get(key, sensitive is True)) for key in keys}
    if isinstance(value, list):
        return [_marked(item, _at(unknown, n), _at(sensitive, n)) for n, item in enumerate(value)]
    return SecretText(value) if sensitive is True and isinstance(value, str) else value


def _at(marks: Value, position: int) -> Value:
    if isinstance(marks, list):
        return marks[position] if position < len(marks) else None
    return marks


def of_pulumi(content: Table, file: str) -> Source:
    """The resources of ``pulumi preview --json``, or of ``pulumi stack export``."""
    source = Source()
    states: list[Table] = [
        table_of(step.get("newState")) for step in _tables(content.get("steps")) if step.get("op") != "delete"
    ]
    states += _tables(table_of(content.get("deployment")).get("resources"))
    for state in states:
        urn = str(state.get("urn"))
        source.stack, name = urn.removeprefix("urn:pulumi:").partition("::")[0], urn.rpartition("::")[2]
        inputs = unknown_where(_unsigned(state.get("inputs")), lambda text: text in UNKNOWNS or text == "[secret]")
        if state.get("type") and not state.get("external") and not state.get("delete"):
            source.resources.append(
                Resource(str(state["type"]), inputs, name, file, protect=state.get("protect") is True)
            )
    return source


def _unsigned(value: Value) -> Value:
    """A value whose secrets, which are encrypted, are unknown; texts of assets instead of the assets."""
    if isinstance(value, Mapping):
        if value.get(SIGNATURE) == SECRET:
            return UNKNOWN
        return value["text"] if SIGNATURE in value and "text" in value else {k: _unsigned(v) for k, v in value.items()}
    return [_unsigned(item) for item in value] if isinstance(value, list) else value


def _tables(value: Value) -> list[Table]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
