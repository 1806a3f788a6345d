"""``helm.sh/v3:Release``: recorded, not rendered.

Source: pulumi-kubernetes ``provider/helm_release.go`` @v4.25.0. Not imitated: charts in registries and repositories
are not fetched, so neither their existence nor their values are checked; ``resourceNames`` stays empty.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.kubernetes.objects import ClusterObjects
from localcloud.providers.protocol.difference import Difference, compare, names
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.rules import Failure, ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, JsonValue, has_unknown, text

TYPE = "kubernetes:helm.sh/v3:Release"
KEY = "helm.sh/v3/Release"
DEFAULT_TIMEOUT_SECONDS = 300
"""Default time limit of a release (``defaultTimeoutSeconds``)."""


def check(inputs: JsonObject) -> tuple[JsonObject, list[Failure]]:
    """Defaults as ``setDefaults``; a chart in a folder must be there and gives the version, as ``helmLoad`` does."""
    inputs = {**inputs, "namespace": inputs.get("namespace") or "default"}
    if inputs.get("skipAwait") is not True:
        inputs.setdefault("timeout", DEFAULT_TIMEOUT_SECONDS)
    inputs.pop("resourceNames", None)
    chart = text(inputs, "chart")
    if not chart and inputs.get("chart") != UNKNOWN:
        return inputs, [Failure("chart", "chart is required; check the chart name and repository configuration.")]
    if chart.startswith(("/", "./", "../")) and not has_unknown(inputs):
        if not Path(chart).exists():
            return inputs, [
                Failure("chart", f'path "{chart}" not found; check the chart name and repository configuration.')
            ]
        about = Path(chart) / "Chart.yaml"
        if about.is_file():
            inputs["version"] = str(yaml.safe_load(about.read_text()).get("version"))
    return inputs, []


def diff(old: JsonObject, new: JsonObject) -> Difference:
    """A new name or namespace is a new release. It is never deleted first (``DeleteBeforeReplace``)."""
    return compare(old, new, lambda change: names(change.path) in (("name",), ("namespace",)))


def identity(inputs: JsonObject) -> str:
    """The id of a release: ``namespace/name``."""
    return f"{text(inputs, 'namespace')}/{text(inputs, 'name')}"


def fetch(inputs: JsonObject) -> None:
    """Raises the error of a registry that does not answer, for charts that the faults name."""
    host, _, path = text(inputs, "chart").removeprefix("oci://").partition("/")
    if path.rpartition("/")[2] in Faults().listed("chartsAway"):
        address = f"https://{host}/v2/{path}/manifests/{text(inputs, 'version')}"
        raise ProviderRefusal(f'failed to do request: Head "{address}": dial tcp: i/o timeout')


def create(cluster: ClusterObjects, inputs: JsonObject) -> None:
    """Raises Helm's errors; creates the namespace if asked to, which Helm never removes."""
    namespace = text(inputs, "namespace")
    if cluster.get(KEY, identity(inputs)) is not None:
        raise ProviderRefusal("cannot re-use a name that is still in use")
    if not cluster.has_namespace(namespace):
        if inputs.get("createNamespace") is not True:
            raise ProviderRefusal(f'create: failed to create: namespaces "{namespace}" not found')
        made: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        cluster.put(
            "v1/Namespace", namespace, {"inputs": made, "server": {}, "madeBy": f"helm release {text(inputs, 'name')}"}
        )


def outputs(inputs: JsonObject, revision: int) -> JsonObject:
    """The release's own outputs beside its inputs."""
    chart = text(inputs, "chart").rstrip("/").rsplit("/", 1)[-1]
    version = text(inputs, "version")
    status: JsonObject = {
        "appVersion": version,
        "chart": chart,
        "name": text(inputs, "name"),
        "namespace": text(inputs, "namespace"),
        "revision": revision,
        "status": "deployed",
        "version": version,
    }
    return {**_kept(inputs), "resourceNames": {}, "status": status}


def preview(inputs: JsonObject) -> JsonObject:
    """``checkpointRelease``: the pure outputs are unknown in a preview."""
    unknown: dict[str, JsonValue] = {"resourceNames": UNKNOWN, "status": UNKNOWN}
    return {**_kept(inputs), **unknown}


def _kept(inputs: JsonObject) -> JsonObject:
    """What ``checkpointRelease`` keeps of the inputs: the fields of ``Release``; the SDK also sends ``compat``."""
    return {key: value for key, value in inputs.items() if key != "compat"}
