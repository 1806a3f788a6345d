"""Ways around the rules by other operators: containers outside lists, objects in objects, values of charts."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from policies import extract
from tests.policies.conftest import InStack
from tests.policies.registered import GATEWAY, GATEWAY_TEXT, RESOURCES, TPU_POD, bundle, release, thing
from tests.policies.support import Resource, of, output, run_pack, secret, text_asset

PRIVILEGED: dict[str, Any] = {"securityContext": {"privileged": True}}
HOST_VOLUME = {"name": "h", "hostPath": {"path": "/"}}
BALANCER = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"type": "LoadBalancer"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "a", **PRIVILEGED}]},
}
ANYBODY = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "x"},
    "subjects": [{"kind": "User", "name": "system:anonymous"}],
}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "stringData": {"t": "abcdef"}}
EXTERNAL: dict[str, Any] = {
    "metadata": {"name": "x", "annotations": {"networking.gke.io/load-balancer-type": "External"}},
    "spec": {"ports": [{"port": 80}]},
}
TOKEN = "hf_" + "abcdef" * 6


def operator(kind: str, group: str, **spec: object) -> Resource:
    return thing(kind, f"{group}/v1", spec=spec)


def values(**result: object) -> Resource:
    return release("x", values=result)


def values_file(text: str, chart: str = "x", **inputs: object) -> Resource:
    return release(chart, valueYamlFiles=[text_asset(text)], **inputs)


def held(manifest: object) -> Resource:
    return operator("Object", "kubernetes.crossplane.io", forProvider={"manifest": manifest})


def server(**model: object) -> Resource:
    predictor = {"nodeSelector": TPU_POD["nodeSelector"], "model": {"modelFormat": {"name": "vllm"}, **model}}
    return operator("InferenceService", "serving.kserve.io", predictor=predictor)


ATTACKS: dict[str, tuple[Resource, str]] = {
    # Containers outside lists of containers
    "InferenceService": (server(**PRIVILEGED), "privileged-pod"),
    "secret of an InferenceService": (server(env=[{"name": "HF_TOKEN", "value": "abcdef"}]), "plain-secret"),
    "image of an InferenceService": (
        server(image="x/vllm:latest", resources={"limits": {"google.com/tpu": 4}}),
        "image-tag",
    ),
    "script": (operator("Workflow", "argoproj.io", templates=[{"script": PRIVILEGED}]), "privileged-pod"),
    "container": (operator("CronWorkflow", "argoproj.io", templates=[{"container": PRIVILEGED}]), "privileged-pod"),
    "steps": (operator("Task", "tekton.dev", steps=[{"name": "a", **PRIVILEGED}]), "privileged-pod"),
    "step template": (operator("Task", "tekton.dev", stepTemplate=PRIVILEGED), "privileged-pod"),
    "sidecars": (operator("Task", "tekton.dev", sidecars=[{"name": "a", **PRIVILEGED}]), "privileged-pod"),
    "spec that is a container": (
        operator("OpenTelemetryCollector", "opentelemetry.io", **PRIVILEGED),
        "privileged-pod",
    ),
    "driver": (
        operator(
            "SparkApplication",
            "sparkoperator.k8s.io",
            driver={"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}},
        ),
        "privileged-pod",
    ),
    "processes of the node": (
        operator("Fleet", "example.com", agent={"securityContext": {"procMount": "Unmasked"}}),
        "privileged-pod",
    ),
    "host network of an operator": (
        operator("Prometheus", "monitoring.coreos.com", hostNetwork=True),
        "privileged-pod",
    ),
    "volumes of an operator": (
        operator("Prometheus", "monitoring.coreos.com", volumes=[HOST_VOLUME]),
        "privileged-pod",
    ),
    "volumes by another name": (operator("Fleet", "example.com", extraVolumes=[HOST_VOLUME]), "privileged-pod"),
    "storage": (operator("Cache", "example.com", storage={"hostPath": {"path": "/"}}), "privileged-pod"),
    "a pod set of Kueue": (
        operator("Workload", "kueue.x-k8s.io", podSets=[{"template": {"spec": POD["spec"]}}]),
        "privileged-pod",
    ),
    "a pod of outputs": (
        thing("Pod", "v1", spec=output({"containers": output([output(PRIVILEGED)])})),
        "privileged-pod",
    ),
    # Objects inside objects
    "a Service in another object": (held(BALANCER), "public-service"),
    "a Service in a list of another object": (
        operator("ManifestWork", "work.open-cluster-management.io", workload={"manifests": [BALANCER]}),
        "public-service",
    ),
    "objects of a template": (thing("Template", "template.openshift.io/v1", objects=[BALANCER]), "public-service"),
    "a List in another object": (
        held({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [BALANCER]}),
        "public-service",
    ),
    "an object in an object in an object": (held(held(BALANCER).inputs), "public-service"),
    "a binding in another object": (held(ANYBODY), "anonymous-binding"),
    "a Secret in another object": (held(SECRET), "plain-secret-value"),
    "a Gateway in another object": (held(GATEWAY), "gateway-class"),
    "a pod in another object": (held(POD), "privileged-pod"),
    "a list among objects": (bundle(objs=[[GATEWAY]]), "gateway-class"),
    "a text that is an asset": (bundle(yaml=text_asset(GATEWAY_TEXT)), "gateway-class"),
    "a script that is an asset": (
        thing("ConfigMap", "v1", data={"start.sh": text_asset("export HF_TOKEN=abcdef")}),
        "plain-secret-value",
    ),
    # Values of charts
    "security context": (values(**PRIVILEGED), "privileged-pod"),
    "security context by name": (
        values(controller={"containerSecurityContext": {"privileged": True}}),
        "privileged-pod",
    ),
    "capabilities": (
        values(agent={"securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}}}),
        "privileged-pod",
    ),
    "volumes": (values(extraVolumes=[HOST_VOLUME]), "privileged-pod"),
    "host network as text": (values(hostNetwork="true"), "privileged-pod"),
    "a file of values": (values_file("hostNetwork: true\n"), "privileged-pod"),
    "a secret file of values": (release("x", valueYamlFiles=[secret(text_asset("hostPID: true"))]), "privileged-pod"),
    "a file of values of a Chart": (
        Resource("kubernetes:helm.sh/v4:Chart", "c", {"chart": "x", "valueYamlFiles": [text_asset("hostIPC: true")]}),
        "privileged-pod",
    ),
    "a file of values beside values": (
        values_file("a: {hostNetwork: true}\n", values={"a": {"replicas": 1}}),
        "privileged-pod",
    ),
    "a later file of values": (
        release(
            RESOURCES,
            version="v0.20.0",
            valueYamlFiles=[
                text_asset("kserve: {llmisvc: {createGIECRDs: false}}"),
                text_asset("kserve: {llmisvc: {createGIECRDs: true}}"),
            ],
        ),
        "crd-ownership",
    ),
    "objects of one's own": (values(extraObjects=[POD]), "privileged-pod"),
    "objects of one's own as text": (values(extraDeploy=[json.dumps(POD)]), "privileged-pod"),
    "a Service of a chart": (values(service={"type": "LoadBalancer"}), "public-service"),
    "a node port of a chart": (values(controller={"service": {"type": "NodePort"}}), "public-service"),
    "an Ingress of a chart": (values(server={"ingress": {"enabled": True, "className": "gce"}}), "ingress"),
    "an Ingress of a chart beside a NetworkPolicy": (
        values(networkPolicy={"enabled": True}, ingress={"enabled": True, "hosts": []}),
        "ingress",
    ),
    "an Ingress by the name of a NetworkPolicy": (
        values(networkPolicy={"ingress": {"enabled": True, "hosts": ["a.example"]}}),
        "ingress",
    ),
    "a file of values with a key of the pack's own": (
        values_file("unreadable: 1\nhostNetwork: true\n"),
        "privileged-pod",
    ),
    "a secret around a placeholder": (held({**SECRET, "stringData": {"t": "abcdef{{ .k }}"}}), "plain-secret-value"),
    "a secret that a placeholder falls back on": (
        held({**SECRET, "stringData": {"t": '{{ .k | default "abcdef" }}'}}),
        "plain-secret-value",
    ),
    "a placeholder that is a text": (held({**SECRET, "stringData": {"t": '{{ "abcdef" }}'}}), "plain-secret-value"),
    "a secret in a file with a placeholder": (
        held({**SECRET, "stringData": {"t": "user: {{ .u }}\npassword: abcdef"}}),
        "plain-secret-value",
    ),
    "a token for a chart": (values(auth={"hub": TOKEN}), "plain-secret-value"),
}


@pytest.mark.parametrize(("resource", "rule"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_by_another_operator_is_seen(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    diagnostics = of(run_pack([resource]), rule)
    assert "MANDATORY" in {one.level for one in diagnostics}
    assert not any("this rule failed" in one.text or "abcdef" in one.text for one in diagnostics)


def test_an_object_in_another_is_reported_once() -> None:
    assert len(of(run_pack([held(POD)]), "privileged-pod")) == 1
    assert len(of(run_pack([held(held(POD).inputs)]), "privileged-pod")) == 1


HARMLESS: dict[str, tuple[Resource, str]] = {
    "a reference to an object": (
        operator("Fleet", "example.com", targetRef={"apiVersion": "v1", "kind": "Service", "name": "x"}),
        "public-service",
    ),
    "an unprivileged container": (values(securityContext={"privileged": False}), "privileged-pod"),
    "dropped capabilities": (values(securityContext={"capabilities": {"drop": ["ALL"]}}), "privileged-pod"),
    "no folder of the node": (values(persistence={"hostPath": ""}), "privileged-pod"),
    "an internal Service of a chart": (
        values(service={"type": "LoadBalancer", "annotations": {"networking.gke.io/load-balancer-type": "Internal"}}),
        "public-service",
    ),
    "no Ingress of a chart": (values(ingress={"enabled": False}), "ingress"),
    "an internal Ingress of a chart": (values(ingress={"enabled": True, "className": "gce-internal"}), "ingress"),
    "a Service of a chart that is switched off": (
        values(service={"enabled": False, "type": "LoadBalancer"}),
        "public-service",
    ),
    "a NetworkPolicy of a chart": (values(networkPolicy={"ingress": {"enabled": True}}), "ingress"),
    "a firewall of a chart": (values(server={"firewallRules": {"ingress": {"enabled": "true"}}}), "ingress"),
    "a Secret that a chart fills in": (
        values(extraDeploy=[json.dumps({**SECRET, "stringData": {"token": "{{ .Values.token }}"}})]),
        "plain-secret-value",
    ),
    "a Secret as an object that a chart fills in": (
        values(extraDeploy=[{**SECRET, "stringData": {"token": '{{ index .Values "token" | quote }}'}}]),
        "plain-secret-value",
    ),
    "a Secret that an operator fills in": (
        held({**SECRET, "stringData": {"token": "{{ .k }}", "url": "redis://:{{ .k }}@redis:6379"}}),
        "plain-secret-value",
    ),
    "a file that an operator fills in": (
        held({**SECRET, "stringData": {"a.yaml": "user: web\npassword: {{ .k }}\n"}}),
        "plain-secret-value",
    ),
    "a Service without a type": (
        thing("Service", "v1", **EXTERNAL),
        "public-service",
    ),
    "a secret token for a chart": (values(auth={"hub": secret(TOKEN)}), "plain-secret-value"),
    "a switch in a file of values": (
        values_file("kserve: {llmisvc: {createGIECRDs: false}}", RESOURCES, version="v0.20.0"),
        "crd-ownership",
    ),
    "values go before their files": (
        values_file(
            "kserve: {llmisvc: {createGIECRDs: true}}",
            RESOURCES,
            version="v0.20.0",
            values={"kserve": {"llmisvc": {"createGIECRDs": False}}},
        ),
        "crd-ownership",
    ),
}


@pytest.mark.parametrize(("resource", "rule"), HARMLESS.values(), ids=HARMLESS)
def test_what_only_looks_like_one_is_left_alone(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    assert of(run_pack([resource]), rule) == []


UNREADABLE: dict[str, str] = {
    "a control character": "a: \x01\nhostNetwork: true\n",
    "too many values": f"a: [{'1,' * 100_001}]\nhostNetwork: true\n",
    "too deep": "a: " + "[" * 200_000 + "]" * 200_000,
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_values_that_cannot_be_read_is_named(content: str) -> None:
    diagnostics = of(run_pack([values_file(content)]), "unreadable-manifest", "ADVISORY")
    assert ["document 1 of valueYamlFiles" in one.text for one in diagnostics] == [True]


def test_an_unreadable_file_of_values_hides_no_other(in_stack: InStack) -> None:
    in_stack("prod")
    files = [text_asset("a: \x01"), text_asset("hostNetwork: true")]
    assert of(run_pack([release("x", valueYamlFiles=files)]), "privileged-pod", "MANDATORY")


def test_an_object_as_text_that_cannot_be_read_is_named() -> None:
    diagnostics = of(
        run_pack([values(extraDeploy=["apiVersion: v1\nkind: Pod\na: \x01"])]), "unreadable-manifest", "ADVISORY"
    )
    assert len(diagnostics) == 1


def test_a_large_text_among_values_is_read_by_libyaml() -> None:
    assert yaml.__with_libyaml__
    assert issubclass(extract.Loader, yaml.CSafeLoader)
