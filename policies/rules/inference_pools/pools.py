"""InferencePools: limits of the CRD, and one model per pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.catalog import kserve, upstream
from llmd_gke.rules import pods, serving
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.kinds import DEPLOYMENT, LLM_SERVICE, LLM_SERVICE_CONFIG, POOL, STATEFUL_SET, WORKER_SET
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

PART_OF = {kserve.PART_OF: kserve.PART, kserve.OWN_COMPONENT: kserve.WORKLOAD}


def _ports(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    pool = subject.spec if subject.kind == POOL else subject.spec.get("router", "scheduler", "pool", "spec")
    yield from serving.pool_ports(pool.get("targetPorts"))


def labels_of(node: Input) -> dict[str, str]:
    """The entries of a map whose values are known texts."""
    return {key: text for key, value in node.entries() if (text := value.text()) is not None}


def serves(subject: Subject) -> tuple[dict[str, str], str] | None:
    """The labels of a workload's pods, and the model they serve; ``None`` if that cannot be determined."""
    if subject.kind == LLM_SERVICE:
        return {"app.kubernetes.io/name": subject.name, **PART_OF}, f"LLMInferenceService {subject.name}"
    if subject.kind == WORKER_SET:
        template = subject.spec.get("leaderWorkerTemplate", "workerTemplate")
    else:
        template = subject.spec.get("template")
    for container in template.get("spec", "containers").each():
        model = _model(pods.arguments(container))
        if model is not None:
            return labels_of(template.get("metadata", "labels")), f"model {model}"
    return None


def _model(argv: list[str]) -> str | None:
    for position, word in enumerate(argv[:-1]):
        if word in ("--model", "serve"):
            return argv[position + 1]
    return next((word.partition("=")[2] for word in argv if word.startswith("--model=")), None)


def selector(pool: Subject) -> dict[str, str]:
    """The labels by which a pool selects pods; none if one is not known yet, as the others select more pods."""
    written = pool.spec.get("selector", "matchLabels")
    labels = labels_of(written)
    return labels if len(labels) == len(written.mapping()) else {}


def matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether a selector, which is not empty, selects pods with these labels."""
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _one_model(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    shared: dict[tuple[str, str], Subject] = {}
    for service in program.of(LLM_SERVICE):
        name = service.spec.get("router", "scheduler", "pool", "ref", "name").text()
        namespace = service.namespace if name is not None else None
        if name is not None and namespace is not None:
            first = shared.setdefault((namespace, name), service)
            if first is not service:
                yield StackFinding(service, _mixed(f"InferencePool {namespace}/{name}", [first.label, service.label]))
    workloads = [
        (subject, serves(subject)) for subject in program.of(LLM_SERVICE, DEPLOYMENT, STATEFUL_SET, WORKER_SET)
    ]
    for pool in program.of(POOL):
        selected = selector(pool)
        matching = [
            (workload, served_by[1])
            for workload, served_by in workloads
            if served_by and matches(selected, served_by[0])
        ]
        if len(matching) < 2 or (namespace := pool.namespace) is None:
            continue
        served = sorted({model for workload, model in matching if workload.namespace == namespace})
        if len(served) > 1:
            yield StackFinding(pool, _mixed(pool.label, served))


def _mixed(pool: str, served: list[str]) -> Finding:
    return Finding(
        "one-model-per-pool",
        f"{pool} selects pods of {' and '.join(served)}: the endpoint picker does not distinguish models, so some "
        "requests reach the wrong one",
        allowed="one model per InferencePool (node pools may be shared)",
        fix="give each model its own InferencePool and select by a label of the model",
    )


POOL_PORTS = Rule(
    name="inference-pool-ports",
    title="InferencePools have at most eight ports",
    why="The v1 CRD allows eight targetPorts; a pool with one port per data-parallel rank and more ranks is rejected.",
    sources=(upstream.inference_extension("config/crd/bases"),),
    kinds=(POOL, LLM_SERVICE, LLM_SERVICE_CONFIG),
    check_object=_ports,
)


ONE_MODEL = Rule(
    name="one-model-per-pool",
    title="An InferencePool has one model",
    why="The endpoint picker chooses among all pods of the pool without knowing which model they serve: with two "
    "models in one pool about half of the requests fail. Node pools may be shared.",
    sources=("https://gateway-api-inference-extension.sigs.k8s.io/api-types/inferencepool/",),
    kinds=(LLM_SERVICE, POOL, DEPLOYMENT, STATEFUL_SET, WORKER_SET),
    check_program=_one_model,
)
