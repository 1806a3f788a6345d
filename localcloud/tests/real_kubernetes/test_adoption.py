"""Two hand-made deployments are adopted while clients stream from them.

Network, cluster, pool, Gateway and controllers are those of another stack, whose program is gone; services, routes and
policies of the models are made with kubectl.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.repository import CLONE
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import MODELS, Object
from localcloud.tests.real_kubernetes.serving import SERVER_IMAGE, ask, chat
from localcloud.tests.real_kubernetes.streams import set_times, streams
from tests.operations.adopt import support

REPLICAS = {"pattern1": 1, "pattern3": 2}
STACK = "team"
STREAMS = 10
PROVIDER = {"cluster-kubernetes"}
GATEWAY = "inference-gateway"
UP = ("up", "--yes", "--skip-preview")
HOST = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "2x2"}


def hand_made(name: str, replicas: int) -> list[Object]:
    """A service as somebody wrote it, with a route and the policies without which GKE's Gateway does not serve it."""

    def made(version: str, kind: str, title: str, spec: Object) -> Object:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": title, "namespace": MODELS}, "spec": spec}

    pool = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": f"{name}-inference-pool"}
    rewrite = {
        "type": "URLRewrite",
        "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v1"}},
    }
    path = {"type": "PathPrefix", "value": f"/{MODELS}/{name}/v1"}
    health = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"}, "periodSeconds": 2}
    server = {
        "name": "main",
        "image": SERVER_IMAGE,
        "command": ["vllm", "serve", "/mnt/models"],
        "args": ["--served-model-name", name, "--port", "8000", "--tensor-parallel-size=4", "--max-model-len=2048"],
        "resources": {"limits": {"google.com/tpu": "4"}, "requests": {"google.com/tpu": "4"}},
        **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), health),
    }
    gateway = {"name": GATEWAY, "namespace": GATEWAY}
    service = {
        "replicas": replicas,
        "model": {"uri": "hf://Qwen/Qwen2.5-3B-Instruct", "name": name},
        "router": {"gateway": {"refs": [gateway]}, "route": {"http": {"refs": [{"name": name}]}}, "scheduler": {}},
        "template": {
            "nodeSelector": HOST,
            "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
            "terminationGracePeriodSeconds": 80,
            "containers": [server],
        },
    }
    port = {"portSpecification": "USE_FIXED_PORT", "port": 8000}
    check = {"type": "HTTP", "httpHealthCheck": {"requestPath": "/health", **port}}
    rule = {"matches": [{"path": path}], "filters": [rewrite], "backendRefs": [pool]}
    google = "networking.gke.io/v1"
    return [
        made("serving.kserve.io/v1alpha2", "LLMInferenceService", name, service),
        made("gateway.networking.k8s.io/v1", "HTTPRoute", name, {"parentRefs": [gateway], "rules": [rule]}),
        made(google, "HealthCheckPolicy", name, {"targetRef": pool, "default": {"config": check}}),
        made(google, "GCPBackendPolicy", name, {"targetRef": pool, "default": {"timeoutSec": 600}}),
    ]


@pytest.fixture
def shared(another: Callable[[str], Laptop], whole: None) -> Laptop:
    """The cluster of others, with the two deployments, which are ready."""
    made = another("shared")
    made.program((CLONE / "__main__.py").read_text().partition("early_hosts = {")[0])
    made.up(check=False)  # no outputs
    (made.root / "__main__.py").unlink()
    (made.root / "__main__.py").symlink_to(CLONE / "__main__.py")
    made.apply(*(one for name, replicas in REPLICAS.items() for one in hand_made(name, replicas)))
    for name, replicas in REPLICAS.items():
        until(lambda name=name: objects.condition(models.service(made, name), "Ready") == "True", f"{name} is ready")
        models.ready_servers(made, replicas, name)

    def answers(name: str) -> bool:
        (answer,) = ask(made, f"http://{address(made)}/{MODELS}/{name}", chat("hello", model=name))
        return answer["status"] == 200

    for name in REPLICAS:
        until(lambda name=name: answers(name), f"the Gateway leads to {name}")
    return made


def address(laptop: Laptop) -> str:
    gateway = objects.one(laptop, "gateway.gateway.networking.k8s.io", GATEWAY, GATEWAY) or {}
    return next(one["value"] for one in gateway["status"]["addresses"])


