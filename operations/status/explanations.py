"""Explanations of conditions of KServe and of GKE's gateway, and of events, as data: the first entry that matches is
shown.

Types and reasons: kserve ``pkg/apis/serving/v1alpha2/llm_inference_service_lifecycle.go`` and
``pkg/controller/v1alpha2/llmisvc``; Gateway API v1.6.1 ``apis/v1``; GKE's texts: kserve#5311,
gateway-api-inference-extension#1131, llm-d's provider page for GKE. The tests check them with real objects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llmd_gke.catalog.accelerators import RESOURCES
from llmd_gke.gateways import gke
from operations.status.objects import State


@dataclass(frozen=True)
class Explanation:
    """The state, its meaning and the next command; applies if all three patterns match."""

    state: State
    text: str
    type: str = ""
    """Type of the condition; an event has none."""
    reason: str = ""
    message: str = ""
    fix: str = ""

    def fits(self, kind: str, reason: str, message: str) -> bool:
        """Whether it explains such a condition or event."""
        pairs = ((self.type, kind), (self.reason, reason), (self.message, message))
        return all(re.search(pattern, text) for pattern, text in pairs)


GOOD, BUSY, BAD = State.GOOD, State.BUSY, State.BAD

KSERVE: tuple[Explanation, ...] = (
    Explanation(GOOD, "stopped by the settings: KServe has deleted its objects", reason="Stopped"),
    Explanation(
        BAD,
        "a configuration that the service names (`baseRefs`), or a preset of KServe, does not exist",
        type="PresetsCombined",
        reason="ConfigNotFound",
        fix="kubectl get llminferenceserviceconfig -A",
    ),
    Explanation(
        BAD,
        "KServe could not merge the configurations: usually a template that does not render",
        type="PresetsCombined",
        reason="CombineBaseError",
        fix="pulumi up --stack {stack} --policy-pack policies",
    ),
    Explanation(
        BAD,
        "the merged configurations are not a valid service",
        type="PresetsCombined|^Ready$",
        reason="InvalidRenderedConfig|ValidationUnavailable",
        fix="pulumi up --stack {stack} --policy-pack policies",
    ),
    Explanation(
        BAD,
        "the service names a route or gateway that does not exist (while `pulumi up` runs: not yet), so KServe creates "
        "neither pool nor endpoint picker",
        reason="RefsInvalid",
        fix="pulumi up --stack {stack} --policy-pack policies",
    ),
    Explanation(
        BUSY,
        "the InferencePool exists, but GKE's gateway has not accepted it yet (usually a minute or two; if longer, "
        "see the route)",
        type="InferencePoolReady",
        reason="WaitingForGateway|InferencePoolNotReady",
    ),
    Explanation(
        BAD,
        "KServe could not create the endpoint picker",
        type="SchedulerWorkloadReady",
        reason="SchedulerReconcileError",
        fix="kubectl -n kserve logs deploy/llmisvc-controller-manager",
    ),
    Explanation(
        BUSY,
        "the endpoint picker is not available: it is starting, or it exits because of an unknown plugin",
        type="SchedulerWorkloadReady",
        fix="kubectl -n {namespace} logs -l app.kubernetes.io/component=llminferenceservice-router-scheduler --tail 20",
    ),
    Explanation(
        BAD,
        "KServe cannot load weights from this kind of URI",
        type="WorkloadReady",
        message="unsupported schema in model URI",
        fix="llmd-gke doctor --stack {stack}",
    ),
    Explanation(
        BAD,
        "KServe could not create the LeaderWorkerSet: its controller or CRD is missing",
        type="WorkerWorkloadReady|MultiNode",
        reason="ReconcileMultiNodeWorkloadError",
        fix="kubectl -n lws-system get pods",
    ),
    Explanation(
        BAD,
        "the Deployment stopped waiting for its pods; see the pods above for the reason",
        type="WorkloadReady",
        reason="ProgressDeadlineExceeded",
        fix="kubectl -n {namespace} describe pods -l kserve.io/component=workload",
    ),
    Explanation(
        BUSY,
        "not all servers are ready yet; see the pods above for the reason",
        type="WorkloadReady",
        reason="MinimumReplicasUnavailable",
    ),
    Explanation(BUSY, "the servers are not available yet", type="WorkloadReady"),
    Explanation(
        BAD,
        "an autoscaler that the service requires is not installed",
        type="ScalingReady",
        reason="ScalingCRDNotFound",
    ),
    Explanation(BUSY, "the gateway is not programmed yet; see below", type="GatewaysReady"),
    Explanation(BUSY, "the route is not accepted or not resolved yet; see below", type="HTTPRoutesReady"),
)

GATEWAY: tuple[Explanation, ...] = (
    *(
        Explanation(
            BAD if one.bad else BUSY, one.text, type=one.type, reason=one.reason, message=one.message, fix=one.fix
        )
        for one in gke.CONDITIONS
    ),
    Explanation(BAD, "no listener accepts routes from this namespace", type="Accepted", reason="NotAllowedByListeners"),
    Explanation(
        BAD, "the route refers to a listener that the gateway does not have", type="Accepted", reason="NoMatchingParent"
    ),
    Explanation(
        BAD, "the route's host name does not match the listener's", type="Accepted", reason="NoMatchingListenerHostname"
    ),
    Explanation(BUSY, "GKE has not processed it yet", type="Accepted", reason="Pending"),
    Explanation(
        BUSY,
        "a backend of the route does not exist yet: KServe creates pool and Service after it has seen the route",
        type="ResolvedRefs",
        reason="BackendNotFound|InvalidKind",
    ),
    Explanation(
        BAD, "a reference to another namespace without a ReferenceGrant", type="ResolvedRefs", reason="RefNotPermitted"
    ),
    Explanation(
        BAD,
        "the listener's certificate does not exist or cannot be read",
        type="ResolvedRefs",
        reason="InvalidCertificateRef",
        fix="kubectl -n inference-gateway get secrets",
    ),
    Explanation(
        BAD,
        "the reserved address cannot be used: it was deleted, is in use, or has another region or tier",
        type="Programmed",
        reason="AddressNotUsable|AddressNotAssigned|UnsupportedAddress",
        fix="gcloud compute addresses list",
    ),
    Explanation(BAD, "GKE could not program the load balancer", type="Programmed", reason="Invalid"),
    Explanation(
        BUSY, "GKE is programming the load balancer (takes some minutes after the first `up`)", type="Programmed"
    ),
)

EVENTS: tuple[Explanation, ...] = (
    Explanation(
        BAD,
        "the zone has no free TPU of this type right now: wait, or choose another zone or capacity",
        reason="FailedScaleUp|ScaleUpFailed",
        message="STOCKOUT|out of resources|resource pool exhausted|does not have enough resources",
        fix="llmd-gke doctor --stack {stack} --probe",
    ),
    Explanation(
        BAD,
        "the quota for these chips is exhausted",
        reason="FailedScaleUp|ScaleUpFailed",
        message="[Qq]uota",
        fix="llmd-gke doctor --stack {stack}",
    ),
    Explanation(
        BAD, "the node pool could not grow", reason="FailedScaleUp|ScaleUpFailed", fix="llmd-gke doctor --stack {stack}"
    ),
    Explanation(
        BAD,
        "the pool is at maxNodes",
        reason="NotTriggerScaleUp",
        message="max node group size reached",
        fix="increase maxNodes in Pulumi.{stack}.yaml (docs/pools.md)",
    ),
    Explanation(BUSY, "no node pool fits the pod, or none can grow", reason="NotTriggerScaleUp"),
    Explanation(BUSY, "the pool is growing: a TPU node takes about ten minutes", reason="TriggeredScaleUp"),
    Explanation(
        BUSY, "waits for a node with free chips", reason="FailedScheduling", message="|".join(map(re.escape, RESOURCES))
    ),
    Explanation(BUSY, "waits for a node that fits", reason="FailedScheduling"),
    Explanation(
        BAD,
        "the image cannot be pulled: it does not exist, or needs a secret",
        reason="Failed|ErrImagePull|ImagePullBackOff",
        message="[Pp]ull|image",
        fix="kubectl -n {namespace} describe pod {name}",
    ),
    Explanation(
        BAD,
        "a container keeps exiting",
        reason="BackOff",
        fix="kubectl -n {namespace} logs {name} --all-containers --previous",
    ),
    Explanation(BUSY, "a volume cannot be mounted yet", reason="FailedMount|FailedAttachVolume"),
    Explanation(BAD, "a process was killed: out of memory", reason="OOMKilling|SystemOOM"),
    Explanation(
        BUSY,
        "a node was removed (spot nodes can be reclaimed at any time)",
        reason="Preempted|TerminationByKubelet|NodeNotReady",
    ),
    Explanation(BAD, "a pod was evicted", reason="Evicted"),
    Explanation(BAD, "GKE could not apply a gateway, route or policy", reason="SYNC|Sync|ADD", message="GWCER|rror"),
)
"""Events that are shown; others are not."""


def find(table: tuple[Explanation, ...], reason: str, message: str, *, kind: str = "") -> Explanation | None:
    """The first entry that matches a condition of type ``kind``, or an event."""
    return next((explanation for explanation in table if explanation.fits(kind, reason, message)), None)
