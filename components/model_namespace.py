"""A namespace for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.core import v1 as core

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.custom_resources import NAMESPACE_TIMES, network_policy
from llmd_gke.manifests import firewall, naming, pod_security
from llmd_gke.settings import ModelSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ModelNamespaceArgs:
    """``models`` are those of ``namespace``. ``token``: of Hugging Face, for weights that require an accepted licence;
    ``pull_secret``: a ``.dockerconfigjson``, for private images.
    """

    namespace: str
    models: Sequence[ModelSettings]
    provider: k8s.Provider
    token: pulumi.Input[str] | None = None
    pull_secret: pulumi.Input[str] | None = None

    @classmethod
    def of(cls, settings: StackSettings, secrets: StackSecrets, namespace: str, *, cluster: Cluster) -> Self:
        """Those of a namespace of a stack."""
        models = settings.models_in(namespace)
        return cls(
            namespace=namespace,
            models=models,
            provider=cluster.provider,
            token=secrets.named("hfToken") if any(model.needs_token for model in models) else None,
            pull_secret=secrets.named("pullSecret") if any(model.private_image for model in models) else None,
        )


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
        if args.token is not None:
            core.Secret(
                f"{name}-hugging-face-token",
                metadata={"name": naming.TOKEN_SECRET, "namespace": args.namespace},
                string_data={"HF_TOKEN": pulumi.Output.secret(args.token)},
                opts=inside,
            )
        if args.pull_secret is not None:
            core.Secret(
                f"{name}-pull-secret",
                metadata={"name": naming.PULL_SECRET, "namespace": args.namespace},
                type="kubernetes.io/dockerconfigjson",
                string_data={".dockerconfigjson": pulumi.Output.secret(args.pull_secret)},
                opts=inside,
            )
        self.register_outputs({})
