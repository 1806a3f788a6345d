"""Every program: the module it comes from, how it is built, and the official plugin that can replace it."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from localcloud.go_builds import google_provider, keda, kubernetes_provider
from localcloud.go_builds.wrapper import PULUMIS_TAGS, BuiltProgram, ModuleChanges, Wrapper
from localcloud.product import versions

KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
KSERVE, LWS, CERT_MANAGER = "github.com/kserve/kserve", "sigs.k8s.io/lws", "github.com/cert-manager/cert-manager"
ENDPOINT_PICKER, SIMULATOR = "sigs.k8s.io/gateway-api-inference-extension", "github.com/llm-d/llm-d-inference-sim"
PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
PROVIDER_NAME = "pulumi-resource-kubernetes"
PROMETHEUS, KUBE_STATE_METRICS = "github.com/prometheus/prometheus", "k8s.io/kube-state-metrics/v2"
ENVOY_GATEWAY, AI_GATEWAY = "github.com/envoyproxy/gateway", "github.com/envoyproxy/ai-gateway"
KEDA, ISTIO = "github.com/kedacore/keda/v2", "istio.io/istio"
RATELIMIT = "github.com/envoyproxy/ratelimit"
CONFORMANCE = "sigs.k8s.io/gateway-api/conformance"
INFERENCE_CONFORMANCE = f"{ENDPOINT_PICKER}/conformance"
GOOGLE, GOOGLE_PROVIDER = "github.com/hashicorp/terraform-provider-google", "pulumi-resource-gcp"


def provider_files(module: Path) -> dict[str, str]:
    """Files that the provider's command embeds: its schema, with the version that upstream's build writes into it."""
    folder, files = module / "cmd" / PROVIDER_NAME, dict[str, str]()
    for name in ("schema.json", "terraform-mapping.json"):
        content = json.loads((folder / name).read_text())
        if name == "schema.json":
            content["version"] = versions.program(PROVIDER_NAME)
        files[name] = json.dumps(content, separators=(",", ":"))
    return files


def prometheus_release(module: str) -> str:
    """The release that corresponds to a version of Prometheus' Go module: v0.305.0 is 3.5.0 (prometheus
    ``RELEASE.md``).
    """
    minor, patch = module.removeprefix("v0.").split(".")
    return f"{int(minor[:-2])}.{int(minor[-2:])}.{patch}"


def _wrapper(name: str, module: str, tags: str = "", changes: ModuleChanges | None = None) -> Wrapper:
    return Wrapper(name, (module, versions.program(module)), tags, changes=changes)


def _plugin(plugin: str, size: str = "") -> str:
    command = f"pulumi plugin install resource {plugin} {metadata.version(f'pulumi-{plugin}')}"
    return f"install the official plugin{size}: {command}"


def _etcd() -> BuiltProgram:
    return BuiltProgram("etcd", ETCD, _wrapper("etcd", ETCD), versions.program(ETCD))


def _control_plane() -> list[BuiltProgram]:
    """Kubernetes, and the two operators that can be built with the libraries that it pins."""
    wrapper, version = _wrapper("kubernetes", KUBERNETES), versions.program(KUBERNETES)
    cert_manager, lws = versions.chart("cert-manager").version, versions.program(LWS)
    major, minor, _ = version.removeprefix("v").split(".")
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    # Clients read both (kubernetes/kubernetes `hack/lib/version.sh`).
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    kubernetes = [
        BuiltProgram(
            name,
            f"{KUBERNETES}/cmd/{name}",
            wrapper,
            version,
            {f"{package}.{variable}": value for package in packages for variable, value in values.items()},
        )
        for name in ("kube-apiserver", "kubectl", "kube-controller-manager", "kube-scheduler")
    ]
    return [
        *kubernetes,
        # Several of its commands in one program: `gomod/kubernetes/cert-manager/main.go`.
        BuiltProgram(
            "cert-manager",
            "./cert-manager",
            wrapper,
            cert_manager,
            {f"{CERT_MANAGER}/pkg/util.AppVersion": cert_manager},
        ),
        BuiltProgram("lws-manager", f"{LWS}/cmd", wrapper, lws, {f"{LWS}/pkg/version.GitVersion": lws}),
    ]


def _serving() -> list[BuiltProgram]:
    """KServe, and what it runs: all three can be built with the libraries that KServe pins.

    The endpoint picker again with a counter that its detector can read (``gomod/counting-picker/main.go``), for stacks
    that limit the requests in flight.
    """
    wrapper = _wrapper("serving", KSERVE)
    kserve, picker, simulator = map(versions.program, (KSERVE, ENDPOINT_PICKER, SIMULATOR))
    stamps, counting = {f"{ENDPOINT_PICKER}/version.BuildRef": picker}, _wrapper("counting-picker", ENDPOINT_PICKER)
    return [
        BuiltProgram("llmisvc-controller", f"{KSERVE}/cmd/llmisvc", wrapper, kserve),
        BuiltProgram("endpoint-picker", f"{ENDPOINT_PICKER}/cmd/epp", wrapper, picker, stamps),
        BuiltProgram("vllm-simulator", f"{SIMULATOR}/cmd/llm-d-inference-sim", wrapper, simulator),
        BuiltProgram("counting-picker", ".", counting, picker, stamps, by_default=False),
    ]


def _kubernetes_provider() -> BuiltProgram:
    wrapper = Wrapper(
        "kubernetes-provider",
        (PROVIDER, versions.program(PROVIDER)),
        PULUMIS_TAGS,
        files=provider_files,
        changes=kubernetes_provider.WITHOUT_COMPONENTS,
    )
    version = versions.program(PROVIDER_NAME)
    return BuiltProgram(
        PROVIDER_NAME,
        ".",
        wrapper,
        version,
        {f"{PROVIDER}/pkg/version.Version": version},
        plugin="kubernetes",
        instead=_plugin("kubernetes"),
    )


def _google_provider() -> BuiltProgram:
    """Google's provider for Pulumi, built from a command of ours: ``gomod/google-provider/main.go``."""
    version = versions.program(GOOGLE_PROVIDER)
    wrapper = _wrapper("google-provider", GOOGLE, PULUMIS_TAGS, google_provider.ADAPTED)
    return BuiltProgram(
        GOOGLE_PROVIDER,
        ".",
        wrapper,
        version,
        {"main.version": version},
        ask=("-version",),
        plugin="gcp",
        # 48 MB are version 6.52 of 2023, the newest whose size is known.
        instead=_plugin("gcp", " (more than 48 MB)"),
        size="270 MB of modules to download, 2 GB of disk until it is built, 63 MB after that",
    )


