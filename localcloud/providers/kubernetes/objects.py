"""Names, scopes and immutable fields of Kubernetes objects, and the part of ``kubernetes.json`` that is a cluster."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from llmd_gke.pulumi_signatures import UNKNOWN
from localcloud.providers.protocol.difference import PropertyChange, names
from localcloud.providers.protocol.rules import Autoname, ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, dig, text

AUTONAMED = "pulumi.com/autonamed"

SOURCE = "pulumi-kubernetes provider/pkg @v4.0.0-20260115033456-f47bc2d6f199 (= 4.25.0)"
"""Files and functions named in this package are below that folder."""

CLUSTER_SCOPED = frozenset(
    [
        "APIService",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "CSIDriver",
        "CSINode",
        "CustomResourceDefinition",
        "FlowSchema",
        "IngressClass",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "RuntimeClass",
        "StorageClass",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "GatewayClass",
        "ClusterIssuer",
    ]
)
"""``kinds/kinds.go`` Namespaced, and two custom kinds that matter here. Every other kind is in a namespace."""

BUILT_IN_NAMESPACES = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "gke-managed-system", "gmp-system"}
)

_WORKLOAD = ("spec.selector",)
FORCE_NEW: dict[str, tuple[str, ...]] = {
    "v1/Secret": ("type", "stringData", "data"),  # unless enableSecretMutable
    "v1/ConfigMap": ("binaryData", "data"),  # unless enableConfigMapMutable
    "v1/PersistentVolumeClaim": ("spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeName"),
    "apps/v1/Deployment": _WORKLOAD,
    "apps/v1/DaemonSet": _WORKLOAD,
    "apps/v1/StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "batch/v1/Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "rbac.authorization.k8s.io/v1/RoleBinding": ("roleRef",),
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding": ("roleRef",),
    "storage.k8s.io/v1/StorageClass": ("parameters", "provisioner"),
}
"""``provider/diff.go`` forceNew, for the kinds a program like ours may use. Names and namespaces always force."""


@dataclass(frozen=True)
class KubernetesType:
    """A resource type ``kubernetes:GROUP/VERSION:Kind``; ``patch`` for the ``…Patch`` types, which own only fields."""

    api_version: str
    kind: str
    patch: bool

    @property
    def key(self) -> str:
        """Under which ``kubernetes.json`` keeps such objects."""
        return f"{self.api_version}/{self.kind}{'Patch' if self.patch else ''}"

    @property
    def group(self) -> str:
        """The API group, ``""`` for core."""
        return self.api_version.rpartition("/")[0]


def kind_of(token: str) -> KubernetesType:
    """``kubernetes:core/v1:Secret`` is ``v1`` ``Secret``: the core group has no name in manifests."""
    _, api_version, kind = token.split(":")
    plain = kind.removesuffix("Patch")
    return KubernetesType(api_version.removeprefix("core/"), plain or kind, bool(plain) and plain != kind)


def name_of(inputs: JsonObject) -> str:
    """``metadata.name``, ``""`` where it is missing or unknown."""
    return text(inputs, "metadata", "name")


def namespace_of(kind: KubernetesType, inputs: JsonObject) -> str:
    """The namespace an object is in: ``default`` where none is given, ``""`` for cluster-wide kinds."""
    if kind.kind in CLUSTER_SCOPED:
        return ""
    return text(inputs, "metadata", "namespace") or "default"


def identity(kind: KubernetesType, inputs: JsonObject) -> str:
    """``namespace/name``, or ``name`` for what is in no namespace."""
    namespace = namespace_of(kind, inputs)
    return f"{namespace}/{name_of(inputs)}" if namespace else name_of(inputs)


def is_autonamed(inputs: JsonObject) -> bool:
    """Whether the name was made up."""
    return text(inputs, "metadata", "annotations", AUTONAMED) == "true"


def is_named(inputs: JsonObject) -> bool:
    """Whether there is a name, known or not."""
    return bool(dig(inputs, "metadata", "name"))


def forces(kind: KubernetesType, change: PropertyChange) -> bool:
    """Whether a change needs a new object (``provider.go`` Diff, ``forceNewProperties``)."""
    fields = ("metadata.name", "metadata.namespace")
    if not kind.patch:
        fields += FORCE_NEW.get(kind.key, ())
    parts = {".".join(names(part)) for part in change.parts}
    return any(part == field or part.startswith(f"{field}.") for part in parts for field in fields)


def same_place(old: JsonObject, new: JsonObject) -> bool:
    """Whether the new object would be where the old one is, so that one must go first."""
    return all(dig(old, "metadata", key) == dig(new, "metadata", key) for key in ("name", "namespace")) and (
        dig(new, "metadata", "name") != UNKNOWN
    )


def made_up(name: str, autoname: Autoname) -> str:
    """``metadata/naming.go`` AssignNameIfAutonamable: the resource's name, a dash, eight hex digits."""
    if autoname.disabled:
        raise ProviderRefusal("autonaming is disabled, resource requires the .metadata.name field to be set")
    return autoname.proposed or f"{name}-{hashlib.sha256(autoname.seed or name.encode()).hexdigest()[:8]}"


class ClusterObjects:
    """One cluster's objects: kind, then ``namespace/name``, then record (``inputs``, ``server``).

    The cluster is known by its id at Google: it has more than one endpoint.
    """

    def __init__(self, content: JsonObject, where: str) -> None:
        self._content, self._where = content, where

    def all(self, key: str) -> dict[str, JsonObject]:
        """Every object of a kind."""
        records = dig(self._content, "clusters", self._where, key)
        return {k: v for k, v in records.items() if isinstance(v, dict)} if isinstance(records, dict) else {}

    def get(self, key: str, ident: str) -> JsonObject | None:
        """One object, or ``None``."""
        return self.all(key).get(ident)

    def _level(self, *path: str) -> JsonObject:
        level = self._content
        for part in path:
            below = level.setdefault(part, {})
            assert isinstance(below, dict)  # noqa: S101
            level = below
        return level

    def put(self, key: str, ident: str, record: JsonObject) -> None:
        """Store an object."""
        self._level("clusters", self._where, key)[ident] = record

    def drop(self, key: str, ident: str) -> None:
        """Remove an object; a namespace takes everything in it along."""
        kinds = self._level("clusters", self._where)
        doomed = [(key, ident)]
        if key == "v1/Namespace":
            doomed += [(k, i) for k in kinds for i in self.all(k) if i.startswith(f"{ident}/")]
        for of_kind, which in doomed:
            objects_of_kind = self._level("clusters", self._where, of_kind)
            objects_of_kind.pop(which, None)
            if not objects_of_kind:
                del kinds[of_kind]
        if not kinds:
            clusters = self._level("clusters")
            del clusters[self._where]
            if not clusters:
                self._content.clear()

    def has_namespace(self, name: str) -> bool:
        """Whether the namespace is there; ``""`` stands for no namespace."""
        return not name or name in BUILT_IN_NAMESPACES or self.get("v1/Namespace", name) is not None


def check_crd(kind: KubernetesType, inputs: JsonObject) -> None:
    """Raises ``Refused`` for a CustomResourceDefinition, or a patch of one, without group and kind.

    The real provider does the same (pulumi-kubernetes v4.25.0, ``groupKindFromCRD`` in provider/pkg/clients/cache.go).
    """
    if kind.kind != "CustomResourceDefinition":
        return
    for path in (("spec", "group"), ("spec", "names", "kind")):
        if not dig(inputs, *path):
            raise ProviderRefusal(f"expected .{'.'.join(path)}")
