"""Every program: the module it comes from, how it is built, what building costs, and the official one that can replace
it.

Costs were measured on 2 cores with Go 1.26.8 (`docs/laptop-programs.md`); they are first estimates; wrong ones only
affect the displayed time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from localcloud.go_builds import keda, kubernetes_provider
from localcloud.go_builds.wrapper import BuildTarget, Wrapper
from localcloud.product import versions

KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
KSERVE, LWS, CERT_MANAGER = "github.com/kserve/kserve", "sigs.k8s.io/lws", "github.com/cert-manager/cert-manager"
ENDPOINT_PICKER, SIMULATOR = "sigs.k8s.io/gateway-api-inference-extension", "github.com/llm-d/llm-d-inference-sim"
PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
PROVIDER_NAME = "pulumi-resource-kubernetes"
PROMETHEUS, KUBE_STATE_METRICS = "github.com/prometheus/prometheus", "k8s.io/kube-state-metrics/v2"
ENVOY_GATEWAY, AI_GATEWAY = "github.com/envoyproxy/gateway", "github.com/envoyproxy/ai-gateway"
KEDA = "github.com/kedacore/keda/v2"
RATELIMIT = "github.com/envoyproxy/ratelimit"
CONFORMANCE = "sigs.k8s.io/gateway-api/conformance"
INFERENCE_CONFORMANCE = f"{ENDPOINT_PICKER}/conformance"
GOOGLE, GOOGLE_PROVIDER = "github.com/hashicorp/terraform-provider-google", "pulumi-resource-gcp"


@dataclass(frozen=True)
class Official:
    """An official program of the same name that can replace ours: ``ask`` are the arguments that print its version.

    It is suitable if the first ``parts`` numbers of its version equal ours.
    """

    ask: tuple[str, ...]
    parts: int


@dataclass(frozen=True)
class BuiltProgram:
    """One program, the wrapper it is built in, its version, and what may replace it. ``by_default``: every laptop cloud
    runs it. The others are built only on request.
    """

    target: BuildTarget
    wrapper: Wrapper
    version: str
    official: Official | None = None
    by_default: bool = True

    @property
    def name(self) -> str:
        """Its file name."""
        return self.target.name


def _kubernetes_stamps(version: str) -> dict[str, str]:
    """Linker flags with the version, for both packages that clients read (kubernetes/kubernetes
    ``hack/lib/version.sh``).
    """
    major, minor, _ = version.removeprefix("v").split(".")
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{variable}": value for package in packages for variable, value in values.items()}


def _etcd() -> BuiltProgram:
    version = versions.program(ETCD)
    wrapper = Wrapper("etcd", (ETCD, version), disk_mb=400, modules_mb=200, memory_mb=900)
    return BuiltProgram(BuildTarget("etcd", ETCD, cpu_seconds=100), wrapper, version, Official(("--version",), parts=2))


def _control_plane() -> list[BuiltProgram]:
    """Kubernetes, and the two operators that can be built with the libraries that it pins."""
    version = versions.program(KUBERNETES)
    wrapper = Wrapper("kubernetes", (KUBERNETES, version), disk_mb=6200, modules_mb=700, memory_mb=2000)
    return [*_kubernetes(wrapper, version), _cert_manager(wrapper), _lws(wrapper)]


def _kubernetes(wrapper: Wrapper, version: str) -> list[BuiltProgram]:
    ask, stamps = ("--version",), _kubernetes_stamps(version)
    return [
        BuiltProgram(
            BuildTarget(name, f"{KUBERNETES}/cmd/{name}", cpu_seconds, stamps),
            wrapper,
            version,
            # A kubectl that is one minor version away is also supported, but has not been tested with the rest.
            Official(("version", "--client") if name == "kubectl" else ask, parts=2),
        )
        for name, cpu_seconds in (
            ("kube-apiserver", 420.0),
            ("kubectl", 55.0),
            ("kube-controller-manager", 100.0),
            ("kube-scheduler", 10.0),
        )
    ]


def _cert_manager(wrapper: Wrapper) -> BuiltProgram:
    """cert-manager: one program that combines several of its commands, see
    ``gomod/kubernetes/cert-manager/main.go``.
    """
    version = versions.chart("cert-manager").version
    stamps = {f"{CERT_MANAGER}/pkg/util.AppVersion": version}
    return BuiltProgram(
        BuildTarget("cert-manager", f"{CERT_MANAGER}/llmd-gke/cert-manager", 50, stamps), wrapper, version
    )


def _lws(wrapper: Wrapper) -> BuiltProgram:
    version = versions.program(LWS)
    stamps = {f"{LWS}/pkg/version.GitVersion": version}
    return BuiltProgram(BuildTarget("lws-manager", f"{LWS}/cmd", 25, stamps), wrapper, version)


def _serving() -> list[BuiltProgram]:
    """KServe, and what it runs: all three can be built with the libraries that KServe pins."""
    kserve, picker, simulator = map(versions.program, (KSERVE, ENDPOINT_PICKER, SIMULATOR))
    wrapper = Wrapper("serving", (KSERVE, kserve), disk_mb=3800, modules_mb=2800, memory_mb=1600)
    stamps = {f"{ENDPOINT_PICKER}/version.BuildRef": picker}
    return [
        BuiltProgram(BuildTarget("llmisvc-controller", f"{KSERVE}/cmd/llmisvc", 290), wrapper, kserve),
        BuiltProgram(BuildTarget("endpoint-picker", f"{ENDPOINT_PICKER}/cmd/epp", 80, stamps), wrapper, picker),
        BuiltProgram(BuildTarget("vllm-simulator", f"{SIMULATOR}/cmd/llm-d-inference-sim", 100), wrapper, simulator),
    ]


def _counting_picker() -> BuiltProgram:
    """The endpoint picker with a counter that its detector can read: ``gomod/counting-picker/main.go``. For stacks that
    limit the requests in flight.
    """
    version = versions.program(ENDPOINT_PICKER)
    wrapper = Wrapper("counting-picker", (ENDPOINT_PICKER, version), disk_mb=1500, modules_mb=800, memory_mb=1300)
    stamps = {f"{ENDPOINT_PICKER}/version.BuildRef": version}
    return BuiltProgram(BuildTarget("counting-picker", ".", 200, stamps), wrapper, version, by_default=False)


def provider_files(module: Path) -> dict[str, str]:
    """Files that the provider's command embeds: its schema, with the version that upstream's build writes into it."""
    folder, files = module / "cmd" / PROVIDER_NAME, dict[str, str]()
    for name in ("schema.json", "terraform-mapping.json"):
        content = json.loads((folder / name).read_text())
        if name == "schema.json":
            content["version"] = versions.program(PROVIDER_NAME)
        files[name] = json.dumps(content, separators=(",", ":"))
    return files


def _provider() -> BuiltProgram:
    version = versions.program(PROVIDER_NAME)
    wrapper = Wrapper(
        "kubernetes-provider",
        (PROVIDER, versions.program(PROVIDER)),
        disk_mb=2600,
        modules_mb=800,
        memory_mb=1500,
        tags="osusergo,grpcnotrace",
        files=provider_files,
        changes=kubernetes_provider.WITHOUT_COMPONENTS,
    )
    target = BuildTarget(PROVIDER_NAME, ".", 310, {f"{PROVIDER}/pkg/version.Version": version})
    return BuiltProgram(target, wrapper, version)


def _google_provider() -> BuiltProgram:
    """Google's provider for Pulumi, built from a command of ours: ``gomod/google-provider/main.go``."""
    wrapper = Wrapper(
        "google-provider", (GOOGLE, versions.program(GOOGLE)), disk_mb=1100, modules_mb=1200, memory_mb=1900
    )
    version = versions.program(GOOGLE_PROVIDER)
    return BuiltProgram(BuildTarget(GOOGLE_PROVIDER, ".", 350, {"main.version": version}), wrapper, version)


