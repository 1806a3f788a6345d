"""Every custom resource that the program emits: the shipped stacks, and settings that change what is emitted."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from llmd_gke.catalog import versions
from llmd_gke.graph.recording import load
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.components.conftest import WITHOUT_DOOR
from tests.schema import sources
from tests.schema.structural import Table, table

collect_ignore = [
    *([] if sources.GKE_FOLDER.is_dir() else ["test_gke_as_published.py"]),
    *([] if sources.GMP_FOLDER.is_dir() else ["test_pod_monitoring_as_published.py"]),
]
"""What compares with Google's own files, which no package registry has, is no test where they are not at hand."""

ROOT = Path(__file__).parents[2]
STACKS = sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))

QWEN: Table = {"name": "qwen", "uri": "hf://Qwen/Qwen2.5-3B-Instruct", "pool": "v6e4", "replicas": 3}
SCALING: Table = {
    **{key: value for key, value in QWEN.items() if key != "replicas"},
    "minReplicas": 1,
    "maxReplicas": 3,
    "maxNumSeqs": 128,
}
SCALED: dict[str, tuple[str, ...]] = {
    "autoscaled by KEDA": ("ScaledObject", "ClusterTriggerAuthentication"),
    "autoscaled by GKE": ("AutoscalingMetric",),
}
"""Variants with autoscaled models, and the kinds that scale them."""
CLUSTER: Table = {"name": "llmd-eu4a", "zone": "europe-west4-a"}
POOLS: list[Table] = [
    {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 8},
    {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 8},
]
CAPACITIES: list[Table] = [
    {"kind": "reservation", "reservation": {"name": "mine"}, "maxNodes": 2},
    {"kind": "on-demand"},
    {"kind": "spot"},
]
VARIANTS: dict[str, tuple[str, Table]] = {
    **{stack: (stack, {}) for stack in STACKS},
    "gated model": (
        "eu4a",
        {
            "llmd-gke:models": [{**QWEN, "uri": "hf://meta-llama/Llama-3.1-8B-Instruct"}],
            "llmd-gke:hfToken": "hf_a_token_of_tests",
        },
    ),
    "capacities in order": ("eu4a", {"llmd-gke:tpuPools": [{**POOLS[0], "diskGb": 150, "capacity": CAPACITIES}]}),
    "autoscaled by KEDA": ("eu4a", {"llmd-gke:models": [SCALING]}),
    "autoscaled by GKE": (
        "eu4a",
        {
            "llmd-gke:models": [SCALING],
            "llmd-gke:cluster": {**CLUSTER, "minVersion": versions.gke_autoscaling_metric()},
        },
    ),
    "model at the root": ("eu4a", {"llmd-gke:models": [{**QWEN, "atRoot": True}]}),
    "internal gateway": ("eu4a", {"llmd-gke:gateway": {"exposure": "internal"}}),
    "several models": (
        "eu4a",
        {
            "llmd-gke:tpuPools": POOLS,
            "llmd-gke:models": [
                QWEN,
                {"name": "small", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "namespace": "others"},
                {"name": "third", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "atRoot": True, "replicas": 2},
            ],
        },
    ),
    "every model setting": (
        "eu4a",
        {
            "llmd-gke:models": [
                {
                    **QWEN,
                    "name": "q" * 38,
                    "servedModelName": "Qwen/Qwen2.5-3B-Instruct",
                    "tensorParallel": 4,
                    "prefixCaching": False,
                    "maxModelLen": 4096,
                    "maxNumSeqs": 64,
                    "maxNumBatchedTokens": 8192,
                    "dtype": "bfloat16",
                    "extraArgs": ["--seed", "7"],
                    "startupMinutes": 180,
                    "requestTimeoutSeconds": 86400,
                }
            ]
        },
    ),
    "HTTPS by certificate, with everything": (
        "eu4a",
        {
            "llmd-gke:gateway": {
                "exposure": "external",
                "open": True,
                "tls": {"certificateManager": ["llm", "llm-old"]},
                "domain": "llm.example.com",
                "redirectHttp": True,
                "dnsZone": "example-com",
            }
        },
    ),
    "internal HTTPS by Secret, for all regions": (
        "eu4a",
        {
            "llmd-gke:gateway": {"tls": {"fromConfig": True}, "allowGlobalAccess": True},
            "llmd-gke:tlsCertificate": "PEM of tests",
            "llmd-gke:tlsKey": "PEM of tests",
        },
    ),
    "weights and compile cache in buckets": (
        "eu4a",
        {
            "llmd-gke:storage": {"buckets": ["my-cache"]},
            "llmd-gke:models": [{**QWEN, "uri": "gs://my-weights/qwen/v1", "compileCache": "gs://my-cache"}],
        },
    ),
    "weights on a claim, private image, stopped": (
        "eu4a",
        {
            "llmd-gke:models": [
                {**QWEN, "uri": "pvc://weights/qwen"},
                {**QWEN, "name": "asleep", "stopped": True, "privateImage": True, "replicas": 1},
            ],
            "llmd-gke:tpuPools": POOLS,
            "llmd-gke:pullSecret": "{}",
        },
    ),
    "every scheduler setting": (
        "eu4a",
        {
            "llmd-gke:models": [
                {
                    **QWEN,
                    "warmUp": False,
                    "drainSeconds": 600,
                    "scheduler": {
                        "plugins": [
                            {"type": "queue-scorer", "weight": 1},
                            {"type": "prefix-cache-scorer", "weight": 5, "parameters": {"lruCapacityPerServer": 1000}},
                            {"type": "weighted-random-picker"},
                        ]
                    },
                }
            ]
        },
    ),
    "downloads by name": (
        "eu4a",
        {"llmd-gke:network": {"egress": {"mode": "names", "names": ["*.example.com", "mirror.example.org"]}}},
    ),
    "downloads through a proxy": (
        "eu4a",
        {"llmd-gke:network": {"egress": {"mode": "proxy", "proxy": "http://10.1.2.3:3128", "noProxy": [".corp"]}}},
    ),
    "models across hosts": (
        "eu4a",
        {
            "llmd-gke:tpuPools": [
                {"name": name, "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4, "diskGb": 200}
                for name in ("first", "second")
            ],
            "llmd-gke:models": [
                {"name": "big", "uri": "hf://Qwen/Qwen3-32B", "pool": "first", "experimentalMultiHost": True},
                {
                    "name": "b" * 38,
                    "uri": "gs://my-weights/big",
                    "pool": "second",
                    "experimentalMultiHost": True,
                    "pipelineParallel": 4,
                },
            ],
        },
    ),
    "front door by tokens, with everything": (
        "eu4a",
        {
            "llmd-gke:tpuPools": POOLS,
            "llmd-gke:models": [
                {**QWEN, "extraArgs": ["--enable-lora", "--lora-modules", "sql=/adapters/sql"]},
                {"name": "small", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "namespace": "others"},
            ],
            "llmd-gke:frontDoor": {
                "replicas": 1,
                "redis": "10.1.2.3:6379",
                "whenLimiterIsAway": "refuse",
                "keepPaths": True,
                "identity": {
                    "issuer": "https://accounts.example.com",
                    "audiences": ["llm"],
                    "callerClaim": "team",
                    "jwksUri": "https://accounts.example.com/keys",
                },
                "callers": [
                    {"name": "team-a", "priority": 10, "requestsPerMinute": 600, "tokensPerMonth": 4294967295},
                    {"name": "batch", "priority": -10, "tokensPerDay": 1, "models": ["qwen"]},
                ],
            },
        },
    ),
    "zonal cluster with an IP endpoint": (
        "eu4a",
        {
            "llmd-gke:cluster": {
                **CLUSTER,
                "controlPlane": "zonal",
                "endpoint": "ip",
                "authorizedNetworks": {"office": "203.0.113.0/24"},
            }
        },
    ),
}


@pytest.fixture(scope="session", autouse=True)
def rehearsal() -> Iterator[None]:
    """Stacks of the project `rehearsal` are refused outside of the stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        yield


@cache
def emitted_by(variant: str) -> list[Table]:
    """Every Kubernetes object of a variant; shared, so not to be changed."""
    stack, changes = VARIANTS[variant]
    # A variant changes a stack without a front door, unless it brings one.
    graph = load(ROOT, stack, preview=False, changes={**WITHOUT_DOOR.get(stack, {}), **changes} if changes else None)
    nodes = [node for node in graph.nodes.values() if node.custom and node.type.startswith("kubernetes:")]
    return [table(whole(node.inputs)) for node in nodes if "apiVersion" in node.inputs and "chart" not in node.inputs]


def whole(value: object) -> object:
    """The value with whole numbers as such: JSON on the wire has one kind of number."""
    if isinstance(value, dict):
        return {key: whole(entry) for key, entry in cast("Table", value).items()}
    if isinstance(value, list):
        return [whole(entry) for entry in cast("list[object]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.fixture(params=VARIANTS)
def emitted(request: pytest.FixtureRequest) -> list[Table]:
    """Every Kubernetes object of a variant, as it goes over the wire."""
    return copy.deepcopy(emitted_by(request.param))


@pytest.fixture
def one() -> dict[str, Table]:
    """One object of each kind, of stack `local`, to break."""
    return {str(thing["kind"]): copy.deepcopy(thing) for thing in emitted_by("local")}
