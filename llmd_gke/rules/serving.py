"""Rules about LLMInferenceService and LLMInferenceServiceConfig.

Sources: kserve ``pkg/apis/serving/v1alpha2/llm_inference_service_validation.go``,
``pkg/controller/v1alpha2/llmisvc/{router,config_merge,workload_storage}.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import Accelerator
from llmd_gke.rules import models, names, secret_texts
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

MOST_POOL_PORTS = 8
"""``maxItems`` of ``spec.targetPorts`` in gateway-api-inference-extension's v1 CRD."""


def model_uri(spec: Input) -> Iterator[Finding]:
    """KServe can download the model and its adapters, unless the storage initializer is disabled."""
    if spec.get("storageInitializer", "enabled").boolean() is False:
        return
    model = spec.get("model")
    for source in (model, *model.get("lora", "adapters").each()):
        value = source.get("uri").text()
        if value is not None:
            for finding in models.uri(value):
                yield replace(finding, problem=f"{source.path}.uri: {finding.problem}")


def model_images(spec: Input) -> Iterator[Finding]:
    """Images of models and adapters are pinned, as every image is."""
    model = spec.get("model")
    for source in (model, *model.get("lora", "adapters").each()):
        scheme, _, reference = (source.get("uri").text() or "").partition("://")
        if scheme == "oci":
            for finding in models.image(reference):
                yield replace(finding, problem=f"{source.path}.uri: {finding.problem}")


def model_secrets(spec: Input) -> Iterator[Finding]:
    """No URI of a model contains a password: KServe copies the URI into the arguments of the pod that downloads it."""
    model = spec.get("model")
    for source in (model, *model.get("lora", "adapters").each()):
        if secret_texts.has_shape(source.get("uri").text() or ""):
            yield Finding(
                "plain-secret",
                f"{source.path}.uri contains a token or a password",
                fix="store it in a Secret of the service account that KServe downloads with",
            )


def _shape(problem: str, fix: str) -> Finding:
    return Finding("router-shape", problem, fix=fix)


def router_shape(spec: Input, name: str, *, config: bool) -> Iterator[Finding]:
    """The router has no combination that KServe's webhook rejects or with which the service never becomes Ready."""
    router = spec.get("router")
    gateway, route, http = router.get("gateway"), router.get("route"), router.get("route", "http")
    refs = list(http.get("refs").each())
    if refs and http.get("spec").present():
        yield _shape(f"{http.path}: refs and spec exclude each other", "keep refs")
    gateway_refs = list(gateway.get("refs").each())
    if gateway.present() and refs and not gateway_refs and not gateway.notes.unknown:
        yield _shape(
            f"{gateway.path} has no refs although the route has refs: the webhook rejects it",
            "list the Gateway in refs",
        )
    picks = router.get("scheduler").present()
    own = bool(gateway_refs) and picks  # a base would hardly bring the route of a Gateway that is named here
    if not config and router.present() and route.value is None and (own or not list(spec.get("baseRefs").each())):
        effect = (
            "a service with a scheduler stays in WaitingForGateway forever (kserve/kserve#5986)"
            if picks
            else "KServe makes neither route nor pool nor endpoint picker"
        )
        yield _shape(f"{route.path} is missing: {effect}", "refer to your HTTPRoute with router.route.http.refs")
    if not config:
        yield from _parents(gateway_refs, http.get("spec", "parentRefs"))
    for ref in refs:
        if ref.get("name").text() == kserve.managed_route(name):
            yield _shape(
                f"{ref.path}: KServe deletes a route of that name when the service refers to routes", "rename it"
            )
    if config and list(spec.get("baseRefs").each()):
        yield _shape("spec.baseRefs is not allowed in a Config", "list all Configs in the service")
    if spec.get("replicas").present() and spec.get("scaling").present():
        yield _shape("spec.replicas and spec.scaling exclude each other", "keep one")
    least, most = spec.get("scaling", "minReplicas").integer(), spec.get("scaling", "maxReplicas").integer()
    if least is not None and most is not None and least > most:
        yield _shape(f"spec.scaling.minReplicas {least} is more than maxReplicas {most}", "swap them")
    picker = router.get("scheduler", "config")
    if picker.get("inline").present() and picker.get("ref").present():
        yield _shape(f"{picker.path}: inline and ref exclude each other", "keep inline")


def _parents(gateways: list[Input], parents: Input) -> Iterator[Finding]:
    """Parents of an inline route are the Gateways that the router names, compared as the webhook does: as written."""
    written = list(parents.each())
    if not gateways or not written:
        return
    keys = ("namespace", "name", "sectionName")
    both = [[tuple(ref.get(key) for key in keys) for ref in refs] for refs in (gateways, written)]
    if any(node.value is not None and node.text() is None for refs in both for ref in refs for node in ref):
        return
    named, asked = (sorted(tuple(node.text() or "" for node in ref) for ref in refs) for refs in both)
    if named != asked:
        yield _shape(
            f"{parents.path} differs from spec.router.gateway.refs in a name, namespace or sectionName: the "
            "webhook rejects it",
            "remove parentRefs: KServe derives them from gateway.refs",
        )


