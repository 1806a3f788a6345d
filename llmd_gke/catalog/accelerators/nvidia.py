"""NVIDIA GPUs on GKE: machine types, node labels, disks, quota names.

Sources, read 2026-11:

* https://cloud.google.com/compute/docs/accelerator-optimized-machines, https://cloud.google.com/compute/docs/gpus
  (machine types, GPUs that attach to N1, memory, disks)
* skypilot-org/skypilot-catalog ``catalogs/v8/gcp/vms.csv`` @006059e0 (zones, and list prices of L4, of 2026-08)
* Cyclenerd/google-cloud-pricing-cost-calculator ``pricing.yml`` @dac31281 of 2026-08-20, made from Google's billing
  catalog (prices of A100 and H100 hosts, with vCPUs, memory and local SSD, by GPU). Families without prices here have
  none in either table that agree with each other, or are sold with a reservation.
* https://cloud.google.com/kubernetes-engine/docs/how-to/gpus (drivers, taint, label)
* https://cloud.google.com/compute/resource-usage#gpu_quota (quotas; families since H100 share one with a dimension)
* https://docs.vllm.ai/en/v0.32.0/features/quantization/llm_compressor/fp8 (FP8 from compute capability 8.9 on; before,
  only weights, which the server widens), vllm ``vllm/v1/attention/backends`` (FlashAttention, FlashInfer: from 8.0 on)
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

_FAMILY_QUOTA = "GPUS_PER_GPU_FAMILY"
_DTYPES = ("bfloat16", "float16")


def _machines(*rows: tuple[str, int, int, int]) -> tuple[MachineType, ...]:
    return tuple(MachineType(*row) for row in rows)


def _zones(**letters: str) -> frozenset[str]:
    """Zones by region, whose hyphen is an underscore here, with their letters."""
    return frozenset(f"{region.replace('_', '-')}-{letter}" for region, each in letters.items() for letter in each)


def _with_gpus(machines: tuple[MachineType, ...]) -> dict[str, tuple[str, ...]]:
    return {machine.name: (str(machine.chips),) for machine in machines}


_N1 = tuple(MachineType(f"n1-standard-{vcpus}", 1, vcpus, vcpus * 15 // 4) for vcpus in (4, 8, 16, 32, 64, 96))
_G2 = _machines(
    *((f"g2-standard-{vcpus}", 1, vcpus, vcpus * 4) for vcpus in (4, 8, 12, 16, 32)),
    ("g2-standard-24", 2, 24, 96),
    ("g2-standard-48", 4, 48, 192),
    ("g2-standard-96", 8, 96, 384),
)
_A2 = _machines(*((f"a2-highgpu-{count}g", count, 12 * count, 85 * count) for count in (1, 2, 4, 8)))
_A2_ULTRA = _machines(*((f"a2-ultragpu-{count}g", count, 12 * count, 170 * count) for count in (1, 2, 4, 8)))
_A3 = _machines(*((f"a3-highgpu-{count}g", count, 26 * count, 234 * count) for count in (1, 2, 4, 8)))
_A3_ULTRA = _machines(("a3-ultragpu-8g", 8, 224, 2952))
_A4 = _machines(("a4-highgpu-8g", 8, 224, 3968))

FAMILIES: tuple[Family, ...] = (
    Family(
        name="T4",
        label_value="nvidia-tesla-t4",
        quota_family="NVIDIA_T4_GPUS",
        quota="NVIDIA_T4_GPUS",
        spot_quota="PREEMPTIBLE_NVIDIA_T4_GPUS",
        hbm_gb=16,
        machines=_N1,
        # Up to 48 vCPUs with 1 or 2, up to 96 with 4.
        topologies={one.name: ("4",) if one.vcpus > 48 else ("1", "2", "4") for one in _N1},
        boot_disks=(PD_BALANCED,),
        zones=_zones(
            asia_east1="ac", asia_east2="ac", asia_northeast1="ac", asia_northeast3="bc", asia_south1="ab",
            asia_southeast1="abc", asia_southeast2="ab", australia_southeast1="ac", europe_central2="bc",
            europe_west1="bcd", europe_west2="ab", europe_west3="b", europe_west4="abc", me_west1="bc",
            northamerica_northeast1="c", southamerica_east1="abc", us_central1="abcf", us_east1="bcd", us_east4="abc",
            us_west1="ab", us_west2="bc", us_west3="b", us_west4="ab",
        ),
        dtypes=("float16",),
        fp8=False,
        arguments=("--attention-backend", "TRITON_ATTN"),
    ),
    Family(
        name="L4",
        label_value="nvidia-l4",
        quota_family="NVIDIA_L4_GPUS",
        quota="NVIDIA_L4_GPUS",
        spot_quota="PREEMPTIBLE_NVIDIA_L4_GPUS",
        hbm_gb=24,
        machines=_G2,
        topologies=_with_gpus(_G2),
        boot_disks=(PD_BALANCED, HYPERDISK_BALANCED),
        zones=_zones(
            asia_east1="abc", asia_northeast1="abc", asia_northeast3="ab", asia_south1="abc", asia_southeast1="abc",
            europe_west1="bc", europe_west2="ab", europe_west3="ab", europe_west4="abc", europe_west6="bc",
            me_central2="ac", northamerica_northeast1="bc", northamerica_northeast2="ab", us_central1="abc",
            us_east1="bcd", us_east4="ac", us_west1="abc", us_west4="ac",
        ),
        prices=by_region(
            asia_east1=(0.6485, 0.2311), asia_northeast1=(0.7192, 0.3564), asia_southeast1=(0.6909, 0.2478),
            europe_west1=(0.6167, 0.2406), europe_west4=(0.588, 0.2438), us_central1=(0.56, 0.2231),
            us_east1=(0.56, 0.2231), us_east4=(0.5582, 0.2233), us_west1=(0.56, 0.2231),
        ),
        vcpu_prices=by_region(
            asia_east1=(0.04249, 0.01122), asia_northeast1=(0.04713, 0.02356), asia_southeast1=(0.04527, 0.01884),
            europe_west1=(0.04041, 0.01324), europe_west4=(0.03857, 0.01787), us_central1=(0.0367, 0.01468),
            us_east1=(0.0367, 0.01468), us_east4=(0.03658, 0.01463), us_west1=(0.0367, 0.01468),
        ),
        dtypes=_DTYPES,
    ),
    Family(
        name="A100-40GB",
        label_value="nvidia-tesla-a100",
        quota_family="NVIDIA_A100_GPUS",
        quota="NVIDIA_A100_GPUS",
        spot_quota="PREEMPTIBLE_NVIDIA_A100_GPUS",
        hbm_gb=40,
        machines=_A2,
        topologies=_with_gpus(_A2),
        boot_disks=(PD_BALANCED,),
        zones=_zones(
            asia_northeast1="ac", asia_northeast3="ab", asia_southeast1="abc", europe_west4="ab", me_west1="ac",
            us_central1="abcf", us_east1="b", us_west1="b", us_west3="b", us_west4="b",
        ),
        prices=by_region(
            asia_northeast1=(4.0496, 2.4297), asia_northeast3=(4.0496, 2.4297), asia_southeast1=(4.0138, 2.4083),
            europe_west4=(3.748, 2.2479), me_west1=(4.0407, 2.4244), us_central1=(3.6734, 2.1208),
            us_east1=(3.6734, 2.1208), us_west1=(3.6734, 2.1208), us_west3=(4.3251, 2.595), us_west4=(3.9344, 2.1032),
        ),
        dtypes=_DTYPES,
        fp8=False,
    ),
    Family(
        name="A100-80GB",
        label_value="nvidia-a100-80gb",
        quota_family="NVIDIA_A100_80GB_GPUS",
        quota="NVIDIA_A100_80GB_GPUS",
        spot_quota="PREEMPTIBLE_NVIDIA_A100_80GB_GPUS",
        hbm_gb=80,
        machines=_A2_ULTRA,
        topologies=_with_gpus(_A2_ULTRA),
        boot_disks=(PD_BALANCED,),
        zones=_zones(asia_southeast1="c", europe_west4="a", us_central1="ac", us_east4="c", us_east5="ab"),
        prices=by_region(
            asia_southeast1=(6.2477, 3.3652), europe_west4=(5.5809, 2.8949), us_central1=(5.0688, 2.9279),
            us_east4=(5.7077, 2.4472), us_east5=(5.5649, 1.909),
        ),
        dtypes=_DTYPES,
        fp8=False,
    ),
    Family(
        name="H100",
        label_value="nvidia-h100-80gb",
        quota_family="NVIDIA_H100",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_NVIDIA_H100_GPUS",
        hbm_gb=80,
        machines=_A3,
        topologies=_with_gpus(_A3),
        boot_disks=(PD_BALANCED, HYPERDISK_BALANCED),
        zones=_zones(
            asia_east1="c", asia_northeast1="b", asia_south1="c", asia_south2="b", asia_southeast1="bc",
            australia_southeast1="c", europe_north1="c", europe_west1="bc", europe_west3="c", europe_west4="bc",
            europe_west8="c", europe_west9="c", us_central1="abc", us_east4="abc", us_east5="a", us_west1="ab",
            us_west4="a",
        ),
        prices=by_region(
            asia_east1=(12.7948, 7.2722), asia_northeast1=(15.8304, 3.0724), asia_south1=(11.5168, 5.967),
            asia_south2=(13.2856, 3.8992), asia_southeast1=(14.2848, 8.5121), australia_southeast1=(13.8348, 3.4822),
            europe_north1=(12.1795, 1.1423), europe_west1=(12.1712, 5.7662), europe_west3=(13.0539, 6.1844),
            europe_west4=(14.0676, 6.6809), europe_west8=(12.8311, 2.0131), europe_west9=(12.8311, 2.9106),
            us_central1=(11.0612, 6.6367), us_east4=(11.0695, 5.4944), us_east5=(12.4479, 5.6407),
            us_west1=(11.0612, 6.6367), us_west4=(12.4561, 5.6453),
        ),
        dtypes=_DTYPES,
        gvnic=True,
    ),
    Family(
        name="H200",
        label_value="nvidia-h200-141gb",
        quota_family="NVIDIA_H200",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_NVIDIA_H200_GPUS",
        hbm_gb=141,
        machines=_A3_ULTRA,
        topologies=_with_gpus(_A3_ULTRA),
        boot_disks=(HYPERDISK_BALANCED,),
        zones=_zones(
            asia_south1="b", asia_south2="c", europe_west1="b", europe_west4="a", us_central1="b", us_east4="b",
            us_east5="a", us_south1="b", us_west1="c",
        ),
        dtypes=_DTYPES,
        gvnic=True,
    ),
    Family(
        name="B200",
        label_value="nvidia-b200",
        quota_family="NVIDIA_B200",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_NVIDIA_B200_GPUS",
        hbm_gb=180,
        machines=_A4,
        topologies=_with_gpus(_A4),
        boot_disks=(HYPERDISK_BALANCED,),
        zones=_zones(
            asia_northeast1="b", asia_southeast1="b", europe_north1="b", europe_west4="b", us_central1="b",
            us_east1="b", us_east4="b", us_south1="b", us_west2="c", us_west3="bc",
        ),
        dtypes=_DTYPES,
        gvnic=True,
    ),
)  # fmt: skip

NVIDIA = Accelerator(
    name="GPU",
    hardware="NVIDIA GPUs",
    resource="nvidia.com/gpu",
    families=FAMILIES,
    # N1 hosts have GPUs only where a node pool asks for them.
    machine_names=re.compile(r"a[2-4]-(high|mega|ultra|edge)gpu-|g[24]-standard-"),
    family_label="cloud.google.com/gke-accelerator",
    # GKE taints GPU nodes only where the cluster has other nodes at that time: the program writes the taint itself.
    writes_taint=True,
    # The server's CUDA needs a newer driver than GKE's default may be. Google's drivers are signed for secure boot.
    driver="LATEST",
    metrics=ChipMetrics(
        node="Hostname",
        utilization="DCGM_FI_DEV_GPU_UTIL",
        bandwidth="DCGM_FI_DEV_MEM_COPY_UTIL",
        memory_used="DCGM_FI_DEV_FB_USED",
        memory_total=("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"),
        source="https://cloud.google.com/kubernetes-engine/docs/how-to/dcgm-metrics",
        component="DCGM",
    ),
    image="vllm-openai",
    config_suffix="gpu",
    environment={},
    group_environment={},
    adapter_environment={},
    cache_variable="VLLM_CACHE_ROOT",
    owned_variables={"VLLM_CACHE_ROOT": "set compileCache"},
    platform_variables=re.compile(r"^(NVIDIA_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES)$"),
    foreign_variables=re.compile(r"^(TPU_|LIBTPU_|JAX_|PJRT_|SKIP_JAX_PRECOMPILE$|VLLM_XLA_)"),
    foreign_variables_are="is for TPUs",
    broken_values={},
    refused_arguments={
        "--prefix-cache-block-size": "vLLM has no such argument, and the server exits; use --block-size for KV pages",
        "--device": "vLLM has no such argument any more: the image determines it",
    },
    quantizations=frozenset(
        {
            "auto_awq", "awq", "awq_marlin", "bitsandbytes", "compressed-tensors", "fp8", "gguf", "gpt_oss_mxfp4",
            "gptq", "gptq_marlin", "modelopt", "modelopt_fp4", "moe_wna16", "mxfp4", "quark", "torchao",
        }
    ),
    kv_offload=("--kv-offloading-size", "GIB"),
    kv_connectors=frozenset(
        {"LMCacheConnectorV1", "MooncakeConnector", "MultiConnector", "NixlConnector", "OffloadingConnector"}
    ),
    minimum_startup_minutes=5,
    quota_dimensions={_FAMILY_QUOTA: "gpu_family"},
    global_quota="GPUS_ALL_REGIONS",
    documentation="https://cloud.google.com/kubernetes-engine/docs/concepts/gpus",
    pricing="https://cloud.google.com/compute/gpus-pricing",
)  # fmt: skip
