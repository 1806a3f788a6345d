"""Rules about the platform: charts, CRDs, KServe's configuration.

Sources: kserve ``charts/`` and ``pkg/apis/serving/v1beta1/configmap.go``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import unquote

from llmd_gke.catalog import front_door, kserve, versions
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Value
from llmd_gke.rules.versions import version_of

GKE_OWNED = re.compile(r"(inferencepools\.inference\.networking\.(x-)?k8s\.io|[a-z]+\.gateway\.networking\.k8s\.io)")
GATEWAY_API_SWITCHES = (
    (front_door.GATEWAY_CHART, ("crds", "enabled"), True),
    ("gateway-crds-helm", ("crds", "gatewayAPI", "enabled"), False),
)
"""Charts of Envoy Gateway with the Gateway API's CRDs, the value that installs them, and whether they do so unless it
is false (v1.8.3 ``charts``)."""
EXACT_VERSION = re.compile(r"v?\d+\.\d+\.\d+(?:[-+].*)?")
ARCHIVE = re.compile(r"(?P<name>.+?)-(?P<version>v?\d+\.\d+\.\d+.*)\.(?:tgz|tar\.gz)")


def chart_reference(chart: str) -> tuple[str, str | None]:
    """Name and version in a reference to a chart: an OCI address with tag or digest, an archive, a folder, a name."""
    last = unquote(re.split(r"[?#]", chart.strip().rstrip("/").rsplit("/", 1)[-1])[0])
    last, _, digest = last.partition("@")
    if archive := ARCHIVE.fullmatch(last):
        return archive["name"], archive["version"]
    name, _, tag = last.removesuffix(".tgz").removesuffix(".tar.gz").partition(":")
    return name, tag or digest or None


def is_folder(chart: str) -> bool:
    """Whether a chart is a folder beside the program: its version is fixed in its Chart.yaml."""
    return chart.startswith((".", "/", "file:"))


def kserve_namespace(chart: str, namespace: Input) -> Iterator[Finding]:
    """KServe's charts are installed in the namespace that is hard-coded in their CRDs' conversion webhook."""
    value = namespace.text()
    if chart in kserve.CHARTS and (namespace.value is None or value not in (None, kserve.NAMESPACE)):
        yield Finding(
            "kserve-namespace",
            f"{chart} would be installed in namespace {value or 'default'}; the CRD chart hard-codes kserve for the "
            "conversion webhook and its certificate, so conversion breaks anywhere else",
            allowed=kserve.NAMESPACE,
            fix="namespace: kserve",
        )


def bundled_crds(chart: str, values: Input, *, skipped: bool = False) -> Iterator[Finding]:
    """No chart installs CRDs that GKE manages. ``skipped``: the release installs none of those in a chart's folder."""
    for name, path, by_default in GATEWAY_API_SWITCHES:
        installs = values.get(*path)
        if chart == name and not skipped and (installs.value is True or (by_default and installs.value is None)):
            yield Finding(
                "crd-ownership",
                f"{chart} would install the Gateway API's CRDs over those that GKE manages (envoyproxy/gateway#9004)",
                fix=f"set the value {'.'.join(path)}: false",
            )
        elif chart == name:
            installs.boolean()
    if chart != kserve.CONTROLLER_CHART:
        return
    switch = values.get("kserve", "llmisvc", "createGIECRDs")
    if switch.value is None or switch.boolean() is True:
        yield Finding(
            "crd-ownership",
            f"{kserve.CONTROLLER_CHART} would install the InferencePool CRDs (createGIECRDs is true unless switched "
            f"off): GKE manages them from {versions.gke_floor()} on, and the two would overwrite each other",
            fix="set the value kserve.llmisvc.createGIECRDs: false",
        )


def owned_crd(name: Input) -> Iterator[Finding]:
    """The program does not create a CRD that GKE installs itself once its Gateway API channel is enabled."""
    value = name.text()
    if value is not None and GKE_OWNED.fullmatch(value):
        yield Finding(
            "crd-ownership",
            f"CRD {value} is GKE's own (Gateway API channel; InferencePool v1 from {versions.gke_floor()}) or "
            "makes KServe create every pool twice (v1alpha2); GKE 1.35 blocks the experimental channel",
            fix="remove it and set gatewayApiConfig.channel: CHANNEL_STANDARD on the cluster",
        )


def preset_deletion(chart: str, values: Input) -> Iterator[Finding]:
    """The controller allows the deletion of its presets on a destroy."""
    if chart != kserve.CONTROLLER_CHART:
        return
    for variable in values.get("kserve", "llmisvc", "controller", "env").each():
        if variable.get("name").text() == "PREVENT_WELL_KNOWN_CONFIG_DELETION":
            if str(variable.get("value").value).lower() == "false":
                return
            break
    if not values.notes.unknown:
        yield Finding(
            "preset-deletion",
            "KServe's webhook rejects the deletion of its presets, so `pulumi destroy` fails",
            fix="set env PREVENT_WELL_KNOWN_CONFIG_DELETION=false in kserve.llmisvc.controller.env",
        )


def chart_version(release: Input, floors: Mapping[str, str], why: Mapping[str, str]) -> Iterator[Finding]:
    """The chart has one version, which is not older than its floor. ``floors`` maps prefixes of charts' names to
    versions.

    A version can be a field of the release, part of the chart's address, or an option for fetching it.
    """
    reference = release.get("chart").text() or release.get("path").text() or ""
    chart, inside = chart_reference(reference)
    name = next((start for start in floors if chart == start or chart.startswith(f"{start}-")), None)
    if name is None:
        return
    given_versions = [release.get("version"), release.get("fetchOpts", "version")]
    written = [text for value in given_versions if (text := value.text())]
    if inside is not None:
        written.append(inside)
    if not written and not is_folder(reference) and not release.notes.unknown:
        yield _chart_version(f"{chart} has no version: whatever is newest at the time is installed", floors[name])
    for text in written:
        version, floor = version_of(text), version_of(floors[name])
        if not EXACT_VERSION.fullmatch(text) and not text.startswith("sha256:"):
            yield _chart_version(
                f"{chart} {text} is not an exact version: what is installed depends on the time", floors[name]
            )
        elif version and floor and (version < floor or (version == floor and "-" in text)):
            yield _chart_version(f"{chart} {text} is older than {floors[name]}: {why[name]}", floors[name])


def _chart_version(problem: str, floor: str) -> Finding:
    return Finding("platform-version", problem, allowed=f"{floor} or newer", fix=f"use {floor} or newer")


def kserve_tls(data: Input) -> Iterator[Finding]:
    """KServe serves plain HTTP: GKE's Gateway always uses the Service's protocol."""
    text = data.get("ingress").text()
    try:
        ingress = cast("Value", json.loads(text)) if text else None
    except json.JSONDecodeError:
        return
    # Go ignores the case of JSON keys.
    switches = ingress.items() if isinstance(ingress, Mapping) else ()
    if any(key.lower() == "enablellminferenceservicetls" and value is True for key, value in switches):
        yield Finding(
            "kserve-tls",
            "data.ingress: enableLLMInferenceServiceTLS is true: workload Services declare https, but the "
            "InferencePool is called by plain HTTP, and GKE's Gateway cannot override either (WRONG_VERSION_NUMBER)",
            allowed="false",
            fix="set enableLLMInferenceServiceTLS to false",
        )
