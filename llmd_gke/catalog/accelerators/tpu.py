"""TPU families on GKE: machine types, slices, node labels, disks, quota names.

State of the facts: 2026-08-22. Sources:

* https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus (machine types, zones, topologies)
* https://github.com/AI-Hypercomputer/xpk ``src/xpk/core/system_characteristics.py`` @367c8382 (topologies, hosts)
* https://github.com/GoogleCloudPlatform/cluster-toolkit ``pkg/config/hardware.go`` @10470803 (2-D topologies)
* https://github.com/vllm-project/tpu-inference ``tpu_inference/platforms/tpu_platform.py`` @b8692ff01 (arguments,
  quantization methods), ``tpu_inference/envs.py`` (variables), ``tpu_inference/utils.py`` ``get_device_hbm_limit``
  (devices of a chip: a tpu7x device has half of the chip's memory, a v4, v5p or v6e device all of it: megacore)
* https://github.com/AI-Hypercomputer/tpu-recipes ``inference/ironwood/vLLM`` @c8cfe2f (parallelism on tpu7x)
* skypilot-org/skypilot-catalog ``catalogs/v8/gcp/vms.csv`` @006059e0 (list prices of 2026-08)

Three vocabularies exist for the same hardware and must not be mixed (they broke more than one tool, see
skypilot-org/skypilot#5024): the Cloud TPU API says ``v6e-4``, GKE's node label ``tpu-v6e-slice``, quota ``CT6E``.
"""

from __future__ import annotations

import re

from llmd_gke.catalog.accelerators.accelerator import (
    HYPERDISK_BALANCED,
    PD_BALANCED,
    Accelerator,
    ChipMetrics,
    Family,
    MachineType,
    by_region,
)

_FLAT_MULTI_HOST = ("2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_CUBES = (
    "2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x12", "8x8x16", "8x16x16",
    "16x16x16",
)  # fmt: skip
_FAMILY_QUOTA = "TPUS_PER_TPU_FAMILY"

FAMILIES: tuple[Family, ...] = (
    Family(
        name="v4",
        label_value="tpu-v4-podslice",
        quota_family="CT4P",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_PODSLICE_V4",
        dimensions=3,
        hbm_gb=32,
        machines=(MachineType("ct4p-hightpu-4t", 4, 240, 407),),
        topologies={"ct4p-hightpu-4t": _CUBES},
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"us-central2-b"}),
    ),
    Family(
        name="v5e",
        label_value="tpu-v5-lite-podslice",
        quota_family="CT5LP",
        quota="TPU_LITE_PODSLICE_V5",
        spot_quota="PREEMPTIBLE_TPU_LITE_PODSLICE_V5",
        dimensions=2,
        hbm_gb=16,
        machines=(
            MachineType("ct5lp-hightpu-1t", 1, 24, 48),
            MachineType("ct5lp-hightpu-4t", 4, 112, 192),
            MachineType("ct5lp-hightpu-8t", 8, 224, 384),
        ),
        topologies={
            "ct5lp-hightpu-1t": ("1x1",),
            "ct5lp-hightpu-4t": ("2x2", *_FLAT_MULTI_HOST),
            "ct5lp-hightpu-8t": ("2x4",),
        },
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"europe-west4-b", "us-central1-a", "us-south1-a", "us-west1-c", "us-west4-a"}),
        flex_start_zones=frozenset({"us-west4-a"}),
    ),
    Family(
        name="v5p",
        label_value="tpu-v5p-slice",
        quota_family="CT5P",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_PODSLICE_V5P",
        dimensions=3,
        hbm_gb=95,
        machines=(MachineType("ct5p-hightpu-4t", 4, 208, 448),),
        topologies={"ct5p-hightpu-4t": _CUBES},
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"europe-west4-b", "us-central1-a", "us-east5-a"}),
        flex_start_zones=frozenset({"us-east5-a"}),
    ),
    Family(
        name="v6e",
        label_value="tpu-v6e-slice",
        quota_family="CT6E",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_V6E",
        dimensions=2,
        hbm_gb=32,
        machines=(
            # RAM of 1t: 176 GB, seen on a machine (2026-10); the table of plan-tpus says 448.
            MachineType("ct6e-standard-1t", 1, 44, 176),
            MachineType("ct6e-standard-4t", 4, 180, 720),
            MachineType("ct6e-standard-8t", 8, 180, 1440),
        ),
        topologies={
            "ct6e-standard-1t": ("1x1",),
            "ct6e-standard-4t": ("2x2", *_FLAT_MULTI_HOST),
            "ct6e-standard-8t": ("2x4",),
        },
        # The default pd-balanced does not attach to v6e.
        boot_disks=(HYPERDISK_BALANCED,),
        zones=frozenset(
            {
                "asia-northeast1-b",
                "europe-west4-a",
                "southamerica-west1-a",
                "us-central1-b",
                "us-east1-d",
                "us-east5-a",
                "us-east5-b",
                "us-south1-ai1b",
            }
        ),
        # europe-west4-a has neither flex-start nor calendar.
        flex_start_zones=frozenset({"asia-northeast1-b", "us-east5-a", "us-east5-b"}),
        prices=by_region(
            us_central1=(2.70, 0.544), us_east1=(2.70, 0.544), us_west1=(2.70, 0.544), us_east5=(2.70, 1.215),
            us_south1=(2.70, 1.35), europe_west4=(2.97, 1.037), asia_southeast1=(2.97, 0.363),
            asia_northeast1=(3.24, 0.944), asia_south1=(3.24, 2.27), southamerica_west1=(2.70, None),
        ),
        minimum_gke="1.31.2-gke.1115000",
    ),
    Family(
        name="tpu7x",
        label_value="tpu7x",
        quota_family="TPU7X",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_7X",
        dimensions=3,
        hbm_gb=192,
        machines=(MachineType("tpu7x-standard-1t", 1, 56, 240), MachineType("tpu7x-standard-4t", 4, 224, 960)),
        topologies={"tpu7x-standard-1t": ("1x1x1",), "tpu7x-standard-4t": _CUBES},
        boot_disks=(HYPERDISK_BALANCED,),
        zones=frozenset({"us-central1-ai1a", "us-central1-c"}),
        flex_start_zones=frozenset({"us-central1-c"}),
        minimum_gke="1.34.1-gke.2541000",
        # "Creation of a managed instance group with tpu7x-standard-4t machine type with placement policy is not
        # supported. Use workload policy instead." (vllm-project/ci-infra#547)
        workload_policy=True,
        devices_per_chip=2,
        # https://docs.cloud.google.com/kubernetes-engine/docs/concepts/tpu-ironwood (NUMA binding)
        numa_nodes=2,
        # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/use-gke-dynamic-slicing
        slice_annotation="cloud.google.com/gke-tpu-slice-topology",
    ),
)  # fmt: skip

