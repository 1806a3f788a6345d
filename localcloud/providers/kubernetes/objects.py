"""Names, scopes and immutable fields of Kubernetes objects, and the part of ``kubernetes.json`` that is a cluster.

Files and functions named in this package are below pulumi-kubernetes ``provider/pkg``
@v4.0.0-20260115033456-f47bc2d6f199 (= 4.25.0).
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.protocol.difference import PropertyChange, names
from localcloud.providers.protocol.values import JsonObject, dig, text

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
        "ComputeClass",
    ]
)
"""``kinds/kinds.go`` Namespaced, and three custom kinds that matter here. Every other kind is in a namespace."""

BUILT_IN_NAMESPACES = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "gke-managed-system", "gmp-system"}
)

_WORKLOAD = ("spec.selector",)
FORCE_NEW: dict[str, tuple[str, ...]] = {
    "v1/Secret": ("type", "stringData", "data"),  # unless the provider's enableSecretMutable is true
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
        """The key of such objects in ``kubernetes.json``."""
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


def forces(kind: KubernetesType, change: PropertyChange, *, mutable: bool = False) -> bool:
    """Whether a change needs a new object (``provider.go`` Diff, ``forceNewProperties``). ``mutable``: whether contents
    of Secrets may change.
    """
    fields = ("metadata.name", "metadata.namespace")
    if not kind.patch and not (mutable and kind.key == "v1/Secret"):
        fields += FORCE_NEW.get(kind.key, ())
    parts = {".".join(names(part)) for part in change.parts}
    return any(part == field or part.startswith(f"{field}.") for part in parts for field in fields)


def same_place(old: JsonObject, new: JsonObject) -> bool:
    """Whether both objects have the same namespace and name, so that the old one must be deleted first."""
    return all(dig(old, "metadata", key) == dig(new, "metadata", key) for key in ("name", "namespace")) and (
        dig(new, "metadata", "name") != UNKNOWN
    )


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
