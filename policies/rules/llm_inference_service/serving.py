"""LLMInferenceService: what KServe rejects, and what never becomes Ready behind GKE's Gateway."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve
from llmd_gke.rules import serving
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Unknown
from policies.rules.backends import OTHER_GATEWAYS, at_gke
from policies.rules.kinds import AI_ROUTE, GATEWAY, HTTP_ROUTE, LLM_SERVICE, LLM_SERVICE_CONFIG
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, on_spec

VALIDATION = kserve.source(f"{kserve.API}/llm_inference_service_validation.go")


def _shape(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from serving.router_shape(subject.spec, subject.name, config=subject.kind == LLM_SERVICE_CONFIG)


def _managed(subject: Subject) -> Iterator[Finding]:
    if not subject.partial:
        yield from serving.managed_route(subject.spec)


def _inline(subject: Subject) -> Iterator[Finding]:
    yield from serving.inline_route(subject.spec)


def _workers(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from serving.parallelism(subject.spec, config=subject.kind == LLM_SERVICE_CONFIG)


def _name(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    name = subject.node.get("metadata", "name").text()
    if name is not None:
        yield from serving.name_length(name)


def _presets(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    configs = [(config.node.get("metadata", "name").text(), config) for config in program.of(LLM_SERVICE_CONFIG)]
    for service in program.of(LLM_SERVICE):
        for preset, finding in serving.missing_presets(service.spec):
            namespaces = (service.namespace, "kserve", None)
            # An unknown namespace on either side may turn out to match. It is noted, so that the rule reports that it
            # cannot judge yet.
            if any(
                name == preset and (service.namespace is None or config.namespace in namespaces)
                for name, config in configs
            ):
                continue
            uncertain = [f"the name of {config.label} is not known yet" for name, config in configs if name is None]
            yield StackFinding(service, finding, "; ".join([*uncertain, *program.unrendered]))


def _referenced(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    # Envoy AI Gateway creates an HTTPRoute of the same name from an AIGatewayRoute.
    identities = [(route, route.identity) for route in program.of(HTTP_ROUTE, AI_ROUTE)]
    routes = {identity for _, identity in identities if identity is not None}
    unplaced = [
        f"the namespace of {route.label} is not known yet" for route, identity in identities if identity is None
    ]
    for service in program.of(LLM_SERVICE):
        for ref in service.spec.get("router", "route", "http", "refs").each():
            name = ref.get("name").value
            if isinstance(name, Unknown):
                ref.get("name").text()
            elif isinstance(name, str) and (namespace := service.namespace) and (namespace, name) not in routes:
                finding = Finding(
                    "referenced-route",
                    f"{ref.path}: there is no HTTPRoute {namespace}/{name} in this program: without it KServe "
                    "creates neither InferencePool nor endpoint picker (RefsInvalid)",
                    fix="create the route in the namespace of the service, before the service",
                )
                yield StackFinding(service, finding, "; ".join([*unplaced, *program.unrendered]))


MODEL_URI = Rule(
    name="model-uri",
    title="KServe can load the model",
    why="KServe supports hf, s3, oci and pvc; any other scheme, including `gs://`, fails with `unsupported schema "
    "in model URI`.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/workload_storage.go"), kserve.issue(4987)),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_object=on_spec(serving.model_uri),
    opt_out="With `storageInitializer.enabled: false` and your own volumes, nothing is checked.",
)

ROUTER_SHAPE = Rule(
    name="router-shape",
    title="The router of an LLMInferenceService can become Ready",
    why="KServe's webhook rejects refs together with spec, an empty gateway together with route refs, an inline "
    "route whose parentRefs differ from the Gateway's refs, baseRefs in a Config, and replicas together with "
    "scaling. With a Gateway and a scheduler but no route, the service waits forever (WaitingForGateway).",
    sources=(kserve.issue(5986), VALIDATION),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_object=_shape,
)

MANAGED_ROUTE = Rule(
    name="managed-route",
    title="Behind GKE's Gateway LLMInferenceServices and their Configs refer to an HTTPRoute of the program",
    why="A route that KServe creates has timeouts on each rule, which GKE rejects (GWCER104), names every rule, "
    "and refers to the v1alpha2 InferencePool first. No setting changes that. A Config passes such a router on "
    "to every service that is based on it.",
    sources=(kserve.issue(5707), kserve.issue(5050)),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG, GATEWAY),
    check_program=at_gke(_managed, LLM_SERVICE, LLM_SERVICE_CONFIG),
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    opt_out="For routes of a Gateway that is another's and not in the program, list it in `otherGateways` and in "
    "router.gateway.refs.",
)

INLINE_ROUTE = Rule(
    name="inline-route",
    title="Routes of LLMInferenceServices are separate objects",
    why="KServe overwrites the InferencePool group of an inline route with v1alpha2, and does not remove fields "
    "that were removed from the inline route.",
    sources=(kserve.issue(5050), kserve.source(f"{kserve.CONTROLLER}/router.go")),
    kinds=(LLM_SERVICE, GATEWAY),
    check_program=at_gke(_inline, LLM_SERVICE),
    level="advisory",
    severity="medium",
    parameters=(OTHER_GATEWAYS,),
)

WORKER = Rule(
    name="worker-parallelism",
    title="Workers have data or pipeline parallelism",
    why="KServe's webhook rejects a worker with neither, with both, or with data but without dataLocal.",
    sources=(VALIDATION,),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_object=_workers,
)


PRESET = Rule(
    name="pipeline-worker-config",
    title="The Config for pipeline-parallel workers is in the program",
    why="For a worker with pipeline parallelism KServe merges kserve-config-llm-worker-pipeline-parallel (with "
    "`decode-` and `prefill-` before `worker` for disaggregated services). KServe refers to these presets but does "
    "not include them, so the program must create a Config of that name in the namespace of the service, or in "
    "`kserve`.",
    sources=(kserve.issue(5047), kserve.source(f"{kserve.CONTROLLER}/config_merge.go")),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_program=_presets,
    level="advisory",
    severity="medium",
)

NAME_LENGTH = Rule(
    name="model-name-length",
    title="Names of LLMInferenceServices are short enough for the names that KServe derives",
    why="KServe appends up to 25 characters; beyond 63 it truncates and hashes them, and routes and policies, "
    "which must name pool and Service beforehand, no longer match.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/workload.go"),),
    kinds=(LLM_SERVICE,),
    check_object=_name,
    level="advisory",
    severity="medium",
)

SCALING = Rule(
    name="service-scaling",
    title="LLMInferenceServices leave `scaling` out",
    why="KServe's `scaling` creates a VariantAutoscaling and an HPA or a KEDA ScaledObject. KServe includes none "
    "of their controllers, llm-d has retired the first, and a replica without a free TPU host stays Pending.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/scaling.go"),),
    kinds=(LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_object=on_spec(serving.scaling),
    level="advisory",
    severity="medium",
    opt_out="If the cluster has the workload variant autoscaler and its actuator, disable the rule.",
)

REFERENCED = Rule(
    name="referenced-route",
    title="The HTTPRoute an LLMInferenceService refers to is in the program",
    why="KServe checks that the route exists before it creates pool and endpoint picker; until then the service "
    "reports RefsInvalid.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/router_validation.go"),),
    kinds=(LLM_SERVICE, HTTP_ROUTE, AI_ROUTE),
    check_program=_referenced,
    level="advisory",
    severity="medium",
)
