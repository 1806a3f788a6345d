"""What of the platform a cluster has: versions, owners, and what a stack cannot use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from llmd_common.kubectl import in_cluster
from llmd_common.kubernetes.fields import Object, condition_is_true, each, name, namespace, text
from llmd_gke.catalog import kserve
from llmd_gke.catalog.existing import ENVOY_GATEWAY, KEDA, KSERVE, PARTS, Part
from llmd_gke.rules import existing as rules
from operations.doctor.result import Result, failed, ok, warning

GATEWAY, GATEWAY_CLASS, ROUTE = (
    f"{kind}.gateway.networking.k8s.io" for kind in ("Gateway", "GatewayClass", "HTTPRoute")
)
POLICIES = ("HealthCheckPolicy.networking.gke.io", "GCPBackendPolicy.networking.gke.io")
PRESET = f"{kserve.CONFIG}.{kserve.GROUP}"
KINDS = {"Namespace", "Node", "Deployment.apps", GATEWAY, GATEWAY_CLASS, ROUTE, PRESET, KSERVE.crd, *POLICIES}
TEMPLATE = "kserve-config-llm-template"
"""The preset that every service of KServe's is merged with."""


class Live:
    """The objects of a cluster, which ``options`` of kubectl select. ``served``: its kinds, as KIND.GROUP."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._objects: dict[str, list[Object]] = {}
        self._errors: dict[str, None] = {}
        self.served: Collection[str] = ()
        self.read(KINDS)

    def read(self, kinds: Collection[str]) -> None:
        """Reads all objects of some kinds. Raises ``Unreachable`` if the cluster does not answer."""
        listed = in_cluster(self._options, kinds, "--show-managed-fields")
        objects: dict[str, list[Object]] = defaultdict(list)
        for one in cast("list[Object]", listed.objects):
            group = text(one, "apiVersion").rpartition("/")[0]
            objects[f"{text(one, 'kind')}.{group}".rstrip(".")].append(one)
        self._objects |= objects
        self._errors |= dict.fromkeys(listed.errors)
        self.served = listed.served

    def of(self, kind: str) -> list[Object]:
        """All objects of a kind that was read, KIND.GROUP; empty if the caller may not read it."""
        return self._objects.get(kind, [])

    def refusals(self) -> list[Result]:
        """What could not be read."""
        fix = "grant the caller roles/container.viewer, and list for this kind"
        return [failed("permissions", error, fix) for error in self._errors]


@dataclass(frozen=True)
class Controller:
    """A part's controller. ``where``: its Deployment, ``NAMESPACE/NAME``; ``owner``: who manages it."""

    where: str
    version: str
    owner: str


def controllers(live: Live) -> dict[Part, Controller]:
    """The controllers that the cluster has; KServe's older one also runs without LLMInferenceService."""
    found: dict[Part, Controller] = {}
    spaces = {name(one): rules.owner(one) for one in live.of("Namespace")}
    for one in live.of("Deployment.apps"):
        images = [text(container, "image") for container in each(one, "spec", "template", "spec", "containers")]
        for part in PARTS:
            version = rules.version_of_images(part, images)
            if version and part not in found and (part is not KSERVE or part.crd in live.served):
                space = spaces.get(namespace(one), "")
                owner = space if space.startswith(rules.PULUMI) else rules.owner(one)
                found[part] = Controller(f"{namespace(one)}/{name(one)}", version, owner)
    return found


def parts(
    live: Live, chosen: Mapping[Part, str], *, door: bool, scaled: bool, gateways: Collection[str] = ()
) -> Iterator[Result]:
    """A line for each part: found, missing, too old, somebody else's. ``chosen``: the Deployments of the settings;
    ``door``, ``scaled``: whether the stack needs Envoy Gateway and KEDA; ``gateways``: the others that it brings.
    """
    there = controllers(live)
    needed = {ENVOY_GATEWAY: door, KEDA: scaled}
    for part in PARTS:
        key, wanted = f"llmd-gke:cluster.existing.controllers.{part.key}", chosen.get(part)
        if not needed.get(part, part.gateway in ("", *gateways)):
            continue
        if part in there:
            yield from _present(part, there[part], wanted, key)
        elif wanted is not None:
            yield failed(part.title, f"{wanted} is not there", f"remove {key}, and the stack installs {part.tested}")
        elif part.crd in live.served:
            fix = f"delete its CRDs, or {key}: NAMESPACE/NAME of its Deployment"
            yield warning(part.title, f"its CRDs are there, but no controller of the image {part.images[0]}", fix)
        else:
            yield ok(part.title, f"missing: the stack installs {part.tested}")
    if KSERVE in there and not any(name(one).endswith(TEMPLATE) for one in live.of(PRESET)):
        fix = "install its chart kserve-runtime-configs with kserve.llmisvcConfigs.enabled"
        yield failed(KSERVE.title, f"it has no preset {TEMPLATE}, without which no model starts", fix)


def _present(part: Part, controller: Controller, wanted: str | None, key: str) -> Iterator[Result]:
    owned = f", of {controller.owner}" if controller.owner else ""
    seen = f"{controller.version} in {controller.where}{owned}"
    own = wanted is None and controller.owner.startswith(rules.PULUMI)
    if part.alone and not own:
        yield failed(part.title, f"{seen}: a stack cannot share it: {part.alone}", "use another cluster")
        return
    if wanted != controller.where and not part.alone:
        other = "the stack would install a second one" if wanted is None else f"{key} is {wanted}"
        said = f"{seen}, and {other}{', unless it is its own' if own else ''}"
        yield (warning if own else failed)(part.title, said, f"{key}: {controller.where}")
    findings = [*rules.version(part, controller.version)]
    for one in findings:
        yield (failed if one.severity == "error" else warning)(part.title, f"{seen}: {one.problem}", one.fix)
    if not findings and (part.alone or wanted == controller.where):
        yield ok(part.title, seen)


def gateway_api(live: Live, wanted: str | None) -> Result:
    """Whether the GatewayClass ``wanted`` (``None``: the stack brings its own) and the kind InferencePool are there."""
    title, classes = "Gateway API", [name(one) for one in live.of(GATEWAY_CLASS) if condition_is_true(one, "Accepted")]
    if wanted is not None and wanted not in classes:
        fix = "gcloud container clusters update CLUSTER --location LOCATION --gateway-api=standard (up to 45 minutes)"
        return failed(title, f"there is no accepted GatewayClass {wanted}", fix)
    if "InferencePool.inference.networking.k8s.io" not in live.served:
        return failed(title, "the CRD of InferencePool v1 is missing", "upgrade the control plane to 1.34 or newer")
    return ok(title, "InferencePool v1" if wanted is None else f"GatewayClass {wanted}, InferencePool v1")