def managed_route(spec: Input) -> Iterator[Finding]:
    """The service refers to a route: one that KServe creates from its preset has timeouts on every rule."""
    http = spec.get("router", "route", "http")
    if not spec.get("router", "route").present() or http.get("spec").present() or http.get("spec").notes.unknown:
        return
    if not list(http.get("refs").each()) and not http.notes.unknown:
        yield Finding(
            "managed-route",
            "spec.router.route: KServe would create the route itself, with timeouts on each of its 12 rules, which "
            "GKE rejects (GWCER104), and with the v1alpha2 InferencePool first",
            fix="create an HTTPRoute of your own and refer to it in router.route.http.refs",
        )


def inline_route(spec: Input) -> Iterator[Finding]:
    """The service has no inline route: KServe would create it, and overwrite the group of the pool with v1alpha2."""
    inline = spec.get("router", "route", "http", "spec")
    if inline.present():
        yield Finding(
            "inline-route",
            f"{inline.path}: KServe overwrites the pool's group with inference.networking.x-k8s.io, which GKE does "
            "not have, until GKE reports a condition reason that it never sets",
            fix="create the HTTPRoute yourself and refer to it in router.route.http.refs",
        )


def parallelism(spec: Input, *, config: bool) -> Iterator[Finding]:
    """A ``worker`` comes with parallelism that uses it, and kinds of parallelism do not conflict.

    A Config (``config``) may leave the parallelism to the services based on it: the webhook does not check it there.
    """
    for section in (spec, spec.get("prefill")):
        kinds = section.get("parallelism")
        data, pipeline, local = kinds.get("data"), kinds.get("pipeline"), kinds.get("dataLocal")
        if (
            not config
            and section.get("worker").present()
            and not data.present()
            and not pipeline.present()
            and not kinds.notes.unknown
        ):
            yield Finding(
                "worker-parallelism",
                f"{section.get('worker').path} needs data or pipeline parallelism: KServe's webhook rejects it",
                fix="set parallelism.data with dataLocal, or parallelism.pipeline",
            )
        if data.present() and pipeline.present():
            yield Finding("worker-parallelism", f"{kinds.path}: data and pipeline exclude each other", fix="keep one")
        if data.present() != local.present() and not kinds.notes.unknown:
            yield Finding(
                "worker-parallelism", f"{kinds.path}: data and dataLocal must be set together", fix="set both"
            )


def missing_presets(spec: Input) -> Iterator[tuple[str, Finding]]:
    """Presets that KServe refers to for pipeline-parallel workers, but does not ship, exist: name and finding."""
    prefill = spec.get("prefill")
    for section, role in ((spec, "decode-" if prefill.value is not None else ""), (prefill, "prefill-")):
        if section.get("worker").present() and section.get("parallelism", "pipeline").present():
            preset = kserve.PIPELINE_WORKERS.format(role=role)
            finding = Finding(
                "pipeline-worker-config",
                f"{section.get('worker').path} with pipeline parallelism: KServe refers to the "
                f"LLMInferenceServiceConfig {preset}, which neither KServe (kserve/kserve#5047) nor this "
                "program creates",
                fix=f"add an LLMInferenceServiceConfig {preset} in the namespace of the service, or use "
                "parallelism.data with dataLocal",
            )
            yield preset, finding


def pool_ports(ports: Input) -> Iterator[Finding]:
    """An InferencePool has no more ports than its CRD allows."""
    count = len(list(ports.each()))
    if count > MOST_POOL_PORTS:
        yield Finding(
            "inference-pool-ports",
            f"{ports.path} has {count} ports: the CRD rejects the pool",
            allowed=f"at most {MOST_POOL_PORTS}",
            fix="spread the ranks over several pods",
        )


def name_length(name: str) -> Iterator[Finding]:
    """The name is short enough that KServe derives predictable names: routes and policies refer to them beforehand."""
    for finding in names.label(name, "LLMInferenceService name", names.MODEL_NAME_LIMIT):
        if finding.rule == "name-length":
            problem = f"{finding.problem}: beyond that KServe truncates and hashes the names of pool and Service"
            yield replace(finding, rule="model-name-length", problem=problem)


def scaling(spec: Input) -> Iterator[Finding]:
    """The service does not set ``scaling``: KServe delegates it to an autoscaler that must be installed separately."""
    for section in (spec, spec.get("prefill")):
        if section.get("scaling").present():
            yield Finding(
                "service-scaling",
                f"{section.get('scaling').path}: KServe scales only through the workload variant autoscaler with "
                "HPA or KEDA; without their CRDs the service never becomes Ready (ScalingCRDNotFound)",
                fix="set replicas, or leave both out and scale the Deployment NAME-kserve by an autoscaler of your own",
            )


def kv_offloading(spec: Input, kind: Accelerator) -> Iterator[Finding]:
    """The service does not offload its KV cache, which only works with CUDA."""
    if spec.get("kvCacheOffloading").present():
        yield Finding(
            kind.rule("server-argument"),
            f"spec.kvCacheOffloading becomes a --kv-transfer-config that {kind.name} does not support",
            fix="remove kvCacheOffloading",
        )