def _monitoring() -> list[BuiltProgram]:
    """Prometheus, its tool, and kube-state-metrics: for laptop clouds that collect metrics, and for tests of rules."""
    prometheus, states = versions.program(PROMETHEUS), versions.program(KUBE_STATE_METRICS)
    wrapper = Wrapper(
        "monitoring",
        (PROMETHEUS, prometheus),
        disk_mb=1500,
        modules_mb=800,
        memory_mb=1200,
        # Target discovery in two dozen clouds, with the SDK of each: half of the build. Files remain, which we write.
        without=("plugins/plugins.go",),
    )
    common, release = "github.com/prometheus/common/version", prometheus_release(prometheus)
    variables = {f"{common}.Version": release}
    return [
        BuiltProgram(
            BuildTarget("promtool", f"{PROMETHEUS}/cmd/promtool", 190, variables), wrapper, prometheus, by_default=False
        ),
        BuiltProgram(
            BuildTarget("prometheus", f"{PROMETHEUS}/cmd/prometheus", 50, variables),
            wrapper,
            prometheus,
            by_default=False,
        ),
        BuiltProgram(
            BuildTarget("kube-state-metrics", KUBE_STATE_METRICS, 30, {f"{common}.Version": states}),
            wrapper,
            states,
            by_default=False,
        ),
    ]


