"""LLMInferenceService: what KServe refuses, and what never becomes Ready behind GKE's Gateway."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import serving
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Unknown
from policies.rules.routes import OTHER_GATEWAYS, POOL_BACKEND, is_elsewhere, route_yaml
from policies.rules.rule import (
    HTTP_ROUTE,
    SERVICE,
    SERVICE_CONFIG,
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
    yield from serving.parallelism(subject.spec, config=subject.kind == SERVICE_CONFIG)


def _scaling(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from serving.scaling(subject.spec)


def _name(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    name = subject.node.get("metadata", "name").text()
    if name is not None:
        yield from serving.name_length(name)


def _presets(program: Program, _settings: Settings) -> Iterator[Verdict]:
    configs = [(config.node.get("metadata", "name").text(), config) for config in program.of(SERVICE_CONFIG)]
    for service in program.of(SERVICE):
        for preset, finding in serving.missing_presets(service.spec):
            places = (service.namespace, "kserve", None)
            # An unknown place, here or there, may be the right one: it is noted, and says that this is not judged yet.
            if any(
                name == preset and (service.namespace is None or config.namespace in places) for name, config in configs
            ):
                continue
            unsure = [f"the name of {config.label} is not known yet" for name, config in configs if name is None]
            yield Verdict(service, finding, "; ".join([*unsure, *program.opaque]))


def _referenced(program: Program, _settings: Settings) -> Iterator[Verdict]:
    identities = [(route, route.identity) for route in program.of(HTTP_ROUTE)]
    routes = {identity for _, identity in identities if identity is not None}
    unplaced = [f"where {route.label} will be is not known yet" for route, identity in identities if identity is None]
    for service in program.of(SERVICE):
        for ref in service.spec.get("router", "route", "http", "refs").each():
            name = ref.get("name").value
            if isinstance(name, Unknown):
                ref.get("name").text()
            elif isinstance(name, str) and (namespace := service.namespace) and (namespace, name) not in routes:
                finding = Finding(
                    "referenced-route",
                    f"{ref.path}: there is no HTTPRoute {namespace}/{name} in this program: without it KServe "
                    "makes neither InferencePool nor endpoint picker (RefsInvalid)",
                    fix="make the route in the namespace of the service, before the service",
                )
                yield Verdict(service, finding, "; ".join([*unplaced, *program.opaque]))


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
    why="KServe's webhook refuses refs beside spec, an empty gateway beside route refs, parentRefs of an inline route "
    "that differ from the Gateway's refs, baseRefs in a Config, replicas beside scaling. A Gateway and a scheduler "
    "without any route wait for ever (WaitingForGateway).",
    sources=(f"{KSERVE}/issues/5986", VALIDATION),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_shape,
    bad=Example(service_yaml(f"{{{GATEWAY_REF}, scheduler: {{}}}}"), unknown="spec.router.route"),
    good=GOOD,
    more_bad=(
        Example(service_yaml("{gateway: {}, route: {http: {refs: [{name: qwen-route}]}}}")),
        Example(service_yaml("{route: {http: {refs: [{name: qwen-route}], spec: {rules: []}}}}")),
        Example(service_yaml("{route: {http: {refs: [{name: qwen-kserve-route}]}}}")),
        Example(service_yaml(f"{{{GATEWAY_REF}, route: {{http: {{spec: {{parentRefs: [{{name: other}}]}}}}}}}}")),
        Example(service_yaml(more="  replicas: 1\n  scaling: {maxReplicas: 2}\n")),
        Example(service_yaml(more="  scaling: {minReplicas: 3, maxReplicas: 2}\n")),
        Example(
            "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {name: a}\n"
            "spec: {baseRefs: [{name: b}]}\n"
        ),
    ),
    more_good=(
        Example(
            service_yaml(
                f"{{{GATEWAY_REF}, route: {{http: {{spec: {{parentRefs: [{{group: gateway.networking.k8s.io, "
                "namespace: inference-gateway, name: inference-gateway}]}}}}"
            )
        ),
    ),
)

MANAGED_ROUTE = Rule(
    name="managed-route",
    title="LLMInferenceServices and their Configs refer to an HTTPRoute of the program",
    why="A route that KServe makes has timeouts on each rule, which GKE refuses (GWCER104), names every rule, and "
    "points at the v1alpha2 InferencePool first. No setting changes that. A Config hands such a router to every "
    "service that is based on it.",
    sources=(f"{KSERVE}/issues/5707", f"{KSERVE}/issues/5050"),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_managed,
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(service_yaml("{gateway: {}, route: {}, scheduler: {}}"), unknown="spec.router.route"),
    good=GOOD,
    more_bad=(
        Example(service_yaml("{route: {http: {}}}")),
        Example(service_yaml("{route: {}}").replace("Service\n", "ServiceConfig\n", 1)),
    ),
    more_good=(Example(service_yaml("{scheduler: {}}").replace("Service\n", "ServiceConfig\n", 1)),),
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
    more_good=(
        GOOD,
        Example(service_yaml(more="  worker: {containers: []}\n").replace("Service\n", "ServiceConfig\n", 1)),
    ),
)

PIPELINED = service_yaml(more="  worker: {containers: []}\n  parallelism: {pipeline: 2, tensor: 4}\n")


def _preset_yaml(role: str = "", namespace: str = "models") -> str:
    name = serving.PIPELINE_PRESET.format(role=role)
    head = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\n"
    return f"{head}metadata: {{name: {name}, namespace: {namespace}}}\nspec: {{worker: {{containers: []}}}}\n"


PRESET = Rule(
    name="pipeline-worker-config",
    title="The Config for pipeline-parallel workers is in the program",
    why="For a worker with pipeline parallelism KServe merges kserve-config-llm-worker-pipeline-parallel (with "
    "`decode-` and `prefill-` before `worker` for disaggregated services). It refers to these presets and ships none, "
    "so the program has to: a Config of that name in the namespace of the service, or in `kserve`.",
    sources=(f"{KSERVE}/issues/5047", f"{CONTROLLER}/config_merge.go"),
    kinds=(SERVICE, SERVICE_CONFIG),
    judge=_presets,
    level="advisory",
    severity="medium",
    bad=Example(PIPELINED, unknown="spec.parallelism.pipeline"),
    good=Example(f"{_preset_yaml()}---\n{PIPELINED}"),
    more_bad=(
        Example(f"{_preset_yaml(namespace='other')}---\n{PIPELINED}"),
        Example(f"{_preset_yaml()}---\n{PIPELINED}  prefill: {{}}\n"),
    ),
    more_good=(
        Example(f"{_preset_yaml(namespace='kserve')}---\n{PIPELINED}"),
        Example(f"{_preset_yaml('decode-')}---\n{PIPELINED}  prefill: {{}}\n"),
        Example(service_yaml(more="  worker: {containers: []}\n  parallelism: {data: 2, dataLocal: 1}\n")),
    ),
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

SCALING = Rule(
    name="service-scaling",
    title="LLMInferenceServices have a fixed number of replicas",
    why="KServe 0.20's `scaling` makes a VariantAutoscaling and an HPA or a KEDA ScaledObject. None of their "
    "controllers comes with KServe, llm-d has retired the first, and a replica that finds no TPU host stays Pending.",
    sources=(f"{CONTROLLER}/scaling.go",),
    kinds=(SERVICE, SERVICE_CONFIG),
    check=_scaling,
    level="advisory",
    severity="medium",
    bad=Example(
        service_yaml(more="  scaling: {maxReplicas: 2, wva: {keda: {}}}\n"),
        unknown="spec.scaling",
    ),
    good=Example(service_yaml(more="  replicas: 2\n")),
    more_bad=(Example(service_yaml(more="  prefill: {scaling: {maxReplicas: 2, wva: {hpa: {}}}}\n")),),
    opt_out="With the workload variant autoscaler and its actuator in the cluster: switch the rule off.",
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
    PRESET,
    NAME_LENGTH,
    SCALING,
    REFERENCED,
)
