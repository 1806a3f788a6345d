"""What of the platform a cluster has: versions, owners, and what a stack cannot use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llmd_common.kubernetes.fields import Object, condition_is_true, each, name, namespace, text
from llmd_gke.catalog import kserve
from llmd_gke.catalog.existing import ENVOY_GATEWAY, KEDA, KSERVE, PARTS, Part
from llmd_gke.gateways import gke
from llmd_gke.rules import existing as rules
from operations.adopt.live import Live
from operations.doctor.result import Result, failed, ok, warning

GATEWAY_API = "gateway.networking.k8s.io/v1"
TEMPLATE = "kserve-config-llm-template"
"""The preset that every service of KServe's is merged with."""


@dataclass(frozen=True)
class Controller:
    """A part's controller. ``where``: its Deployment, ``NAMESPACE/NAME``; ``owner``: who manages it."""

    where: str
    version: str
    owner: str


def controllers(live: Live) -> dict[Part, Controller]:
    """The controllers that the cluster has."""
    found: dict[Part, Controller] = {}
    # KServe's older controller also runs without LLMInferenceService.
    versions = (kserve.VERSION, *kserve.OLDER_VERSIONS)
    serves = any(live.plural(f"{kserve.GROUP}/{version}", kserve.SERVICE) for version in versions)
    for one in live.items("apps/v1", "deployments"):
        images = [text(container, "image") for container in each(one, "spec", "template", "spec", "containers")]
        for part in PARTS:
            version = rules.version_of_images(part, images)
            if version and part not in found and (part is not KSERVE or serves):
                found[part] = Controller(f"{namespace(one)}/{name(one)}", version, rules.owner(one))
    return found


def parts(live: Live, chosen: Mapping[Part, str], *, door: bool, scaled: bool) -> Iterator[Result]:
    """A line for each part: found, missing, too old, somebody else's. ``chosen``: the Deployments of the settings;
    ``door``, ``scaled``: whether the stack needs Envoy Gateway and KEDA.
    """
    there, groups = controllers(live), live.groups()
    for part in PARTS:
        key, wanted = f"llmd-gke:cluster.existing.controllers.{part.key}", chosen.get(part)
        controller = there.get(part)
        if (part is ENVOY_GATEWAY and not door) or (part is KEDA and not scaled):
            continue
        if controller is not None:
            yield from _present(part, controller, wanted, key)
        elif wanted is not None:
            yield failed(part.title, f"{wanted} is not there", f"remove {key}, and the stack installs {part.tested}")
        elif part is not KSERVE and part.crd.partition(".")[2] in groups:
            fix = f"delete its CRDs, or {key}: NAMESPACE/NAME of its Deployment"
            yield warning(part.title, f"its CRDs are there, but no controller of the image {part.images[0]}", fix)
        else:
            yield ok(part.title, f"missing: the stack installs {part.tested}")
    presets = live.items(kserve.API_VERSION, f"{kserve.CONFIG.lower()}s")
    if KSERVE in there and not any(name(one).endswith(TEMPLATE) for one in presets):
        fix = "install its chart kserve-runtime-configs with kserve.llmisvcConfigs.enabled"
        yield failed(KSERVE.title, f"it has no preset {TEMPLATE}, without which no model starts", fix)


def _present(part: Part, controller: Controller, wanted: str | None, key: str) -> Iterator[Result]:
    owned = f", of {controller.owner}" if controller.owner else ""
    seen = f"{controller.version} in {controller.where}{owned}"
    if part.alone:
        yield failed(part.title, f"{seen}: a front door cannot share it: {part.alone}", "use another cluster")
        return
    if wanted != controller.where:
        other = "the stack would install a second one" if wanted is None else f"{key} is {wanted}"
        yield failed(part.title, f"{seen}, and {other}", f"{key}: {controller.where}")
    findings = [*rules.version(part, controller.version)]
    for one in findings:
        yield (failed if one.severity == "error" else warning)(part.title, f"{seen}: {one.problem}", one.fix)
    if not findings and wanted == controller.where:
        yield ok(part.title, seen)


def gateway_api(live: Live, wanted: str) -> Iterator[Result]:
    """The GatewayClass ``wanted`` and the kind InferencePool are there."""
    classes = {name(one) for one in live.items(GATEWAY_API, "gatewayclasses") if condition_is_true(one, "Accepted")}
    if wanted not in classes:
        fix = "gcloud container clusters update CLUSTER --location LOCATION --gateway-api=standard (up to 45 minutes)"
        yield failed("Gateway API", f"there is no accepted GatewayClass {wanted}", fix)
    elif not live.plural("inference.networking.k8s.io/v1", "InferencePool"):
        fix = "upgrade the control plane to 1.34 or newer"
        yield failed("Gateway API", "the CRD of InferencePool v1 is missing", fix)
    else:
        yield ok("Gateway API", f"GatewayClass {wanted}, InferencePool v1")


def refusals(live: Live) -> Iterator[Result]:
    """What the caller may not read."""
    for path, why in live.denied.items():
        yield failed("permissions", f"{path}: {why}", "grant the caller roles/container.viewer, and list for this kind")


def usable_gateways(live: Live) -> tuple[list[Object], list[Result]]:
    """The Gateways that models can be attached to, and why others cannot be used."""
    usable: list[Object] = []
    results: list[Result] = []
    for one in live.items(GATEWAY_API, "gateways"):
        kind, title = text(one, "spec", "gatewayClassName"), f"Gateway {namespace(one)}/{name(one)}"
        if kind not in gke.INFERENCE_POOL_CLASSES:
            fix = "the stack makes a regional one: move the clients to its address, then delete this"
            results.append(warning(title, f"class {kind} cannot carry an InferencePool: it always answers 503", fix))
        elif each(one, "status", "addresses"):
            usable.append(one)
    return usable, results