def prometheus_release(module: str) -> str:
    """The release that corresponds to a version of Prometheus' Go module: v0.305.0 is 3.5.0 (prometheus
    ``RELEASE.md``).
    """
    minor, patch = module.removeprefix("v0.").split(".")
    return f"{int(minor[:-2])}.{int(minor[-2:])}.{patch}"


def _front_door() -> list[BuiltProgram]:
    """Envoy Gateway, Envoy AI Gateway and the limiter: for stacks that have a front door.

    The limiter has a wrapper of its own: it does not compile with the newer OpenTelemetry that AI Gateway requires.
    """
    gateway, ai_gateway, ratelimit = map(versions.program, (ENVOY_GATEWAY, AI_GATEWAY, RATELIMIT))
    wrapper = Wrapper("front-door", (ENVOY_GATEWAY, gateway), disk_mb=4200, modules_mb=2000, memory_mb=2000)
    limiter = Wrapper("ratelimit", (RATELIMIT, ratelimit), disk_mb=500, modules_mb=300, memory_mb=900)
    # Without it Envoy Gateway uses images of its development builds:
    # internal/infrastructure/kubernetes/proxy/resource.go.
    stamps = {f"{ENVOY_GATEWAY}/internal/cmd/version.envoyGatewayVersion": gateway}
    return [
        BuiltProgram(
            BuildTarget("ai-gateway-extproc", f"{AI_GATEWAY}/cmd/extproc", 190), wrapper, ai_gateway, by_default=False
        ),
        BuiltProgram(
            BuildTarget("ai-gateway-controller", f"{AI_GATEWAY}/cmd/controller", 145),
            wrapper,
            ai_gateway,
            by_default=False,
        ),
        BuiltProgram(
            BuildTarget("envoy-gateway", f"{ENVOY_GATEWAY}/cmd/envoy-gateway", 365, stamps),
            wrapper,
            gateway,
            by_default=False,
        ),
        BuiltProgram(
            BuildTarget("ratelimit", f"{RATELIMIT}/src/service_cmd", 90), limiter, ratelimit, by_default=False
        ),
    ]


def _autoscaling() -> list[BuiltProgram]:
    """KEDA: for stacks with a model whose replicas follow its load."""
    version = versions.program(KEDA)
    wrapper = Wrapper(
        "autoscaling",
        (KEDA, version),
        disk_mb=2500,
        modules_mb=1500,
        memory_mb=1600,
        changes=keda.FEWER_SCALERS,
    )
    stamps = {f"{KEDA}/version.Version": version.removeprefix("v")}
    return [
        BuiltProgram(BuildTarget(name, f"{KEDA}/cmd/{command}", seconds, stamps), wrapper, version, by_default=False)
        for name, command, seconds in (
            ("keda-operator", "operator", 400.0),
            ("keda-metrics-apiserver", "adapter", 60.0),
            ("keda-admission-webhooks", "webhooks", 20.0),
        )
    ]


def _conformance() -> list[BuiltProgram]:
    """The conformance tests of the Gateway API and of its inference extension, and the server behind their routes.

    Two wrappers: the inference extension's suite is written against an older one of the Gateway API.
    """
    gateway_api, inference = map(versions.program, ("sigs.k8s.io/gateway-api", ENDPOINT_PICKER))
    wrapper = Wrapper("conformance", (CONFORMANCE, gateway_api), disk_mb=600, modules_mb=300, memory_mb=900)
    own = Wrapper(
        "inference-conformance", (INFERENCE_CONFORMANCE, inference), disk_mb=600, modules_mb=300, memory_mb=900
    )
    return [
        BuiltProgram(
            BuildTarget("echo-basic", f"{CONFORMANCE}/echo-basic", 40), wrapper, gateway_api, by_default=False
        ),
        BuiltProgram(BuildTarget("gateway-conformance", ".", 70), wrapper, gateway_api, by_default=False),
        BuiltProgram(BuildTarget("inference-conformance", ".", 90), own, inference, by_default=False),
    ]


PROGRAMS = (
    _etcd(),
    *_control_plane(),
    *_serving(),
    _counting_picker(),
    _google_provider(),
    *_monitoring(),
    *_front_door(),
    *_autoscaling(),
    *_conformance(),
    _provider(),
)
"""All programs in the order in which they are built."""

BY_NAME = {program.name: program for program in PROGRAMS}