def adopt(laptop: Laptop, *, check: bool) -> dict[str, Any]:
    command = ("-m", "operations", "adopt", "--stack", STACK, "--write", "--output", "json")
    return support.answer(laptop.inside(sys.executable, *command, check=check, timeout=600).stdout)


def owned_by_others(laptop: Laptop) -> dict[str, object]:
    """What is in the cluster besides models: specs, labels, annotations and data, by kind and name."""
    kinds = "namespaces,deployments,services,configmaps,gateways.gateway.networking.k8s.io"
    crds = "customresourcedefinitions,llminferenceserviceconfigs.serving.kserve.io"
    found: dict[str, object] = {}
    for one in objects.every(laptop, f"{kinds},{crds}"):
        metadata = one["metadata"]
        space = metadata.get("namespace", "")
        if space not in (MODELS, "kube-system"):
            marks = [metadata.get(key) for key in ("labels", "annotations")]
            found[f"{one['kind']}/{space}/{metadata['name']}"] = [*marks, one.get("spec"), one.get("data")]
    return found


def test_requests_flow_over_an_adoption_and_a_destroy_that_keeps_models(shared: Laptop, tmp_path: Path) -> None:
    laptop, base = shared, f"http://{address(shared)}/{MODELS}"

    def complete(config: dict[str, Any]) -> None:
        config["gcp:project"] = "rehearsal"
        config["llmd-gke:cluster"]["existing"] |= {"name": "llmd-local", "location": "europe-west4"}
        network = {"network": "llmd-local", "subnet": "llmd-local-nodes"}
        config["llmd-gke:network"] = {"existing": network, "proxies": "10.9.0.0/23"}

    def changed() -> dict[str, str]:
        steps = laptop.steps(*UP, stack=STACK)
        return {name: step for name, step in steps.items() if step not in ("same", "read")}

    lws = ("-n", "lws-system", "deployment/lws-controller-manager")
    laptop.kubectl("set", "image", *lws, "*=registry.k8s.io/lws/lws:v0.7.0")
    verdicts = {one["what"]: one["verdict"] for one in adopt(laptop, check=False)["findings"]}
    assert verdicts["LeaderWorkerSet"] == "failed"
    laptop.kubectl("rollout", "undo", *lws)
    laptop.workdir.stack_file(STACK).unlink()
    before = owned_by_others(laptop)
    set_times(laptop, "100ms", "500ms", MODELS)
    wanted = [{"model": name, "key": "none", "count": STREAMS} for name in REPLICAS]
    with (
        streams(laptop, tmp_path / "one", f"{base}/pattern1", wanted[:1]) as one,
        streams(laptop, tmp_path / "three", f"{base}/pattern3", wanted[1:]) as three,
    ):

        def flow() -> None:
            for seen, name in ((one, "pattern1"), (three, "pattern3")):
                seen.await_more(STREAMS, name)
                assert seen.broken() == []

        flow()
        adopt(laptop, check=False)
        laptop.edit(STACK, complete)
        said = adopt(laptop, check=True)
        assert owned_by_others(laptop) == before, "adopt changes nothing"
        laptop.pulumi("stack", "init", STACK)
        first = [f"--target=**llmd-gke:{part}:**" for part in ("project", "network", "cluster")]
        laptop.events(*UP, *first, stack=STACK)
        listed = ("--file", f"import.{STACK}.json", "--generate-code=false")
        laptop.events("import", "--yes", *listed, stack=STACK)
        flow()
        laptop.environ["PULUMI_K8S_ENABLE_PATCH_FORCE"] = "true"  # as `adopt` prints: kubectl owns the fields
        updates = {name for name, step in changed().items() if step != "create"}
        del laptop.environ["PULUMI_K8S_ENABLE_PATCH_FORCE"]
        assert updates - PROVIDER == {f"{name}-service" for name in REPLICAS}
        flow()
        assert changed().keys() <= PROVIDER, "the variable is gone"
        assert changed() == {}
        for finding in said["findings"]:  # hand-made routes and policies, by the commands that it names
            if "kubectl" in finding["fix"]:
                laptop.kubectl(*finding["fix"].partition("kubectl ")[2].split())
        assert objects.one(laptop, "httproutes.gateway.networking.k8s.io", "pattern1", MODELS) is None
        flow()
        laptop.inside(sys.executable, "-c", support.KEEP, STACK, "laptop")
        laptop.events("destroy", "--yes", "--skip-preview", stack=STACK)
        flow()
    assert owned_by_others(laptop) == before
