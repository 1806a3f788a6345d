"""The state of a stack with dummies in place of its secrets.

Reads what ``pulumi stack export`` writes, which decrypts nothing (pulumi/pulumi v3.259.0,
pkg/backend/diy/backend.go ``ExportDeployment``), and creates the files of a file backend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

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
    whole = _table(exported)
    deployment = whole.get("deployment")
    if not isinstance(deployment, Mapping) or whole.get("version") not in VERSIONS:
        raise BadInput(
            "This is not a state of version 3 or 4 as `pulumi stack export` writes it.\n"
            "Fix: pulumi stack export --stack STACK --file FILE, and pass it as --state FILE"
        )
    latest = _table(cast("object", deployment))
    resources = [_table(one) for one in _list(latest.get("resources"))]
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
        values = dict(_table(copy[side]))
        if google and side == "outputs":
            copy[side] = {**_table(_left_out(values)), **_labels(values, defaults)}
            continue
        copy[side] = {key: _dummies(one, dummy) for key, one in values.items()}
        if is_secret(values.get("kubeconfig")) and kubeconfig is not None:
            copy[side] = {**_table(copy[side]), "kubeconfig": _plain(kubeconfig)}
    return copy


def _labels(outputs: Table, defaults: Table) -> Table:
    """The two secret outputs with labels, computed like the provider's, from default labels and the resource's."""
    labels = {**defaults, **_table(outputs.get("labels") or outputs.get("resourceLabels")), **PROVISIONED}
    return {key: _plain(labels) for key in ("pulumiLabels", "effectiveLabels") if is_secret(outputs.get(key))}


def _defaults(providers: Sequence[Table]) -> Mapping[str, Table]:
    """The default labels of each Google provider, by the reference in the resources; in the state they are JSON."""
    defaults: dict[str, Table] = {}
    for one in providers:
        given = _table(one.get("inputs")).get("defaultLabels")
        defaults[f"{one.get('urn')}::{one.get('id')}"] = _table(json.loads(given) if isinstance(given, str) else given)
    return defaults


def _dummies(value: object, dummy: str) -> object:
    if isinstance(value, Mapping):
        table = _table(cast("object", value))
        if is_secret(table):
            return _plain(dummy)
        return {key: _dummies(one, dummy) for key, one in table.items()}
    if isinstance(value, list):
        return [_dummies(one, dummy) for one in _list(cast("object", value))]
    return value


def _left_out(value: object) -> object:
    if isinstance(value, Mapping):
        table = _table(cast("object", value))
        return {key: _left_out(one) for key, one in table.items() if not is_secret(one)}
    if isinstance(value, list):
        return [_left_out(one) for one in _list(cast("object", value)) if not is_secret(one)]
    return value


def _plain(value: object) -> Table:
    """A secret in plain text, as ``pulumi stack export --show-secrets`` writes it: the engine takes both forms."""
    return {SIGNATURE: SECRET, "plaintext": json.dumps(value)}


def _has_secret(value: object) -> bool:
    if isinstance(value, Mapping):
        return is_secret(cast("object", value)) or any(
            _has_secret(one) for one in _table(cast("object", value)).values()
        )
    return isinstance(value, list) and any(_has_secret(one) for one in _list(cast("object", value)))


def _kubeconfig(resources: Sequence[Table]) -> str | None:
    clusters = [one for one in resources if one.get("type") == CLUSTER]
    if len(clusters) != 1:
        return None
    outputs = _table(clusters[0].get("outputs"))
    name = str(outputs.get("name"))
    asked = _table(_table(clusters[0].get("inputs")).get("controlPlaneEndpointsConfig"))
    if _table(asked.get("ipEndpointsConfig")).get("enabled") is not True:
        there = _table(outputs.get("controlPlaneEndpointsConfig"))
        host = _table(there.get("dnsEndpointConfig")).get("endpoint")
        return access.kubeconfig(name, host, None) if isinstance(host, str) else None
    authority = _table(outputs.get("masterAuth")).get("clusterCaCertificate")
    address = outputs.get("endpoint")
    if isinstance(address, str) and isinstance(authority, str):
        return access.kubeconfig(name, address, authority)
    return None


def _table(value: object) -> Table:
    return cast("Table", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()
