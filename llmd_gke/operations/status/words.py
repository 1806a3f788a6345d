"""Conditions of KServe and of GKE's gateway, in words, as data: the first entry that fits is shown.

Types and reasons: kserve v0.20.0 ``pkg/apis/serving/v1alpha2/llm_inference_service_lifecycle.go`` and
``pkg/controller/v1alpha2/llmisvc``; Gateway API v1.6.1 ``apis/v1``; what GKE writes: kserve#5311,
gateway-api-inference-extension#1131, llm-d's provider page for GKE. Held by real objects in the tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llmd_gke.operations.status.objects import State


@dataclass(frozen=True)
class Word:
    """Fits a condition of that type (pattern), with that reason and message (patterns; empty fits all)."""

    type: str
    reason: str
    message: str
    state: State
    words: str
    fix: str = ""


BUSY, BAD = State.BUSY, State.BAD

KSERVE: tuple[Word, ...] = (
    Word("", "Stopped", "", State.GOOD, "stopped on purpose: KServe keeps nothing of it", ""),
    Word(
        "PresetsCombined",
        "ConfigNotFound",
        "",
        BAD,
        "a configuration that the service names (`baseRefs`), or a preset of KServe's, does not exist",
        "kubectl get llminferenceserviceconfig -A",
    ),
    Word(
        "PresetsCombined",
        "CombineBaseError",
        "",
        BAD,
        "KServe could not merge the configurations: usually a template that does not render",
        "pulumi up --stack {stack} --policy-pack policies",
    ),
    Word(
        "PresetsCombined|^Ready$",
        "InvalidRenderedConfig|ValidationUnavailable",
        "",
        BAD,
        "what the configurations give when merged is not a valid service",
        "pulumi up --stack {stack} --policy-pack policies",
    ),
    Word(
        "",
        "RefsInvalid",
        "",
        BAD,
        "the service names a route or gateway that does not exist, so KServe makes neither pool nor endpoint picker",
        "pulumi up --stack {stack} --policy-pack policies",
    ),
    Word(
        "InferencePoolReady",
        "WaitingForGateway|InferencePoolNotReady",
        "",
        BUSY,
        "the InferencePool is there; GKE's gateway has not accepted it yet (a minute or two; longer: see the route)",
    ),
    Word(
        "SchedulerWorkloadReady",
        "SchedulerReconcileError",
        "",
        BAD,
        "KServe could not make the endpoint picker",
        "kubectl -n kserve logs deploy/llmisvc-controller-manager",
    ),
    Word(
        "SchedulerWorkloadReady",
        "",
        "",
        BUSY,
        "the endpoint picker is not available: it starts, or exits because it does not know a plugin",
        "kubectl -n {namespace} logs -l app.kubernetes.io/component=llminferenceservice-router-scheduler --tail 20",
    ),
    Word(
        "WorkloadReady",
        "",
        "unsupported schema in model URI",
        BAD,
        "KServe does not load weights from that kind of address",
        "llmd-gke doctor --stack {stack}",
    ),
    Word(
        "WorkerWorkloadReady|MultiNode",
        "ReconcileMultiNodeWorkloadError",
        "",
        BAD,
        "KServe could not make the LeaderWorkerSet: its controller or CRD is missing",
        "kubectl -n lws-system get pods",
    ),
    Word(
        "WorkloadReady",
        "ProgressDeadlineExceeded",
        "",
        BAD,
        "the Deployment gave up waiting for its pods; the pods above say why",
        "kubectl -n {namespace} describe pods -l kserve.io/component=workload",
    ),
    Word(
        "WorkloadReady", "MinimumReplicasUnavailable", "", BUSY, "not all servers are ready yet; the pods above say why"
    ),
    Word("WorkloadReady", "", "", BUSY, "the servers are not available yet"),
    Word("ScalingReady", "ScalingCRDNotFound", "", BAD, "an autoscaler that the service asks for is not installed"),
    Word("GatewaysReady", "", "", BUSY, "the gateway is not programmed yet; see below"),
    Word("HTTPRoutesReady", "", "", BUSY, "the route is not accepted or not resolved yet; see below"),
)

GATEWAY: tuple[Word, ...] = (
    Word(
        "Accepted",
        "UnsupportedValue|Invalid",
        "Timeouts are not supported|GWCER104",
        BAD,
        "GKE refuses a field of the route (GWCER104, mostly `timeouts`); until it is gone the whole Gateway is stuck",
        "pulumi preview --stack {stack} --policy-pack policies",
    ),
    Word("Accepted", "NotAllowedByListeners", "", BAD, "no listener admits routes of this namespace"),
    Word("Accepted", "NoMatchingParent", "", BAD, "the route names a listener that the gateway does not have"),
    Word("Accepted", "NoMatchingListenerHostname", "", BAD, "the route's host is not the listener's"),
    Word("Accepted", "Pending", "", BUSY, "GKE has not looked at it yet"),
    Word(
        "ResolvedRefs",
        "BackendNotFound|InvalidKind",
        "",
        BUSY,
        "a backend of the route does not exist yet: KServe makes pool and Service once it has seen the route",
    ),
    Word("ResolvedRefs", "RefNotPermitted", "", BAD, "a reference to another namespace without a ReferenceGrant"),
    Word(
        "ResolvedRefs",
        "InvalidCertificateRef",
        "",
        BAD,
        "the listener's certificate does not exist or cannot be read",
        "kubectl -n inference-gateway get secrets",
    ),
    Word(
        "Programmed",
        "AddressNotUsable|AddressNotAssigned|UnsupportedAddress",
        "",
        BAD,
        "the reserved address cannot be used: gone, in use, or of another region or tier",
        "gcloud compute addresses list",
    ),
    Word("Programmed", "", "proxy-only|REGIONAL_MANAGED_PROXY", BAD, "the region has no proxy-only subnet"),
    Word("Programmed", "Invalid", "", BAD, "GKE could not program the load balancer"),
    Word("Programmed", "", "", BUSY, "GKE is programming the load balancer (some minutes after the first `up`)"),
    Word(
        "Attached",
        "GatewayNotFound|TargetNotFound|Conflicted|Invalid",
        "",
        BAD,
        "the policy is not in force: its target does not exist, has no gateway, or another policy holds it",
        "kubectl -n {namespace} get healthcheckpolicy,gcpbackendpolicy -o yaml",
    ),
    Word("Attached", "", "", BUSY, "GKE has not attached the policy yet"),
)

EVENTS: tuple[Word, ...] = (
    Word(
        "FailedScaleUp|ScaleUpFailed",
        "",
        "STOCKOUT|out of resources|resource pool exhausted|does not have enough resources",
        BAD,
        "Google has no such TPU free in the zone right now: wait, or choose another zone or capacity",
        "llmd-gke doctor --stack {stack} --probe",
    ),
    Word(
        "FailedScaleUp|ScaleUpFailed",
        "",
        "[Qq]uota",
        BAD,
        "the quota for these chips is used up",
        "llmd-gke doctor --stack {stack}",
    ),
    Word("FailedScaleUp|ScaleUpFailed", "", "", BAD, "the node pool could not grow", "llmd-gke doctor --stack {stack}"),
    Word(
        "NotTriggerScaleUp",
        "",
        "max node group size reached",
        BAD,
        "the pool is at maxNodes",
        "raise maxNodes in Pulumi.{stack}.yaml (docs/pools.md)",
    ),
    Word("NotTriggerScaleUp", "", "", BUSY, "no node pool fits the pod, or none may grow"),
    Word("TriggeredScaleUp", "", "", BUSY, "the pool grows: a TPU node takes about ten minutes"),
    Word("FailedScheduling", "", "google.com/tpu", BUSY, "waits for a node with free chips"),
    Word("FailedScheduling", "", "", BUSY, "waits for a node that fits"),
    Word(
        "Failed|ErrImagePull|ImagePullBackOff",
        "",
        "[Pp]ull|image",
        BAD,
        "the image cannot be pulled: it does not exist, or needs a secret",
        "kubectl -n {namespace} describe pod {name}",
    ),
    Word(
        "BackOff",
        "",
        "",
        BAD,
        "a container keeps ending",
        "kubectl -n {namespace} logs {name} --all-containers --previous",
    ),
    Word("FailedMount|FailedAttachVolume", "", "", BUSY, "a volume cannot be mounted yet"),
    Word("OOMKilling|SystemOOM", "", "", BAD, "a process was ended for want of memory"),
    Word("Preempted|TerminationByKubelet|NodeNotReady", "", "", BUSY, "a node went away (spot nodes may, at any time)"),
    Word("Evicted", "", "", BAD, "a pod was evicted"),
    Word("SYNC|Sync|ADD", "", "GWCER|rror", BAD, "GKE could not apply a gateway, route or policy"),
)
"""Events by reason (in ``type``) and message; others are not shown."""


def find(table: tuple[Word, ...], kind: str, reason: str, message: str) -> Word | None:
    """The first entry that fits."""
    return next(
        (
            word
            for word in table
            if re.search(word.type, kind) and re.search(word.reason, reason) and re.search(word.message, message)
        ),
        None,
    )
