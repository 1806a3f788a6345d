"""Requirements for production stacks. Which stacks are production is configurable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from llmd_gke.catalog import front_door
from llmd_gke.rules import cluster, gateway, node_pools, notification
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.kinds import ALERT_POLICY, CLUSTER, GATEWAY, LISTENER_SETS, NETWORK, NODE_POOL, Kind
from policies.rules.rule import STACKS, Check, Parameter, ParameterValues, Program, Rule, StackFinding, Subject

HARDENING = "https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster"
_production_rule = partial(Rule, parameters=(STACKS,))


def _in_production(checks: Mapping[Kind, Callable[[Input], Iterable[Finding]]]) -> Check:
    return lambda subject, settings: checks[subject.kind](subject.node) if settings.is_production else ()


def _protect(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    if not settings.is_production:
        return
    if subject.protect is False:
        yield Finding(
            "production-protect",
            "is not protected: a rename or an accidental `destroy` would delete it, and every service with it",
            allowed="the resource option protect: true",
            fix="set protect=True in its ResourceOptions",
        )
    if subject.kind == CLUSTER:
        yield from cluster.deletion_protection(subject.node)


def _https(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    if not settings.is_production or _may_be_plain(subject, settings.texts("plainHttpGateways")):
        return
    partial = subject.partial or subject.kind != GATEWAY
    if gateway.may_face_the_internet(subject.spec.get("gatewayClassName"), partial=partial):
        yield from gateway.plain_http(subject.spec, partial=partial)


def _may_be_plain(subject: Subject, plain: tuple[str, ...]) -> bool:
    """Whether the Gateway is listed, or may be once its namespace is known, which is noted."""
    if subject.name in plain:
        return True
    namespaces = [name.rpartition("/")[0] for name in plain if name.endswith(f"/{subject.name}")]
    return bool(namespaces) and subject.namespace in (*namespaces, None)


def _uncovered(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
    if settings.is_production:
        return
    for subject in program.of(CLUSTER, NETWORK):
        if subject.protect:
            finding = Finding(
                "production-stacks",
                f"is protected, but the production rules do not cover stack {settings.stack}",
                allowed=", ".join(settings.texts("stacks")) or "no stack",
                fix=f"add {settings.stack} to `stacks` of the production rules, or rename the stack to match",
            )
            yield StackFinding(subject, finding)
            return


def _spot_only(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
    if not settings.is_production:
        return
    pools = [pool for pool in program.of(NODE_POOL) if node_pools.accelerator(pool.node) is not None]
    if pools and all(node_pools.capacity_mode(pool.node) == "spot" for pool in pools):
        finding = Finding(
            "production-spot-only",
            "every TPU pool is spot: Google may reclaim all replicas at once, with 30 seconds' notice",
            fix="use on-demand or reserved capacity for at least one pool",
        )
        yield StackFinding(pools[0], finding)


def _silent(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
    policies = list(program.of(ALERT_POLICY)) if settings.is_production else []
    for finding in notification.notifies([policy.node for policy in policies]):
        yield StackFinding(policies[0], finding)


COVERED = Rule(
    name="production-stacks",
    title="A protected stack is covered by the production rules",
    why="A stack whose cluster is protected against deletion is likely to be production. The other production "
    "rules apply only to stacks whose names match `stacks`.",
    sources=("https://www.pulumi.com/docs/iac/concepts/options/protect/",),
    kinds=(CLUSTER, NETWORK),
    check_program=_uncovered,
    level="advisory",
    severity="medium",
    parameters=(STACKS,),
    opt_out="For protected stacks that are not production, disable the rule or add them to its `stacks`.",
)

PROTECT = Rule(
    name="production-protect",
    title="Production clusters and VPCs are protected",
    why="Pulumi's `protect` and the provider's `deletionProtection` keep a mistake from becoming an outage.",
    sources=("https://www.pulumi.com/docs/iac/concepts/options/protect/",),
    kinds=(CLUSTER, NETWORK),
    check_object=_protect,
    parameters=(STACKS,),
    opt_out="To destroy a production stack, unprotect it with `--policy-pack-config policies/unprotect.json`, which "
    "makes this rule advisory.",
)

PRIVATE_NODES = _production_rule(
    name="production-private-nodes",
    title="Production nodes have no public addresses",
    why="Only load balancers need to reach the nodes of a model server.",
    sources=(HARDENING,),
    kinds=(CLUSTER, NODE_POOL),
    check_object=_in_production({CLUSTER: cluster.private_nodes, NODE_POOL: cluster.private_pool}),
)


HTTPS = Rule(
    name="production-https",
    title="Production Gateways that face the Internet use HTTPS",
    why="Prompts, answers and API keys are confidential. In addition to HTTPS, an HTTP listener is allowed only "
    "for redirects: its `allowedRoutes` admit only the Gateway's own namespace (`Same`, also the API's "
    "default), so no model's route attaches to it.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway",),
    kinds=(GATEWAY, *LISTENER_SETS),
    check_object=_https,
    parameters=(
        STACKS,
        Parameter(
            "plainHttpGateways",
            (f"{front_door.NAMESPACE}/{front_door.NAME}",),
            "Gateways (NAME or NAMESPACE/NAME) that may use plain HTTP: that of the front door has no address of its "
            "own, it is behind the load balancer",
        ),
    ),
    opt_out="List the Gateway in `plainHttpGateways`.",
)

CONTROL_PLANE = _production_rule(
    name="production-control-plane",
    title="Production control planes are not open to the whole Internet",
    why="Use only the DNS endpoint, which IAM protects, or limit access with authorized networks.",
    sources=(HARDENING,),
    kinds=(CLUSTER,),
    check_object=_in_production({CLUSTER: cluster.control_plane_open}),
)

SPOT_ONLY = _production_rule(
    name="production-spot-only",
    title="Production does not depend on spot capacity alone",
    why="Spot nodes are reclaimed with 30 seconds' notice, often all of a zone at once.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",),
    kinds=(NODE_POOL,),
    check_program=_spot_only,
    level="advisory",
    severity="medium",
)

ALERT_CHANNEL = _production_rule(
    name="production-alert-channel",
    title="Alerts of production stacks notify someone",
    why="An incident that is only shown in the console is noticed only by someone who happens to look there.",
    sources=("https://cloud.google.com/monitoring/support/notification-options",),
    kinds=(ALERT_POLICY,),
    check_program=_silent,
    level="advisory",
    severity="medium",
)
