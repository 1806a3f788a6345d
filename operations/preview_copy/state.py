"""The state of a stack with dummies in place of its secrets.

Reads what ``pulumi stack export`` writes, which decrypts nothing (pulumi/pulumi v3.259.0,
pkg/backend/diy/backend.go ``ExportDeployment``), and creates the files of a file backend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from llmd_common.kubernetes.fields import each, get, part, text
from llmd_common.pulumi_signatures import SECRET, SIGNATURE, is_secret
from llmd_gke.manifests import access
from operations.exits import BadInput

PASSPHRASE = "no-secrets-here"  # noqa: S105 - it protects dummies only
"""Passphrase of every copy: the engine requires a secrets provider, although there is nothing to protect."""

SALT = "v1:2Qv0BBDo4S0=:v1:lTsmJTaB7cuQbhiK:rp2/x2xRpZNX6tBJnzQ/lXw66+yWVA=="
"""The value that the engine's passphrase provider stores for that passphrase (pkg/secrets/passphrase/manager.go)."""

CLUSTER = "gcp:container/cluster:Cluster"
GOOGLE = "pulumi:providers:gcp"
PROVISIONED = {"goog-pulumi-provisioned": "true"}
"""The label that the Google provider adds by default (terraform-provider-google ``tpgresource/labels.go``)."""

VERSIONS = (3, 4)
"""Versions of an exported state; version 4 adds ``features`` (pkg/resource/stack/deployment.go)."""

Table = Mapping[str, object]


@dataclass(frozen=True)
class Copy:
    """A deployment without any secret, as the file backend stores it. ``envelope``: its version and features.

    ``incomparable``: URNs of resources whose inputs hold secrets.

    A dummy differs from the value in the program or the cloud, so a preview excludes those resources.
    """

    envelope: Table
    deployment: Table
    incomparable: tuple[str, ...]


def without_secrets(exported: object, dummy: str) -> Copy:
    """The copy of an exported state, with ``dummy`` for each secret. Raises ``BadInput`` for anything else.

    Two kinds of secrets contain no credential and keep the form that the program and the provider write, because with a
    dummy the preview would plan a change: kubeconfigs, from the state's cluster, and the labels of Google's resources.
    Other secret outputs of Google's resources are omitted: the provider would reject a text in place of a table.
    """
    whole = part(exported)
    if not isinstance(whole.get("deployment"), Mapping) or whole.get("version") not in VERSIONS:
        raise BadInput(
            "This is not a state of version 3 or 4 as `pulumi stack export` writes it.\n"
            "Fix: pulumi stack export --stack STACK --file FILE, and pass it as --state FILE"
        )
    latest = part(whole, "deployment")
    resources = each(latest, "resources")
    kubeconfig = _kubeconfig(resources)
    labels = _defaults([one for one in resources if one.get("type") == GOOGLE])
    made = [_resource(one, dummy, kubeconfig, labels) for one in resources]
    incomparable = [
        str(one.get("urn"))
        for one in resources
        if one.get("custom") and not str(one.get("type")).startswith("pulumi:") and _has_secret(one.get("inputs"))
    ]
    kept = {key: value for key, value in latest.items() if key not in ("secrets_providers", "pending_operations")}
    provider = {"type": "passphrase", "state": {"salt": SALT}}
    envelope = {key: whole[key] for key in ("version", "features") if key in whole}
    return Copy(envelope, {**kept, "secrets_providers": provider, "resources": made}, tuple(incomparable))


def checkpoint(stack: str, project: str, copy: Copy) -> Table:
    """The file of a stack in a file backend (pkg/backend/diy, ``.pulumi/stacks/PROJECT/STACK.json``)."""
    return {
        **copy.envelope,
        "checkpoint": {"stack": f"organization/{project}/{stack}", "latest": copy.deployment},
    }


def _resource(resource: Table, dummy: str, kubeconfig: str | None, labels: Mapping[str, Table]) -> Table:
    copy = dict(resource)
    defaults = labels.get(str(resource.get("provider")), {})
    google = str(resource.get("type")).startswith("gcp:")
    for side in ("inputs", "outputs"):
        if side not in copy:
            continue
        values = part(copy, side)
        if google and side == "outputs":
            copy[side] = {**part(_left_out(values)), **_labels(values, defaults)}
            continue
        copy[side] = {key: _dummies(one, dummy) for key, one in values.items()}
        if is_secret(values.get("kubeconfig")) and kubeconfig is not None:
            copy[side] = {**part(copy, side), "kubeconfig": _plain(kubeconfig)}
    return copy


def _labels(outputs: Table, defaults: Table) -> Table:
    """The two secret outputs with labels, computed like the provider's, from default labels and the resource's."""
    labels = {**defaults, **(part(outputs, "labels") or part(outputs, "resourceLabels")), **PROVISIONED}
    return {key: _plain(labels) for key in ("pulumiLabels", "effectiveLabels") if is_secret(outputs.get(key))}


def _defaults(providers: Sequence[Table]) -> Mapping[str, Table]:
    """The default labels of each Google provider, by the reference in the resources; in the state they are JSON."""
    defaults: dict[str, Table] = {}
    for one in providers:
        given = get(one, "inputs", "defaultLabels")
        defaults[f"{one.get('urn')}::{one.get('id')}"] = part(json.loads(given) if isinstance(given, str) else given)
    return defaults


def _dummies(value: object, dummy: str) -> object:
    if is_secret(value):
        return _plain(dummy)
    if isinstance(value, Mapping):
        return {key: _dummies(one, dummy) for key, one in cast("Table", value).items()}
    if isinstance(value, list):
        return [_dummies(one, dummy) for one in cast("list[object]", value)]
    return value


def _left_out(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _left_out(one) for key, one in cast("Table", value).items() if not is_secret(one)}
    if isinstance(value, list):
        return [_left_out(one) for one in cast("list[object]", value) if not is_secret(one)]
    return value


def _plain(value: object) -> Table:
    """A secret in plain text, as ``pulumi stack export --show-secrets`` writes it: the engine takes both forms."""
    return {SIGNATURE: SECRET, "plaintext": json.dumps(value)}


def _has_secret(value: object) -> bool:
    if isinstance(value, Mapping):
        return is_secret(cast("Table", value)) or any(_has_secret(one) for one in cast("Table", value).values())
    return isinstance(value, list) and any(_has_secret(one) for one in cast("list[object]", value))


def _kubeconfig(resources: Sequence[Table]) -> str | None:
    clusters = [one for one in resources if one.get("type") == CLUSTER]
    if len(clusters) != 1:
        return None
    inputs, outputs = part(clusters[0], "inputs"), part(clusters[0], "outputs")
    name = text(outputs, "name")
    if get(inputs, "controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled") is not True:
        host = text(outputs, "controlPlaneEndpointsConfig", "dnsEndpointConfig", "endpoint")
        return access.kubeconfig(name, host, None) if host else None
    address, authority = text(outputs, "endpoint"), text(outputs, "masterAuth", "clusterCaCertificate")
    return access.kubeconfig(name, address, authority) if address and authority else None
