"""A namespace for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.core import v1 as core

from components.custom_resources import NAMESPACE_TIMES, network_policy
from llmd_gke.manifests import firewall, naming, pod_security
from llmd_gke.settings import ModelSettings


@dataclass(frozen=True)
class ModelNamespaceArgs:
    """``models`` are those of ``namespace``. If a model needs them, the secrets ``hfToken`` and ``pullSecret`` are
    read from the program's configuration.
    """

    namespace: str
    models: Sequence[ModelSettings]
    provider: k8s.Provider


class ModelNamespace(pulumi.ComponentResource):
    """``llmd-gke:models:ModelNamespace``: namespace, closed by default, with what its models share:
    Hugging Face token and pull secret.

    A component of its own, because several models may share a namespace.
    """

    def __init__(self, name: str, args: ModelNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:ModelNamespace", name, None, opts)
        namespace = core.Namespace(
            f"{name}-namespace",
            metadata={
                "name": args.namespace,
                # The server's image runs as root, without privileges: a level stricter than `baseline` would reject it.
                "labels": {naming.GATEWAY_ACCESS_LABEL: "true", **pod_security.labels(pod_security.level(args.models))},
            },
            opts=pulumi.ResourceOptions(parent=self, provider=args.provider, custom_timeouts=NAMESPACE_TIMES),
        )
        inside = pulumi.ResourceOptions(parent=self, provider=args.provider, depends_on=[namespace])
        network_policy(f"{name}-default-deny", firewall.default_deny(args.namespace), inside)
        if any(model.needs_token for model in args.models):
            core.Secret(
                f"{name}-hugging-face-token",
                metadata={"name": naming.TOKEN_SECRET, "namespace": args.namespace},
                string_data={"HF_TOKEN": pulumi.Config().require_secret("hfToken")},
                opts=inside,
            )
        if any(model.private_image for model in args.models):
            core.Secret(
                f"{name}-pull-secret",
                metadata={"name": naming.PULL_SECRET, "namespace": args.namespace},
                type="kubernetes.io/dockerconfigjson",
                string_data={".dockerconfigjson": pulumi.Config().require_secret("pullSecret")},
                opts=inside,
            )
        self.register_outputs({})
