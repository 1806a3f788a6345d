"""The preset for models that span hosts."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.kubernetes_objects import resource
from llmd_gke.manifests import multi_host


@dataclass(frozen=True, kw_only=True)
class WorkerPresetArgs:
    """``namespace`` has models on multi-host slices."""

    namespace: str
    provider: k8s.Provider


class WorkerPreset(pulumi.ComponentResource):
    """``llmd-gke:models:WorkerPreset``: the LLMInferenceServiceConfig for pipeline-parallel workers, which KServe
    refers to but does not include, in a namespace of models. It is created after KServe's CRDs and before the
    models.
    """

    def __init__(self, name: str, args: WorkerPresetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:WorkerPreset", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        resource(f"{name}-config", multi_host.preset(args.namespace), child)
        self.register_outputs({})
