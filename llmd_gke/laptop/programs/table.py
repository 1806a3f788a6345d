"""Every program: the module it comes from, how it is built, what building costs, and the official one that would do.

Costs were measured on 2 cores with Go 1.26.8 (`docs/laptop-programs.md`); they are first guesses and limits, and
wrong ones make only the time shown wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_gke.catalog import versions
from llmd_gke.laptop.builder.wrapper import Target, Wrapper

KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
KSERVE, LWS, CERT_MANAGER = "github.com/kserve/kserve", "sigs.k8s.io/lws", "github.com/cert-manager/cert-manager"
ENDPOINT_PICKER, SIMULATOR = "sigs.k8s.io/gateway-api-inference-extension", "github.com/llm-d/llm-d-inference-sim"
PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
PROVIDER_NAME = "pulumi-resource-kubernetes"


@dataclass(frozen=True)
class Official:
    """An official program of the same name that does instead: ``ask`` makes it print its version.

    It fits when its version begins like ours, up to ``parts`` numbers.
    """

    ask: tuple[str, ...]
    parts: int


@dataclass(frozen=True)
class Program:
    """One program, the wrapper it is built in, its version, and what may stand in for it."""

    target: Target
    wrapper: Wrapper
    version: str
    official: Official | None = None

    @property
    def name(self) -> str:
        """Its file name."""
        return self.target.name


def _wrapper(name: str, module: str, version: str, disk_mb: int, modules_mb: int, memory_mb: int) -> Wrapper:
    return Wrapper(name, (module, version), disk_mb=disk_mb, modules_mb=modules_mb, memory_mb=memory_mb)


def _kubernetes_stamps(version: str) -> dict[str, str]:
    """Both packages, or clients misread the version (kubernetes/kubernetes ``hack/lib/version.sh``)."""
    major, minor, _ = version.removeprefix("v").split(".")
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{variable}": value for package in packages for variable, value in values.items()}


def _kubernetes() -> list[Program]:
    version = versions.program(KUBERNETES)
    wrapper = _wrapper("kubernetes", KUBERNETES, version, disk_mb=3000, modules_mb=700, memory_mb=2000)
    ask = ("--version",)
    return [
        Program(
            Target(name, f"{KUBERNETES}/cmd/{name}", cpu_s, _kubernetes_stamps(version)),
            wrapper,
            version,
            # A kubectl one minor version away is supported, too, but then two things would differ from what was tested.
            Official(("version", "--client") if name == "kubectl" else ask, parts=2),
        )
        for name, cpu_s in (
            ("kube-apiserver", 480.0),
            ("kubectl", 60.0),
            ("kube-controller-manager", 110.0),
            ("kube-scheduler", 20.0),
        )
    ]


def _one(
    name: str,
    wrapper: Wrapper,
    package: str,
    cpu_s: float,
    stamps: Mapping[str, str] | None = None,
    official: Official | None = None,
) -> Program:
    return Program(Target(name, package, cpu_s, stamps or {}), wrapper, wrapper.pins[1], official)


def _etcd() -> Program:
    wrapper = _wrapper("etcd", ETCD, versions.program(ETCD), disk_mb=400, modules_mb=200, memory_mb=900)
    return _one("etcd", wrapper, ETCD, 60, official=Official(("--version",), parts=2))


def _simulator() -> Program:
    wrapper = _wrapper(
        "vllm-simulator", SIMULATOR, versions.program(SIMULATOR), disk_mb=2300, modules_mb=1000, memory_mb=1300
    )
    return _one("vllm-simulator", wrapper, f"{SIMULATOR}/cmd/llm-d-inference-sim", 260)


def _endpoint_picker() -> Program:
    version = versions.program(ENDPOINT_PICKER)
    wrapper = _wrapper("endpoint-picker", ENDPOINT_PICKER, version, disk_mb=2300, modules_mb=300, memory_mb=1200)
    stamps = {f"{ENDPOINT_PICKER}/version.BuildRef": version}
    return _one("endpoint-picker", wrapper, f"{ENDPOINT_PICKER}/cmd/epp", 160, stamps)


def _llmisvc() -> Program:
    wrapper = _wrapper("kserve", KSERVE, versions.program(KSERVE), disk_mb=3200, modules_mb=1500, memory_mb=1600)
    return _one("llmisvc-controller", wrapper, f"{KSERVE}/cmd/llmisvc", 300)


def _cert_manager() -> Program:
    version = versions.chart("cert-manager").version
    wrapper = _wrapper("cert-manager", CERT_MANAGER, version, disk_mb=2700, modules_mb=500, memory_mb=1300)
    return _one("cert-manager", wrapper, ".", 190, {f"{CERT_MANAGER}/pkg/util.AppVersion": version})


def _lws() -> Program:
    version = versions.program(LWS)
    wrapper = _wrapper("lws", LWS, version, disk_mb=2100, modules_mb=300, memory_mb=1100)
    return _one("lws-manager", wrapper, f"{LWS}/cmd", 170, {f"{LWS}/pkg/version.GitVersion": version})


def provider_files(module: Path) -> dict[str, str]:
    """What the provider's command embeds: its schema, with the version in it as upstream's build writes it."""
    folder, files = module / "cmd" / PROVIDER_NAME, dict[str, str]()
    for name in ("schema.json", "terraform-mapping.json"):
        content = json.loads((folder / name).read_text())
        if name == "schema.json":
            content["version"] = versions.program(PROVIDER_NAME)
        files[name] = json.dumps(content, separators=(",", ":"))
    return files


def _provider() -> Program:
    version = versions.program(PROVIDER_NAME)
    wrapper = Wrapper(
        "kubernetes-provider",
        (PROVIDER, versions.program(PROVIDER)),
        disk_mb=9000,
        modules_mb=1400,
        memory_mb=4400,  # one package of the SDK took 4.2 GB; not measured since it is not optimized any more
        tags="osusergo,grpcnotrace",
        files=provider_files,
        # The SDK, with types for every kind of every version: the provider needs a few of them, for its Helm and YAML
        # components.
        unoptimized="github.com/pulumi/pulumi-kubernetes/sdk/v4/...",
    )
    target = Target(PROVIDER_NAME, ".", 960, {f"{PROVIDER}/pkg/version.Version": version})
    return Program(target, wrapper, version)


PROGRAMS = (
    _etcd(),
    *_kubernetes(),
    _simulator(),
    _endpoint_picker(),
    _llmisvc(),
    _cert_manager(),
    _lws(),
    _provider(),
)
"""In the order of building: what others wait for comes first, the heaviest last."""

BY_NAME = {program.name: program for program in PROGRAMS}
