"""A chart of KEDA from its Go module: the published one is in a repository of charts, which is not a Go module.

The manifests are those that KEDA's module publishes (kedacore/keda v2.21.0 ``config/default``), put together by
``kubectl kustomize``. Names, and the values that the program sets, are those of the published chart (kedacore/charts
``keda`` @1444d00); what the program does not set stays as in the manifests. One difference: the pods that serve metrics
and webhooks use the operator's service account, where the published chart makes one for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml

from llmd_common import child_process
from llmd_common.problems import SetUpFailed
from localcloud.product import scaling

KUSTOMIZATION = "config/default"
METRICS_NAME = re.compile(r"(?<!kedacore/)\bkeda-metrics-apiserver\b")
"""What the published chart names ``keda-operator-metrics-apiserver``; not the image."""
DEPLOYMENTS = {
    scaling.KEDA_OPERATOR: ("keda", "operator"),
    scaling.KEDA_METRICS: ("metricsApiServer", "metricServer"),
    "keda-admission": ("webhooks", "webhooks"),
}
"""Deployments, with the key of their image and the key of their resources among the chart's values."""
ACCOUNT = "serviceAccount.operator.name"

PLACEHOLDERS = (
    (re.compile(r"<<VERSION>>"), "{{ .Chart.AppVersion }}"),
    (re.compile(r"<<toJson (.+?)>>"), r"{{ toJson .Values.\1 }}"),  # JSON is YAML
    (re.compile(r"<<(.+?)>>"), r"{{ .Values.\1 }}"),
)
"""Text in the manifests, and the expression of the template that takes its place."""

Object = dict[str, Any]


def files(module: Path, kubectl: Path, version: str) -> dict[str, str]:
    """The files of the chart by their names. ``version`` is that of the published chart.

    Raises ``SetUpFailed`` if the module has no such manifests.
    """
    made = child_process.run([kubectl, "kustomize", module / KUSTOMIZATION])
    if made.returncode != 0:
        raise SetUpFailed(
            f"The manifests of KEDA {version} could not be put together: {made.stderr.strip()}\n"
            "Fix: correct the path in localcloud/go_builds/keda_chart.py, or choose another version in "
            "llmd_gke/catalog/versions.toml."
        )
    about = {"apiVersion": "v2", "name": scaling.KEDA_CHART, "version": version, "appVersion": version}
    return {"Chart.yaml": yaml.safe_dump(about), "values.yaml": "{}\n", **dict(_templates(made.stdout))}


def _templates(manifests: str) -> Iterator[tuple[str, str]]:
    if "{{" in manifests:
        raise SetUpFailed(
            "KEDA's manifests contain `{{`, which Helm would take for a template.\nFix: quote it in "
            "localcloud/go_builds/keda_chart.py."
        )
    objects = cast("Iterator[Object]", yaml.safe_load_all(METRICS_NAME.sub(scaling.KEDA_METRICS, manifests)))
    for position, obj in enumerate(objects):
        if obj["kind"] != "Namespace":  # the program's own
            _adapt(obj)
            text = yaml.dump(obj, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), width=1_000_000)
            for pattern, template in PLACEHOLDERS:
                text = pattern.sub(template, text)
            yield f"templates/{position:02}-{obj['kind'].lower()}.yaml", text


def _adapt(obj: Object) -> None:
    name = obj["metadata"]["name"]
    if obj["kind"] == "ServiceAccount":
        obj["metadata"]["name"] = _value(ACCOUNT)
    for subject in obj.get("subjects", []):
        if subject["name"] == scaling.KEDA_OPERATOR:
            subject["name"] = _value(ACCOUNT)
    if obj["kind"] == "Deployment":
        image, resources = DEPLOYMENTS[name]
        spec = obj["spec"]["template"]["spec"]
        spec["serviceAccountName"] = _value(ACCOUNT)
        (container,) = spec["containers"]
        container["image"] = f"{_value(f'image.{image}.registry')}/{_value(f'image.{image}.repository')}:<<VERSION>>"
        container["imagePullPolicy"] = _value("image.pullPolicy")
        container["resources"] = f"<<toJson resources.{resources}>>"
        if name == scaling.KEDA_OPERATOR:
            container["args"] += [
                f"--metrics-server-service-name={scaling.KEDA_METRICS}",
                f"--k8s-cluster-name={_value('clusterName')}",
            ]


def _value(path: str) -> str:
    return f"<<{path}>>"