def _monitoring() -> list[BuiltProgram]:
    """Prometheus, its tool, and kube-state-metrics: for laptop clouds that collect metrics, and for tests of rules."""
    # Target discovery in two dozen clouds, with the SDK of each: half of the build. Files remain, which we write.
    discovery = "plugins/plugins.go"
    wrapper = _wrapper("monitoring", PROMETHEUS, changes=ModuleChanges(lambda _: {discovery: None}, discovery))
    prometheus, states = versions.program(PROMETHEUS), versions.program(KUBE_STATE_METRICS)
    stamp = "github.com/prometheus/common/version.Version"
    stamps = {stamp: prometheus_release(prometheus)}
    return [
        BuiltProgram("promtool", f"{PROMETHEUS}/cmd/promtool", wrapper, prometheus, stamps, by_default=False),
        BuiltProgram("prometheus", f"{PROMETHEUS}/cmd/prometheus", wrapper, prometheus, stamps, by_default=False),
        BuiltProgram("kube-state-metrics", KUBE_STATE_METRICS, wrapper, states, {stamp: states}, by_default=False),
    ]


def _front_door() -> list[BuiltProgram]:
    """Envoy Gateway, Envoy AI Gateway and the limiter: for stacks that have a front door.

    The limiter has a wrapper of its own: it does not compile with the newer OpenTelemetry that AI Gateway requires.
    """
    gateway, ai_gateway, ratelimit = map(versions.program, (ENVOY_GATEWAY, AI_GATEWAY, RATELIMIT))
    wrapper, limiter = _wrapper("front-door", ENVOY_GATEWAY), _wrapper("ratelimit", RATELIMIT)
    # Without it Envoy Gateway uses images of its development builds:
    # internal/infrastructure/kubernetes/proxy/resource.go.
    stamps = {f"{ENVOY_GATEWAY}/internal/cmd/version.envoyGatewayVersion": gateway}
    return [
        BuiltProgram("ai-gateway-extproc", f"{AI_GATEWAY}/cmd/extproc", wrapper, ai_gateway, by_default=False),
        BuiltProgram("ai-gateway-controller", f"{AI_GATEWAY}/cmd/controller", wrapper, ai_gateway, by_default=False),
        BuiltProgram("envoy-gateway", f"{ENVOY_GATEWAY}/cmd/envoy-gateway", wrapper, gateway, stamps, by_default=False),
        BuiltProgram("ratelimit", f"{RATELIMIT}/src/service_cmd", limiter, ratelimit, by_default=False),
    ]


