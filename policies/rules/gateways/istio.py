"""Gateways of Istio: what its proxies need to reach endpoint pickers, and what takes load figures away from these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from llmd_gke.catalog import kserve, upstream
from llmd_gke.gateways import istio
from llmd_gke.gateways.gke import CLASS_PREFIX
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown
from policies.rules.backends import BackendReference, proxies_of, route_of
from policies.rules.kinds import GATEWAY, GATEWAY_CLASS, LLM_SERVICE, NAMESPACE, POOL, RELEASE, Kind
from policies.rules.reach import KINDS, Name, Reach
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

DESTINATION_RULE = Kind("networking.istio.io", "DestinationRule")
PEER_AUTHENTICATION = Kind("security.istio.io", "PeerAuthentication")

ENCRYPTED, TRUSTS = ("SIMPLE", "MUTUAL"), ("caCertificates", "credentialName")
"""Modes of a DestinationRule with TLS (``ISTIO_MUTUAL`` needs a sidecar), and what makes it trust an authority."""
SERVER_PORT = str(kserve.WORKLOAD_PORT)
INJECTION: Mapping[str, str] = {"istio-injection": "enabled", "sidecar.istio.io/inject": "true"}


def _gateways(program: Program) -> dict[Name, str]:
    found: dict[Name, str] = {}
    for gate in program.of(GATEWAY):
        name = gate.spec.get("gatewayClassName").text() or ""
        if gate.identity is None:
            continue
        if proxies_of(program, name) is istio.PROXIES:
            found[gate.identity] = istio.CLASS
        elif name.startswith(CLASS_PREFIX):
            found[gate.identity] = CLASS_PREFIX
    return found


def _pools(program: Program) -> Iterator[tuple[Subject, set[str], BackendReference]]:
    """Every way of a route to a pool: the route, the classes of its Gateways, the pool."""
    gateways = _gateways(program)
    for way in Reach(program).ways():
        classes = {gateways[gate] for gate in way.gateways if gate in gateways}
        for pool in way.answering if classes else ():
            if pool.kind == POOL.name:
                yield way.route, classes, pool


def _accepts_own_certificate(tls: Input) -> bool:
    """Whether a rule makes TLS to a picker that signed its certificate itself. What is not known yet counts."""
    if isinstance(tls.value, Unknown) or isinstance(tls.get("mode").value, Unknown):
        return not tls.present() or not tls.get("mode").present()
    trusts = tls.get("insecureSkipVerify").boolean() is True or any(tls.get(key).value for key in TRUSTS)
    return tls.get("mode").text() in ENCRYPTED and trusts


def _reaches(rule: Subject, service: str, namespace: str) -> bool:
    """Whether a DestinationRule is for the host of a Service, which Istio completes only if it has no dot."""
    host, name = rule.spec.get("host").text() or "", f"{service}.{namespace}.svc.cluster.local"
    return (host == service and rule.namespace == namespace) or fnmatchcase(name, host)


def _picker_tls(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    encrypted = [
        rule
        for rule in program.of(DESTINATION_RULE)
        for policy in [rule.spec.get("trafficPolicy")]
        if any(_accepts_own_certificate(one.get("tls")) for one in (policy, *policy.get("portLevelSettings").each()))
    ]
    pickers = {
        BackendReference(POOL.name, *pool.identity): pool.spec.get("endpointPickerRef", "name").text()
        for pool in program.of(POOL)
        if pool.identity is not None
    }
    seen: set[BackendReference] = set()
    for route, classes, pool in _pools(program):
        service = pickers.get(pool, kserve.picker_service(pool.name.removesuffix(kserve.POOL_SUFFIX)))
        if istio.CLASS not in classes or service is None or pool in seen:
            continue
        seen.add(pool)
        if not any(_reaches(rule, service, pool.namespace) for rule in encrypted):
            problem = f"no DestinationRule makes TLS to the endpoint picker of {pool}: every completion is a 500"
            fix = (
                f"add one with host {service}.{pool.namespace}.svc.cluster.local and trafficPolicy.tls "
                "{mode: SIMPLE, insecureSkipVerify: true}"
            )
            yield StackFinding(route, Finding("istio-picker-tls", problem, fix=fix))


def _weighted(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    at_istio = {route.urn: route for route, classes, _ in _pools(program) if istio.CLASS in classes}
    for route in at_istio.values():
        for rule in route_of(route).get("rules").each():
            used = [one for one in rule.get("backendRefs").each() if one.get("weight").value != 0]
            if len(used) > 1 and any(one.get("kind").text() == POOL.name for one in used):
                finding = Finding(
                    "istio-weighted-pools",
                    f"{rule.path} has an InferencePool beside other backends: one endpoint picker is asked for all, or "
                    "none",
                    allowed="one InferencePool a rule",
                    fix="choose the version by a header in a rule of its own, or put the models behind the front door",
                )
                yield StackFinding(route, finding)


def _two_controllers(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    reached: dict[BackendReference, set[str]] = {}
    for route, classes, pool in _pools(program):
        known = reached.setdefault(pool, set())
        if len(known | classes) > 1 and known != known | classes:
            problem = f"{pool} has routes at a Gateway of GKE and at one of Istio: both rewrite its status, in turn"
            finding = Finding("two-gateways-on-pool", problem, fix="give one of the Gateways a pool of its own")
            yield StackFinding(route, finding)
        known |= classes


def _strict(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    spaces = {istio.NAMESPACE, *(one.namespace for one in program.of(LLM_SERVICE, POOL))}
    for policy in program.of(PEER_AUTHENTICATION) if len(spaces) > 1 else ():
        ports = dict(policy.spec.get("portLevelMtls").entries())
        mode = ports[SERVER_PORT].get("mode") if SERVER_PORT in ports else policy.spec.get("mtls", "mode")
        if mode.text() == "STRICT" and policy.namespace in spaces:
            finding = Finding(
                "istio-strict-mtls",
                f"{mode.path} is STRICT: endpoint pickers and Prometheus read `/metrics` without a certificate, so "
                "that pickers choose without load figures, and say nothing",
                allowed="PERMISSIVE, with an AuthorizationPolicy for the Gateway's principal",
                fix=f"set {mode.path.removeprefix('spec.')} to PERMISSIVE",
            )
            yield StackFinding(policy, finding)


def _sidecars(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    charts = [one for one in program.of(RELEASE) if (one.node.get("chart").text() or "").endswith("istiod")]
    without_cni = [one for one in charts if not _has_cni(one.node.get("values"))]
    servers = {one.namespace for one in program.of(LLM_SERVICE) if _is_injected(one.spec.get("labels"))}
    for space in program.of(NAMESPACE) if without_cni else ():
        labels = dict(space.node.get("metadata", "labels").entries())
        injected = space.name in servers or _is_injected(space.node.get("metadata", "labels"))
        level = labels.get("pod-security.kubernetes.io/enforce")
        if injected and level is not None and level.text() in ("baseline", "restricted"):
            problem = f"{space.name} enforces {level.text()}, and istio-init asks for NET_ADMIN: no pod is created"
            fix = "install istio-cni, and set cni.enabled in istiod's values"
            yield StackFinding(space, Finding("istio-sidecar-cni", problem, fix=fix))


def _is_injected(labels: Input) -> bool:
    return any(labels.get(key).text() == value for key, value in INJECTION.items())


def _has_cni(values: Input) -> bool:
    return any(values.get(*path, "enabled").boolean() is True for path in (("cni",), ("pilot", "cni")))


_EXTENSION = "https://gateway-api-inference-extension.sigs.k8s.io/guides/implementers/"
_ROUTES = (GATEWAY, GATEWAY_CLASS, *KINDS)

PICKER_TLS = Rule(
    name="istio-picker-tls",
    title="Istio's Gateways talk TLS to endpoint pickers",
    why="istiod configures plain HTTP/2 to the picker, which serves TLS: without a DestinationRule every completion is "
    "a 500, also with `failureMode: FailOpen`. Listing and health, which need no picker, go on to work.",
    sources=(upstream.inference_extension("config/charts/inferencepool/templates/istio.yaml"),),
    kinds=(*_ROUTES, DESTINATION_RULE),
    check_program=_picker_tls,
    severity="critical",
)

WEIGHTED = Rule(
    name="istio-weighted-pools",
    title="Istio's rules have one InferencePool",
    why="With several backends in a rule istiod keeps the endpoint picker of the last one: the pods of the others get "
    "requests in turn, without regard to their load; with a Service last, no picker is asked.",
    sources=("https://github.com/istio/istio/issues/61594", "https://github.com/istio/istio/pull/61601"),
    kinds=_ROUTES,
    check_program=_weighted,
    opt_out="With a release of Istio that has istio/istio#61601, make this rule advisory.",
)

TWO_CONTROLLERS = Rule(
    name="two-gateways-on-pool",
    title="An InferencePool is behind Gateways of one implementation",
    why="Each controller writes the pool's `status.parents` in its own order, whenever the other has written it; the "
    "endpoint picker and KServe react to every one of these writes.",
    sources=(_EXTENSION,),
    kinds=_ROUTES,
    check_program=_two_controllers,
    severity="medium",
)

STRICT = Rule(
    name="istio-strict-mtls",
    title="mTLS of model servers is not STRICT",
    why="The endpoint picker and Prometheus read the servers' metrics by pod address and without a client certificate. "
    "STRICT refuses them: completions are still answered, but the picker chooses blindly.",
    sources=("https://istio.io/latest/docs/reference/config/security/peer_authentication/",),
    kinds=(PEER_AUTHENTICATION, LLM_SERVICE, POOL),
    check_program=_strict,
)

SIDECARS = Rule(
    name="istio-sidecar-cni",
    title="Sidecars in a restricted namespace have istio-cni",
    why="Without istio-cni each pod has an init container with NET_ADMIN and NET_RAW. Pod Security rejects it, which "
    "is seen only at the ReplicaSet. Programs that do not install istiod are not checked.",
    sources=("https://istio.io/latest/docs/setup/additional-setup/cni/",),
    kinds=(NAMESPACE, LLM_SERVICE, RELEASE),
    check_program=_sidecars,
)