TPU = Accelerator(
    name="TPU",
    resource="google.com/tpu",
    families=FAMILIES,
    machine_names=re.compile(r"ct\d|tpu"),
    family_label="cloud.google.com/gke-tpu-accelerator",
    topology_label="cloud.google.com/gke-tpu-topology",
    count_label="cloud.google.com/gke-accelerator-count",
    metrics=ChipMetrics(
        node="node_name",
        utilization="kubernetes_io:node_accelerator_tensorcore_utilization",
        bandwidth="kubernetes_io:node_accelerator_memory_bandwidth_utilization",
        memory_used="kubernetes_io:node_accelerator_memory_used",
        memory_total=("kubernetes_io:node_accelerator_memory_total",),
        source="https://github.com/GoogleCloudPlatform/monitoring-dashboard-samples/tree/25d8c3e8/alerts/google-gke",
    ),
    # "Port to export TPU runtime metrics" (https://cloud.google.com/kubernetes-engine/docs/how-to/tpus#runtime-metrics).
    memory_port=8431,
    transparent_hugepages=True,
    tests_models=True,
    image="vllm-tpu",
    config_suffix="tpu",
    # The server compiles before it accepts requests; without this, the first requests would wait for compilation.
    environment={"SKIP_JAX_PRECOMPILE": "0"},
    group_environment={"TPU_MULTIHOST_BACKEND": "ray"},
    # The JAX implementation, which is the default of most models, has no manager of adapters (tpu_inference
    # ``models/common/model_loader.py``; its suite ``.buildkite/features/LoRA_Torch.yml`` sets the same).
    adapter_environment={"MODEL_IMPL_TYPE": "vllm"},
    cache_variable="VLLM_XLA_CACHE_PATH",
    owned_variables={
        "SKIP_JAX_PRECOMPILE": "the server must compile before it accepts requests",
        "VLLM_XLA_CACHE_PATH": "set compileCache",
        "TPU_MULTIHOST_BACKEND": "set experimentalMultiHost",
        "TPU_OFFLOAD_NUM_CPU_CHUNKS": "set kvOffloadBlocks",
    },
    platform_variables=re.compile(
        r"^TPU_(WORKER_|CHIPS_PER_HOST_BOUNDS$|HOST_BOUNDS$|NAME$|ACCELERATOR_TYPE$|PROCESS_)"
    ),
    foreign_variables=re.compile(r"^(CUDA_|NVIDIA_|NCCL_|PJRT_DEVICE$|VLLM_ATTENTION_BACKEND$)"),
    foreign_variables_are="is for GPUs, or is no longer read",
    broken_values={("JAX_PLATFORMS", "tpu"): "tpu,cpu"},
    refused_arguments={
        "--prefix-cache-block-size": "vLLM has no such argument, and the server exits; use --block-size for KV pages",
        "--cpu-offload-gb": "offloading to the CPU is a GPU feature",
        "--swap-space": "swapping is a GPU feature",
        "--distributed-executor-backend": "the TPU backend chooses it and overrides this value",
        "--device": "the TPU image runs only on TPU",
    },
    quantizations=frozenset(
        {"compressed-tensors", "auto_awq", "fp8", "gpt_oss_mxfp4", "modelopt_fp4", "deepseek_v4_fp8"}
    ),
    kv_offload=(
        "--kv-transfer-config",
        '{"kv_connector":"TPUOffloadConnector","kv_role":"kv_both",'
        '"kv_connector_module_path":"tpu_inference.offload.tpu_offload_connector"}',
    ),
    kv_offload_blocks="TPU_OFFLOAD_NUM_CPU_CHUNKS",
    kv_connectors=frozenset({"TPUConnector", "TPUConnectorHMA", "TPUOffloadConnector", "RaidenOffloadConnector"}),
    minimum_startup_minutes=15,
    quota_dimensions={_FAMILY_QUOTA: "tpu_family"},
    documentation="https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus",
    pricing="https://cloud.google.com/tpu/pricing",
)
