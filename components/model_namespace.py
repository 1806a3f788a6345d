"""A namespace for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.kubernetes_objects import create
from llmd_gke.manifests import firewall, naming, pod_security
from llmd_gke.manifests.named import Named, named, names, secret
from llmd_gke.settings import ModelSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ModelNamespaceArgs:
    """``models`` are those of ``namespace``. ``token``: of Hugging Face, for weights that require an accepted licence;
    ``pull_secret``: a ``.dockerconfigjson``, for private images. ``exists``: the namespace is there, and
    belongs to others.
    """

    namespace: str
    models: Sequence[ModelSettings]
    provider: k8s.Provider
    token: pulumi.Input[str] | None = None
    pull_secret: pulumi.Input[str] | None = None
    exists: bool = False

    @classmethod
    def of(cls, settings: StackSettings, secrets: StackSecrets, namespace: str, *, cluster: Cluster) -> Self:
        """Those of a namespace of a stack."""
        models = settings.models_in(namespace)
        return cls(
            namespace=namespace,
            models=models,
            exists=namespace in settings.existing_namespaces,
            provider=cluster.provider,
            token=secrets.named("hfToken") if any(model.needs_token for model in models) else None,
            pull_secret=secrets.named("pullSecret") if any(model.private_image for model in models) else None,
        )


class ModelNamespace(pulumi.ComponentResource):
    """``llmd-gke:models:ModelNamespace``: namespace, closed by default, with what its models share:
    Hugging Face token and pull secret. Of an existing namespace, only these.

    A component of its own, because several models may share a namespace.
    """

    def __init__(self, name: str, args: ModelNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:ModelNamespace", name, None, opts)
        space = args.namespace
        # The server's image runs as root, without privileges: a level stricter than `baseline` would reject it.
        namespace = pod_security.namespace(
            space, pod_security.level(args.models), {naming.GATEWAY_ACCESS_LABEL: "true"}
        )
        objects = {} if args.exists else {"default-deny": firewall.default_deny(space)}
        # The SDK resolves an Output at any depth of a manifest.
        if args.token is not None:
            data = {"HF_TOKEN": cast("str", pulumi.Output.secret(args.token))}
            objects["hugging-face-token"] = secret(naming.TOKEN_SECRET, space, {**data}, type_=None)
        if args.pull_secret is not None:
            data = {".dockerconfigjson": cast("str", pulumi.Output.secret(args.pull_secret))}
            objects["pull-secret"] = secret(naming.PULL_SECRET, space, {**data}, type_="kubernetes.io/dockerconfigjson")
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        own = [] if args.exists else [Named("namespace", namespace)]
        create(name, [*own, *named(objects, *names(own))], child)
        self.register_outputs({})
