"""Pods and containers, recognized by their shape, regardless of the kind that contains them and of an operator's names
for them.

A map with lists of containers, host namespaces or folders of the node is a pod. A container is an entry of such a list,
or a map with fields that only containers have (Argo's ``script``, Tekton's ``steps``, ``predictor.model`` of an
InferenceService, values of charts). A shape is a guess: a wrong type in such a container, or a field that is missing in
such a pod, proves nothing. Fields: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.catalog import accelerators
from llmd_gke.rules.inputs import Input, Notes, Unknown, Value, items_of, table_of

CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
SECURITY_CONTEXT = "securitycontext"
"""Suffix of the names of security contexts, in lower case: charts have ``containerSecurityContext`` and similar."""
OF_CONTAINERS = ("privileged", "capabilities", "procMount")
"""Fields that only the security context of a container has, not that of a pod."""
NOT_ASKED_FOR = ("metadata", "status")
ALLOWLIST = {"apiVersion": "auto.gke.io/v1", "kind": "WorkloadAllowlist"}
"""GKE's descriptions of the pods that it admits to Autopilot, which are no pods.
https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/workloadallowlist
"""


def pods_within(node: Input) -> Iterator[Input]:
    """Every pod template inside an object of any kind: lists of containers or single ones, host namespaces, folders of
    the node, a profile of a whole pod.

    A patch may contain just one of them. ``metadata`` and ``status`` are ignored. The search continues below a pod: an
    empty list of containers further up must not hide the real ones.
    """
    if isinstance(node.value, Mapping):
        if not node.path and all(node.value.get(key) == value for key, value in ALLOWLIST.items()):
            return
        if _is_pod(node.value):
            yield without_types(node) if by_shape(node) else node
        for key in node.value:
            if (node.path or key not in NOT_ASKED_FOR) and key not in CONTAINER_LISTS:
                yield from pods_within(node.get(key))
        for key in CONTAINER_LISTS:
            if key in node.value and not _is_list_of_maps(node.value[key]):
                yield from pods_within(node.get(key))
    elif isinstance(node.value, Sequence) and not isinstance(node.value, str):
        for item in node.each():
            yield from pods_within(item)


def by_shape(pod: Input) -> bool:
    """Whether it is recognized as a pod only by its shape, having no list of containers."""
    return not (isinstance(pod.value, Mapping) and _lists_containers(pod.value))


def without_types(node: Input) -> Input:
    """The same value, whose wrong types are not reported: charts have ``image: {repository, tag}`` and similar values.

    Unknown values are noted as before.
    """
    return Input(node.value, node.path, Notes(unknown=node.notes.unknown))


def containers(pod: Input) -> Iterator[Input]:
    """Containers, init containers and ephemeral ones, and maps that have the shape of a container."""
    for key in CONTAINER_LISTS:
        yield from pod.get(key).each()
    if not isinstance(pod.value, Mapping):
        return
    if _is_pod_and_container(pod.value):
        yield without_types(pod)
    for key, value in pod.value.items():
        if key in CONTAINER_LISTS or (not pod.path and key in NOT_ASKED_FOR):
            continue
        if _is_part(value):
            yield without_types(pod.get(key))
        elif any(_is_part(entry) for entry in items_of(value)):
            yield from (without_types(entry) for entry in pod.get(key).each() if _is_part(entry.value))


def contexts(container: Input) -> Iterator[Input]:
    """The security contexts of a container: one, or several under other names in the values of a chart."""
    if isinstance(container.value, Mapping):
        yield from (container.get(key) for key in container.value if key.lower().endswith(SECURITY_CONTEXT))


def node_folders(pod: Input) -> Iterator[Input]:
    """Volumes that are folders of the node, in ``volumes`` or wherever an operator or a chart has them."""
    if not isinstance(pod.value, Mapping):
        return
    for key, value in pod.value.items():
        if _is_node_folder(value):
            yield pod.get(key)
        elif any(_is_node_folder(entry) for entry in items_of(value)):
            yield from (entry for entry in pod.get(key).each() if _is_node_folder(entry.value))


def _is_pod(value: Mapping[str, Value]) -> bool:
    if any(_is_list_of_maps(value.get(key)) for key in CONTAINER_LISTS):
        return True
    if any(value.get(key) in (True, "true") for key in HOST_NAMESPACES):
        return True
    context = value.get("securityContext")
    if isinstance(context, Mapping) and any(key in context for key in ("seccompProfile", "windowsOptions")):
        return True
    if _is_pod_and_container(value):
        return True
    for part in value.values():
        if any(_is_part(one) or _is_node_folder(one) for one in (items_of(part) or (part,))):
            return True
    return False


def _lists_containers(value: Mapping[str, Value]) -> bool:
    return any(value.get(key) and _is_list_of_maps(value[key]) for key in CONTAINER_LISTS)


def _is_pod_and_container(value: Value) -> bool:
    """Whether a map has the fields of both a pod and its container, as charts and operators write them."""
    if not isinstance(value, Mapping) or not value.get("nodeSelector") or _lists_containers(value):
        return False
    return isinstance(value["nodeSelector"], Mapping | Unknown) and _is_container(value)


def _is_part(value: Value) -> bool:
    """Whether a value is a container of the pod around it, rather than a pod of its own."""
    return _is_container(value) and not _is_pod_and_container(value)


def _is_container(value: Value) -> bool:
    if not isinstance(value, Mapping):
        return False
    for key, part in value.items():
        if isinstance(part, Mapping):
            if key.lower().endswith(SECURITY_CONTEXT) and any(field in part for field in OF_CONTAINERS):
                return True
            asked = [table_of(part.get(one)) for one in ("limits", "requests")] if key == "resources" else []
            if any(resource in table for table in asked for resource in accelerators.RESOURCES):
                return True
        elif key == "env" and (entries := items_of(part)) and all("name" in table_of(one) for one in entries):
            return True
    return False


def _is_node_folder(value: Value) -> bool:
    folder = table_of(value).get("hostPath")
    return bool(folder) and isinstance(folder, Mapping | str | Unknown)


def _is_list_of_maps(value: Value) -> bool:
    """Whether a value may be a list of containers. Empty entries are no reason to leave out the others."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(isinstance(item, Mapping | Unknown) or item is None for item in value)
