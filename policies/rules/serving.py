"""LLMInferenceService: what KServe refuses, and what never becomes Ready behind GKE's Gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.checks import pods, serving
from llmd_gke.checks.finding import Finding
from llmd_gke.checks.tree import Node, Unknown
from policies.rules.routes import OTHER_GATEWAYS, POOL_BACKEND, is_elsewhere, route_yaml
from policies.rules.rule import (
    DEPLOYMENT,
    HTTP_ROUTE,
    POOL,
    SERVICE,
    SERVICE_CONFIG,
    STATEFUL_SET,
    WORKER_SET,
    Example,
    Program,
    Rule,
    Settings,
    Subject,
    Verdict,
)

KSERVE = "https://github.com/kserve/kserve"
CONTROLLER = f"{KSERVE}/tree/v0.20.0/pkg/controller/v1alpha2/llmisvc"
VALIDATION = f"{KSERVE}/blob/v0.20.0/pkg/apis/serving/v1alpha2/llm_inference_service_validation.go"
PART_OF = {"app.kubernetes.io/part-of": "llminferenceservice", "kserve.io/component": "workload"}


def _uri(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from serving.model_uri(subject.spec)


def _shape(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from serving.router_shape(subject.spec, subject.name, config=subject.kind == SERVICE_CONFIG)


def _managed(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if not subject.partial and not is_elsewhere(subject, settings):
        yield from serving.managed_route(subject.spec)


def _inline(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if not is_elsewhere(subject, settings):
        yield from serving.inline_route(subject.spec)


def _workers(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from serving.parallelism(subject.spec)


def _name(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    name = subject.node.get("metadata", "name").text()
    if name is not None:
        yield from serving.name_length(name)


def _labels(node: Node) -> dict[str, str]:
    return {key: text for key, value in node.pairs() if (text := value.text()) is not None}


def _serves(subject: Subject) -> tuple[dict[str, str], str] | None:
    """The labels of a workload's pods, and the model they serve; ``None`` where that cannot be told."""
    if subject.kind == SERVICE:
        return {"app.kubernetes.io/name": subject.name, **PART_OF}, f"LLMInferenceService {subject.name}"
    if subject.kind == WORKER_SET:
        template = subject.spec.get("leaderWorkerTemplate", "workerTemplate")
    else:
        template = subject.spec.get("template")
    for container in template.get("spec", "containers").each():
        model = _model(pods.arguments(container))
        if model is not None:
            return _labels(template.get("metadata", "labels")), f"model {model}"
    return None


def _model(words: list[str]) -> str | None:
    for position, word in enumerate(words[:-1]):
        if word in ("--model", "serve"):
            return words[position + 1]
    return next((word.partition("=")[2] for word in words if word.startswith("--model=")), None)


def _matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _one_model(program: Program, _settings: Settings) -> Iterator[Verdict]:
    shared: dict[tuple[str, str], Subject] = {}
    for service in program.of(SERVICE):
        name = service.spec.get("router", "scheduler", "pool", "ref", "name").text()
        if name is not None:
            first = shared.setdefault((service.namespace, name), service)
            if first is not service:
                yield Verdict(
                    service, _mixed(f"InferencePool {service.namespace}/{name}", [first.label, service.label])
                )
    workloads = [(subject, _serves(subject)) for subject in program.of(SERVICE, DEPLOYMENT, STATEFUL_SET, WORKER_SET)]
    for pool in program.of(POOL):
        selector = _labels(pool.spec.get("selector", "matchLabels"))
        served = sorted(
            {
                serves[1]
                for workload, serves in workloads
                if serves is not None and workload.namespace == pool.namespace and _matches(selector, serves[0])
            }
        )
        if len(served) > 1:
            yield Verdict(pool, _mixed(pool.label, served))


def _mixed(pool: str, served: list[str]) -> Finding:
    return Finding(
        "one-model-per-pool",
        f"{pool} selects pods of {' and '.join(served)}: the endpoint picker does not tell models apart, so a part of "
        "the requests reaches the wrong one",
        allowed="one model in an InferencePool (node pools may be shared)",
        fix="give each model its own InferencePool and select by a label of the model",
    )


