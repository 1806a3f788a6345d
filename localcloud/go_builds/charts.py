"""The chart folder for the Platform component (``llmd-gke:platform.chartFolder``), from the published Go modules.

Every chart is the one that its project publishes, at the version of ``catalog/versions.toml``. Some are stamped on
publication, which is repeated here: cert-manager's (cert-manager ``make/manifests.mk``, target
``cert-manager-$(VERSION).tgz``, which also leaves out the files in :data:`UNPUBLISHED`), LeaderWorkerSet's
(kubernetes-sigs/lws ``hack/push-chart.sh``; the image's tag is one of the program's values), those of Envoy Gateway
(envoyproxy/gateway ``tools/make/helm.mk``, which also fills in :data:`TEMPLATE`), of Envoy AI Gateway
(envoyproxy/ai-gateway ``Makefile``, target ``helm-package``) and Istio's (istio/release-builder ``pkg/build/helm.go``,
which also sets hub and tag of its images).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import yaml

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import keda_chart, modules
from localcloud.product import scaling, versions
from localcloud.providers.protocol.values import JsonObject, JsonValue, merge

UNPUBLISHED = ("tests", "README.template.md", "signkey_annotation.txt", "values.linter.exceptions")
TEMPLATE = "values.tmpl.yaml"
"""The default values of Envoy Gateway's chart, with variables in them."""

_KSERVE = "github.com/kserve/kserve"
_ENVOY_GATEWAY = "github.com/envoyproxy/gateway"
_AI_GATEWAY = "github.com/envoyproxy/ai-gateway"
_ISTIO = "istio.io/istio"
_KEDA = "github.com/kedacore/keda/v2"


@dataclass(frozen=True)
class ChartSource:
    """Where a chart is: the module, and the folder in it. ``stamped``: its project sets the versions on publication.
    ``values``: default values that differ here. ``files``: further files of the module, by their names in the chart.
    """

    module: str
    folder: str
    stamped: bool = False
    values: JsonObject = field(default_factory=dict[str, JsonValue])
    files: Mapping[str, str] = field(default_factory=dict[str, str])


SOURCES = {
    "cert-manager": ChartSource("github.com/cert-manager/cert-manager", "deploy/charts/cert-manager", stamped=True),
    "lws": ChartSource("sigs.k8s.io/lws", "charts/lws", stamped=True),
    "kserve-llmisvc-crd": ChartSource(_KSERVE, "charts/kserve-llmisvc-crd"),
    "kserve-llmisvc-resources": ChartSource(_KSERVE, "charts/kserve-llmisvc-resources"),
    "kserve-runtime-configs": ChartSource(_KSERVE, "charts/kserve-runtime-configs"),
}
"""The charts of every stack."""

FRONT_DOOR = {
    "gateway-helm": ChartSource(_ENVOY_GATEWAY, "charts/gateway-helm", stamped=True),
    "ai-gateway-crds-helm": ChartSource(_AI_GATEWAY, "manifests/charts/ai-gateway-crds-helm", stamped=True),
    "ai-gateway-helm": ChartSource(_AI_GATEWAY, "manifests/charts/ai-gateway-helm", stamped=True),
}
"""Further charts of stacks with a front door."""

_DEFAULTS = "_internal_defaults_do_not_set"
ISTIO_IMAGES: JsonObject = {"global": {"hub": "docker.io/istio", "tag": versions.chart("istiod").version}}
UPSTREAM_ENVOY: JsonObject = {
    # Istio's own Envoy is not published as a package. Upstream's lacks these filters and rejects a configuration that
    # names one: istio.metadata_exchange and peer_metadata, istio.alpn, istio.stats.
    "env": {"PILOT_ENABLE_METADATA_EXCHANGE": "false", "PILOT_ENABLE_ALPN_FILTER": "false"},
    "telemetry": {"enabled": False},
    # Not in /usr, which is this machine's, read-only: Envoy is linked to the C library (``nodes/images.toml``).
    "meshConfig": {"defaultConfig": {"binaryPath": "/opt/bin/envoy"}},
}

ISTIO = {
    "istio-base": ChartSource(_ISTIO, "manifests/charts/base", stamped=True),
    # Without its DaemonSet: the kubelet does its work (``nodes/mesh.py``).
    "istio-cni": ChartSource(
        _ISTIO, "manifests/charts/istio-cni", stamped=True, values={_DEFAULTS: {"global": {"resourceScope": "cluster"}}}
    ),
    "istiod": ChartSource(
        _ISTIO,
        "manifests/charts/istio-control/istio-discovery",
        stamped=True,
        values={_DEFAULTS: merge(ISTIO_IMAGES, UPSTREAM_ENVOY)},
        # Of the image of Istio's Envoy: the table of images takes it from here.
        files={"envoy_bootstrap.json": "tools/packaging/common/envoy_bootstrap.json"},
    ),
}
"""Further charts of stacks whose Gateway is Istio's."""


