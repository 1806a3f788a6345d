"""What of the platform a cluster has: versions, owners, and what a stack cannot use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llmd_common.kubernetes.fields import condition_is_true, each, name, namespace, text
from llmd_gke.catalog import kserve
from llmd_gke.catalog.existing import ENVOY_GATEWAY, INFERENCE_POOLS, KSERVE, PARTS, Part
from llmd_gke.gateways import gke
from llmd_gke.rules import existing as rules
from operations.adopt.live import Live
from operations.doctor.result import Result, failed, ok, warning

LISTED = (("apps/v1", "deployments"), ("gateway.networking.k8s.io/v1", "gatewayclasses"), ("v1", "nodes"))
TEMPLATE = "kserve-config-llm-template"
"""The preset that every service of KServe's is merged with."""


@dataclass(frozen=True)
class Controller:
    """A part's controller in the cluster. ``where``: its Deployment, ``NAMESPACE/NAME``; ``owner``: who manages it."""

    where: str
    version: str
    owner: str


def controllers(live: Live) -> dict[Part, Controller]:
    """The controllers that the cluster has."""
    found: dict[Part, Controller] = {}
    for deployment in live.items("apps/v1", "deployments"):
        images = texts_of_images(deployment)
        for part in PARTS:
            version = rules.version_of_images(part, images)
            if version and part not in found and (part is not KSERVE or _serves_models(live)):
                where = f"{namespace(deployment)}/{name(deployment)}"
                found[part] = Controller(where, version, rules.owner(deployment))
    return found


def texts_of_images(deployment: object) -> list[str]:
    """The images of a Deployment's containers."""
    return [text(one, "image") for one in each(deployment, "spec", "template", "spec", "containers")]


def _serves_models(live: Live) -> bool:
    """KServe's older controller also runs without LLMInferenceService."""
    return any(live.plural(f"{kserve.GROUP}/{one}", kserve.SERVICE) for one in (kserve.VERSION, *kserve.OLDER_VERSIONS))


def parts(live: Live, chosen: Mapping[Part, str], *, door: bool, scaled: bool) -> Iterator[Result]:
    """A line for each part: found, missing, too old, somebody else's. ``chosen``: the Deployments of the settings;
    ``door``, ``scaled``: whether the stack needs Envoy Gateway and KEDA.
    """
    there, groups = controllers(live), live.groups()
    needed = dict.fromkeys(PARTS, True) | {ENVOY_GATEWAY: door, PARTS[3]: scaled}
    for part in PARTS:
        controller, key = there.get(part), f"llmd-gke:cluster.existing.controllers.{part.key}"
        if not needed[part]:
            continue
        if controller is None:
            yield from _missing(part, part.crd.partition(".")[2] in groups, chosen.get(part), key)
            continue
        owned = f", of {controller.owner}" if controller.owner else ""
        seen = f"{controller.version} in {controller.where}{owned}"
        if part.alone:
            yield failed(part.title, f"{seen}: a front door cannot share it: {part.alone}", "use another cluster")
            continue
        if part in chosen and chosen[part] != controller.where:
            yield failed(part.title, f"{seen}, but {key} is {chosen[part]}", f"{key}: {controller.where}")
        elif part not in chosen:
            yield failed(part.title, f"{seen}, and the stack would install a second one", f"{key}: {controller.where}")
        findings = list(rules.version(part, controller.version))
        for one in findings:
            yield (failed if one.severity == "error" else warning)(part.title, f"{seen}: {one.problem}", one.fix)
        if not findings and chosen.get(part) == controller.where:
            yield ok(part.title, seen)
    if KSERVE in there and not any(name(one).endswith(TEMPLATE) for one in _presets(live)):
        fix = "install its chart kserve-runtime-configs with kserve.llmisvcConfigs.enabled"
        yield failed(KSERVE.title, f"it has no preset {TEMPLATE}, without which no model starts", fix)


def _presets(live: Live) -> list[dict[str, object]]:
    return live.items(kserve.API_VERSION, f"{kserve.CONFIG.lower()}s")


def _missing(part: Part, has_kinds: bool, chosen: str | None, key: str) -> Iterator[Result]:
    if chosen is not None:
        yield failed(part.title, f"{chosen} is not there", f"remove {key}, and the stack installs {part.tested}")
    elif has_kinds and part is not KSERVE:
        message = f"its CRDs are there without a controller of a known image ({', '.join(part.images)})"
        yield failed(part.title, message, f"{key}: NAMESPACE/NAME of its Deployment; or delete its CRDs")
    else:
        yield ok(part.title, f"missing: the stack installs {part.tested}")


def gateway_api(live: Live, wanted: str) -> Iterator[Result]:
    """The GatewayClass ``wanted`` and the kind InferencePool are there."""
    classes = live.items(*LISTED[1])
    accepted = {name(one) for one in classes if condition_is_true(one, "Accepted")}
    switch = "gcloud container clusters update CLUSTER --location LOCATION --gateway-api=standard (up to 45 minutes)"
    if wanted not in accepted:
        yield failed("Gateway API", f"there is no accepted GatewayClass {wanted}", switch)
    elif not live.plural("inference.networking.k8s.io/v1", "InferencePool"):
        yield failed(
            "Gateway API", f"the CRD {INFERENCE_POOLS} is missing", "upgrade the control plane to 1.34 or newer"
        )
    else:
        yield ok("Gateway API", f"GatewayClass {wanted}, InferencePool v1")


def refusals(live: Live) -> Iterator[Result]:
    """What the caller may not read."""
    for path, why in live.denied.items():
        yield failed("permissions", f"{path}: {why}", "grant the caller roles/container.viewer, and list for this kind")


def usable_gateways(live: Live) -> tuple[list[dict[str, object]], list[Result]]:
    """The Gateways that models can be attached to, and why others cannot be used."""
    usable: list[dict[str, object]] = []
    results: list[Result] = []
    for gateway in live.items("gateway.networking.k8s.io/v1", "gateways"):
        kind, title = text(gateway, "spec", "gatewayClassName"), f"Gateway {namespace(gateway)}/{name(gateway)}"
        if kind not in gke.INFERENCE_POOL_CLASSES:
            fix = "the stack makes a regional one: move the clients to its address, then delete this"
            results.append(warning(title, f"class {kind} cannot carry an InferencePool: it always answers 503", fix))
        elif not each(gateway, "status", "addresses"):
            results.append(warning(title, "it has no address yet", "kubectl describe it: its conditions say why"))
        else:
            usable.append(gateway)
    return usable, results