def _istio() -> list[BuiltProgram]:
    """Istio's control plane, and the agent beside each of its Envoys: for stacks whose Gateway is Istio's."""
    # Tags of Istio's own build (its `Makefile.core.mk`) that both programs have in common, and that save code.
    wrapper, version = _wrapper("istio", ISTIO, "disable_pgv,grpcnotrace"), versions.chart("istiod").version
    stamps = {f"{ISTIO}/pkg/version.buildVersion": version}
    return [
        BuiltProgram(name, f"{ISTIO}/pilot/cmd/{name}", wrapper, version, stamps, by_default=False)
        for name in ("pilot-discovery", "pilot-agent")
    ]


def _autoscaling() -> list[BuiltProgram]:
    """KEDA: for stacks with a model whose replicas follow its load."""
    wrapper, version = _wrapper("autoscaling", KEDA, changes=keda.FEWER_SCALERS), versions.program(KEDA)
    stamps = {f"{KEDA}/version.Version": version.removeprefix("v")}
    commands = {
        "keda-operator": "operator",
        "keda-metrics-apiserver": "adapter",
        "keda-admission-webhooks": "webhooks",
    }
    return [
        BuiltProgram(name, f"{KEDA}/cmd/{command}", wrapper, version, stamps, by_default=False)
        for name, command in commands.items()
    ]


def _conformance() -> list[BuiltProgram]:
    """The conformance tests of the Gateway API and of its inference extension, and the server behind their routes.

    Two wrappers: the inference extension's suite is written against an older one of the Gateway API.
    """
    gateway_api, inference = map(versions.program, ("sigs.k8s.io/gateway-api", ENDPOINT_PICKER))
    wrapper = Wrapper("conformance", (CONFORMANCE, gateway_api))
    own = Wrapper("inference-conformance", (INFERENCE_CONFORMANCE, inference))
    return [
        BuiltProgram("echo-basic", f"{CONFORMANCE}/echo-basic", wrapper, gateway_api, by_default=False),
        BuiltProgram("gateway-conformance", ".", wrapper, gateway_api, by_default=False),
        BuiltProgram("inference-conformance", ".", own, inference, by_default=False),
    ]


PROGRAMS = (
    _etcd(),
    *_control_plane(),
    *_serving(),
    _google_provider(),
    *_monitoring(),
    *_front_door(),
    *_istio(),
    *_autoscaling(),
    *_conformance(),
    _kubernetes_provider(),
)
"""All programs in the order in which they are built."""

BY_NAME = {program.name: program for program in PROGRAMS}