def _referenced(program: Program, _settings: Settings) -> Iterator[Verdict]:
    routes = {(route.namespace, route.name) for route in program.of(HTTP_ROUTE)}
    for service in program.of(SERVICE):
        for ref in service.spec.get("router", "route", "http", "refs").each():
            name = ref.get("name").value
            if isinstance(name, Unknown):
                ref.get("name").text()
            elif isinstance(name, str) and (service.namespace, name) not in routes:
                finding = Finding(
                    "referenced-route",
                    f"{ref.path}: there is no HTTPRoute {service.namespace}/{name} in this program: without it KServe "
                    "makes neither InferencePool nor endpoint picker (RefsInvalid)",
                    fix="make the route in the namespace of the service, before the service",
                )
                yield Verdict(service, finding, "; ".join(program.opaque))


def service_yaml(
    router: str = "{route: {http: {refs: [{name: qwen-route}]}}}", more: str = "", uri: str = "hf://Qwen/Qwen3-4B"
) -> str:
    """A service whose route is made elsewhere."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: qwen, namespace: models}}
spec:
  model: {{uri: "{uri}"}}
  router: {router}
{more}"""


GATEWAY_REF = "gateway: {refs: [{name: inference-gateway, namespace: inference-gateway}]}"
GOOD_ROUTER = f"{{{GATEWAY_REF}, scheduler: {{}}, route: {{http: {{refs: [{{name: qwen-route}}]}}}}}}"
GOOD = Example(service_yaml(GOOD_ROUTER))

MODEL_URI = Rule(
    name="model-uri",
    title="KServe can load the model",
    why="KServe 0.20 loads hf, s3, oci and pvc; any other scheme ends in `unsupported schema in model URI`, `gs://` "
    "among them.",
    sources=(f"{CONTROLLER}/workload_storage.go", f"{KSERVE}/issues/4987"),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_uri,
    bad=Example(service_yaml(uri="gs://bucket/model"), unknown="spec.model.uri"),
    good=GOOD,
    more_bad=(Example(service_yaml(uri="Qwen/Qwen3-4B")),),
    more_good=(Example(service_yaml(uri="gs://bucket/model", more="  storageInitializer: {enabled: false}\n")),),
    opt_out="With `storageInitializer.enabled: false` and volumes of your own nothing is judged.",
)

ROUTER_SHAPE = Rule(
    name="router-shape",
    title="The router of an LLMInferenceService can become Ready",
    why="KServe's webhook refuses refs beside spec, an empty gateway beside route refs, baseRefs in a Config, replicas "
    "beside scaling. A Gateway and a scheduler without any route wait for ever (WaitingForGateway).",
    sources=(f"{KSERVE}/issues/5986", VALIDATION),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_shape,
    bad=Example(service_yaml(f"{{{GATEWAY_REF}, scheduler: {{}}}}"), unknown="spec.router.route"),
    good=GOOD,
    more_bad=(
        Example(service_yaml("{gateway: {}, route: {http: {refs: [{name: qwen-route}]}}}")),
        Example(service_yaml("{route: {http: {refs: [{name: qwen-route}], spec: {rules: []}}}}")),
        Example(service_yaml("{route: {http: {refs: [{name: qwen-kserve-route}]}}}")),
        Example(service_yaml(more="  replicas: 1\n  scaling: {maxReplicas: 2}\n")),
        Example(service_yaml(more="  scaling: {minReplicas: 3, maxReplicas: 2}\n")),
        Example(
            "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {name: a}\n"
            "spec: {baseRefs: [{name: b}]}\n"
        ),
    ),
)

MANAGED_ROUTE = Rule(
    name="managed-route",
    title="LLMInferenceServices refer to an HTTPRoute of the program",
    why="A route that KServe makes has timeouts on each rule, which GKE refuses (GWCER104), names every rule, and "
    "points at the v1alpha2 InferencePool first. No setting changes that.",
    sources=(f"{KSERVE}/issues/5707", f"{KSERVE}/issues/5050"),
    kinds=(SERVICE,),
    check=_managed,
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(service_yaml("{gateway: {}, route: {}, scheduler: {}}"), unknown="spec.router.route"),
    good=GOOD,
    more_bad=(Example(service_yaml("{route: {http: {}}}")),),
    opt_out="Routes of another Gateway: name it in `otherGateways`, and in router.gateway.refs.",
)