def prepare(folder: Path, *, front_door: bool = False, istio: bool = False, kubectl: Path | None = None) -> Path:
    """Puts the charts of ``catalog/versions.toml`` into ``folder``, one sub-folder each, and returns it.

    ``front_door``, ``istio``: those of :data:`FRONT_DOOR` and :data:`ISTIO`, too. ``kubectl``: KEDA's, too, which that
    program puts together. A second call changes nothing; a chart of another version is replaced. Raises ``SetUpFailed``
    when a module cannot be downloaded or contains no such chart.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*SOURCES, *(FRONT_DOOR if front_door else ()), *(ISTIO if istio else ())):
        target = folder / name
        if not modules.is_made(target, stamp(name)):
            with modules.making(target, stamp(name)) as folder_of_chart:
                made(name, module_version(name), folder_of_chart)
    if kubectl is not None:
        _make_keda(kubectl, folder / scaling.KEDA_CHART)
    return folder


def stamp(name: str) -> str:
    """What a chart's folder says it was made from."""
    source = (SOURCES | FRONT_DOOR | ISTIO)[name]
    version = f"{source.module}@{module_version(name)} as {versions.chart(name).version}"
    return f"{version} {source.folder}{source.values or ''}\n"


def _make_keda(kubectl: Path, target: Path) -> None:
    version = versions.archive(scaling.KEDA_CHART).version
    stamp = f"{_KEDA}@v{version} {keda_chart.KUSTOMIZATION}\n"
    if modules.is_made(target, stamp):
        return
    with modules.making(target, stamp) as made:
        made.mkdir()
        for name, text in keda_chart.files(modules.folder(_KEDA, f"v{version}"), kubectl, version).items():
            (made / name).parent.mkdir(exist_ok=True)
            (made / name).write_text(text)


def module_version(chart: str) -> str:
    """The Go module's version of a chart: that of the chart, with a ``v``, or an older one."""
    if source := (FRONT_DOOR | ISTIO).get(chart):
        return versions.program(source.module)
    return "v" + versions.chart(chart).version.removeprefix("v")


def made(name: str, version: str, target: Path) -> Path:
    """Puts a chart of a version of its module into the folder ``target``, and returns that. Raises as
    :func:`prepare`.
    """
    source = (SOURCES | FRONT_DOOR | ISTIO)[name]
    module = modules.folder(source.module, version)
    if not (module / source.folder / "Chart.yaml").is_file():
        raise SetUpFailed(
            f"{source.module} {version} has no chart at {source.folder}.\n"
            "Fix: correct the path in localcloud/go_builds/charts.py, or choose another version in "
            "llmd_gke/catalog/versions.toml."
        )
    # Files of the module cache are read-only: only their contents are copied.
    ignore = shutil.ignore_patterns(*UNPUBLISHED)
    shutil.copytree(module / source.folder, target, copy_function=shutil.copyfile, ignore=ignore)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if source.stamped:
        about = target / "Chart.yaml"
        own = versions.chart(name).version  # of the release; the module's may be older
        if version != module_version(name):
            own = version if own.startswith("v") else version.removeprefix("v")
        about.write_text(stamped(about.read_text(), own, own if name in ISTIO else version))
    if (template := target / TEMPLATE).exists():
        (target / "values.yaml").write_text(filled_in(template.read_text(), version))
        template.unlink()
    if source.values:
        defaults = target / "values.yaml"
        defaults.write_text(yaml.safe_dump(merge(yaml.safe_load(defaults.read_text()), source.values)))
    for file, there in source.files.items():
        shutil.copyfile(module / there, target / file)
    return target


def stamped(about: str, version: str, app_version: str) -> str:
    """``Chart.yaml`` with the versions that its project gives it on publication."""
    about = re.sub(r"(?m)^version:.*$", f"version: {version}", about)
    return re.sub(r"(?m)^appVersion:.*$", f"appVersion: {app_version}", about)


def filled_in(template: str, version: str) -> str:
    """The default values of Envoy Gateway's chart, as its project publishes them for a release."""
    values = {"GatewayImage": f"docker.io/envoyproxy/gateway:{version}", "GatewayImagePullPolicy": "IfNotPresent"}
    return Template(template).substitute(values)