INLINE_ROUTE = Rule(
    name="inline-route",
    title="Routes of LLMInferenceServices are objects of their own",
    why="KServe overwrites the InferencePool group of an inline route with v1alpha2, and does not take back fields "
    "that were removed from it.",
    sources=(f"{KSERVE}/issues/5050", f"{CONTROLLER}/router.go"),
    kinds=(SERVICE,),
    check=_inline,
    level="advisory",
    severity="medium",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(
        service_yaml(f"{{route: {{http: {{spec: {{rules: [{{{POOL_BACKEND}}}]}}}}}}}}"),
        unknown="spec.router.route.http.spec",
    ),
    good=GOOD,
)

WORKER = Rule(
    name="worker-parallelism",
    title="Workers have data or pipeline parallelism",
    why="KServe's webhook refuses a worker without either, both together, and data without dataLocal.",
    sources=(VALIDATION,),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_workers,
    bad=Example(service_yaml(more="  worker: {containers: []}\n"), unknown="spec.parallelism"),
    good=Example(service_yaml(more="  worker: {containers: []}\n  parallelism: {pipeline: 2, tensor: 4}\n")),
    more_bad=(
        Example(service_yaml(more="  parallelism: {pipeline: 2, data: 2, dataLocal: 1}\n")),
        Example(service_yaml(more="  parallelism: {data: 2}\n")),
    ),
    more_good=(GOOD,),
)

NAME_LENGTH = Rule(
    name="model-name-length",
    title="Names of LLMInferenceServices leave room for the names that KServe derives",
    why="KServe appends up to 25 characters; beyond 63 it cuts and hashes, and routes and policies that must name pool "
    "and Service beforehand miss them.",
    sources=(f"{CONTROLLER}/workload.go",),
    kinds=(SERVICE,),
    check=_name,
    level="advisory",
    severity="medium",
    bad=Example(service_yaml().replace("name: qwen,", f"name: {'qwen-' * 9}a,"), unknown="metadata.name"),
    good=GOOD,
)

POOL_YAML = """\
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: shared, namespace: models}
spec:
  selector: {matchLabels: {app: vllm}}
  targetPorts: [{number: 8000}]
"""


def _server(name: str, labels: str) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: models}}
spec:
  template:
    metadata: {{labels: {labels}}}
    spec: {{containers: [{{name: vllm, command: [vllm, serve, "org/{name}"]}}]}}
"""


ONE_MODEL = Rule(
    name="one-model-per-pool",
    title="An InferencePool holds one model",
    why="The endpoint picker chooses among all pods of the pool and does not know which model they serve: with two "
    "models in one pool about half of the requests fail. Node pools may be shared.",
    sources=("https://gateway-api-inference-extension.sigs.k8s.io/api-types/inferencepool/",),
    kinds=(SERVICE, POOL, DEPLOYMENT, STATEFUL_SET, WORKER_SET),
    judge=_one_model,
    bad=Example(
        "---\n".join([_server("a", "{app: vllm}"), _server("b", "{app: vllm}"), POOL_YAML]),
        unknown="spec.selector.matchLabels",
    ),
    good=Example(
        "---\n".join(
            [
                _server("a", "{app: vllm, model: a}"),
                _server("b", "{app: vllm, model: b}"),
                POOL_YAML.replace("app: vllm", "app: vllm, model: a"),
            ]
        )
    ),
    more_bad=(
        Example(
            "---\n".join(
                service_yaml("{scheduler: {pool: {ref: {name: shared}}}}").replace("name: qwen,", f"name: {name},")
                for name in ("one", "two")
            )
        ),
    ),
)

REFERENCED = Rule(
    name="referenced-route",
    title="The HTTPRoute an LLMInferenceService refers to is in the program",
    why="KServe checks that the route exists before it makes pool and endpoint picker; until then the service says "
    "RefsInvalid.",
    sources=(f"{CONTROLLER}/router_validation.go",),
    kinds=(SERVICE, HTTP_ROUTE),
    judge=_referenced,
    level="advisory",
    severity="medium",
    bad=Example(service_yaml(), unknown="spec.router.route.http.refs[0].name"),
    good=Example(
        f"{service_yaml()}---\n{route_yaml('{' + POOL_BACKEND + '}').replace('name: qwen,', 'name: qwen-route,')}"
    ),
)

RULES = (
    MODEL_URI,
    ROUTER_SHAPE,
    MANAGED_ROUTE,
    INLINE_ROUTE,
    WORKER,
    NAME_LENGTH,
    ONE_MODEL,
    REFERENCED,
)
