"""The environment of a container, as the kubelet makes it.

https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables,
https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/,
https://kubernetes.io/docs/concepts/workloads/pods/downward-api/.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.fields import Object, each, part, text
from localcloud.nodes.quantity import integer_of

_REFERENCE = re.compile(r"\$(\$|\(([-._a-zA-Z][-._a-zA-Z0-9]*)\))")
_PATH = re.compile(r"^metadata\.(labels|annotations)\['(.+)'\]$")
_NAME = re.compile(r"^[-._a-zA-Z][-._a-zA-Z0-9]*$")


class MissingObject(Exception):
    """A Secret, ConfigMap or key does not exist (yet)."""


class Sources:
    """The sources of values: the Secrets, ConfigMaps and Services of the cluster."""

    def __init__(self, secrets: Mirror, config_maps: Mirror, services: Mirror) -> None:
        self._objects = {"secret": secrets, "configmap": config_maps}
        self.services = services

    def data(self, kind: str, name: str, namespace: str) -> dict[str, bytes]:
        """The content of a Secret or ConfigMap (``kind`` in small letters); raises :class:`MissingObject`."""
        obj = self._objects[kind].get(name, namespace)
        if obj is None:
            raise MissingObject(f'{kind} "{name}" not found')
        content = {key: str(value).encode() for key, value in part(obj, "data").items()}
        binary = part(obj, "binaryData")
        if kind == "secret":
            content = {key: base64.b64decode(value) for key, value in content.items()}
        return content | {key: base64.b64decode(value) for key, value in binary.items()}


def expand(template: str, variables: Mapping[str, str]) -> str:
    """Replaces ``$(NAME)`` by the variable's value; an unknown one is unchanged, and ``$$`` stands for ``$``."""

    def value(match: re.Match[str]) -> str:
        return "$" if match[1] == "$" else variables.get(match[2], match[0])

    return _REFERENCE.sub(value, template)


def service_variables(services: Iterable[Object], namespace: str, *, links: bool) -> dict[str, str]:
    """``KUBERNETES_SERVICE_HOST`` and its like, and with ``links`` those of every Service of the namespace."""
    variables: dict[str, str] = {}
    for service in sorted(services, key=lambda one: one["metadata"]["namespace"] != "default"):
        meta, spec = service["metadata"], service["spec"]
        own = meta["namespace"] == namespace and links
        if not own and (meta["namespace"], meta["name"]) != ("default", "kubernetes"):
            continue
        address = spec.get("clusterIP")
        if not address or address == "None" or not spec.get("ports"):
            continue
        prefix = _variable(meta["name"])
        first = spec["ports"][0]
        variables[f"{prefix}_SERVICE_HOST"] = address
        variables[f"{prefix}_SERVICE_PORT"] = str(first["port"])
        variables[f"{prefix}_PORT"] = f"{first.get('protocol', 'TCP').lower()}://{address}:{first['port']}"
        for port in spec["ports"]:
            protocol = str(port.get("protocol", "TCP"))
            if port.get("name"):
                variables[f"{prefix}_SERVICE_PORT_{_variable(port['name'])}"] = str(port["port"])
            each = f"{prefix}_PORT_{port['port']}_{protocol}"
            variables[each] = f"{protocol.lower()}://{address}:{port['port']}"
            variables[f"{each}_PROTO"] = protocol.lower()
            variables[f"{each}_PORT"] = str(port["port"])
            variables[f"{each}_ADDR"] = address
    return variables


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")


def field(pod: Object, path: str) -> str:
    """A field of the pod by the downward API's path; raises ``ValueError`` for one that it does not offer."""
    if match := _PATH.match(path):
        return text(pod, "metadata", match[1], match[2])
    if path in ("metadata.labels", "metadata.annotations"):
        values = part(pod, "metadata", path.partition(".")[2])
        return "\n".join(f'{key}="{_quoted(value)}"' for key, value in sorted(values.items()))
    status = part(pod, "status")
    offered: dict[str, Any] = {
        "metadata.name": pod["metadata"]["name"],
        "metadata.namespace": pod["metadata"].get("namespace"),
        "metadata.uid": pod["metadata"].get("uid"),
        "spec.nodeName": pod["spec"].get("nodeName"),
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", "default"),
        "status.podIP": status.get("podIP"),
        "status.podIPs": ",".join(one["ip"] for one in each(pod, "status", "podIPs")),
        "status.hostIP": status.get("hostIP"),
        "status.hostIPs": ",".join(one["ip"] for one in each(pod, "status", "hostIPs")),
    }
    if path not in offered:
        raise ValueError(f'field "{path}" is not supported by the downward API')
    return str(offered[path] or "")


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def resource(pod: Object, container: Object, reference: Mapping[str, Any], allocatable: Mapping[str, str]) -> str:
    """A request or limit of a container in units of the divisor, rounded up; a limit not set is the node's."""
    named = reference.get("containerName")
    if named:
        every = [*each(pod, "spec", "containers"), *each(pod, "spec", "initContainers")]
        container = next(one for one in every if one["name"] == named)
    kind, _, name = str(reference["resource"]).partition(".")
    value = text(container, "resources", kind, name) or (allocatable.get(name, "0") if kind == "limits" else "0")
    divisor = text(reference, "divisor") or "0"
    return str(integer_of(value, divisor if divisor != "0" else "1"))


def environment(
    pod: Object, container: Object, sources: Sources, base: Mapping[str, str], allocatable: Mapping[str, str]
) -> dict[str, str]:
    """All variables: the image's (``base``), the Services', ``envFrom``, ``env``. Raises :class:`MissingObject`."""
    namespace = pod["metadata"]["namespace"]
    links = pod["spec"].get("enableServiceLinks", True)
    result = {
        **base,
        "HOSTNAME": (text(pod, "spec", "hostname") or str(pod["metadata"]["name"]))[:63],
        **service_variables(sources.services, namespace, links=links),
    }
    for entry in each(container, "envFrom"):
        for key, kind in (("secretRef", "secret"), ("configMapRef", "configmap")):
            if reference := part(entry, key):
                try:
                    data = sources.data(kind, reference["name"], namespace)
                except MissingObject:
                    if reference.get("optional"):
                        continue
                    raise
                prefix = text(entry, "prefix")
                result |= {prefix + name: value.decode() for name, value in data.items() if _NAME.match(prefix + name)}
    for entry in each(container, "env"):
        value = _value(pod, container, entry, sources=sources, variables=result, allocatable=allocatable)
        if value is not None:
            result[entry["name"]] = value
    return result


def _value(
    pod: Object,
    container: Object,
    entry: Mapping[str, Any],
    *,
    sources: Sources,
    variables: Mapping[str, str],
    allocatable: Mapping[str, str],
) -> str | None:
    source = entry.get("valueFrom")
    if not source:
        return expand(text(entry, "value"), variables)
    if reference := source.get("fieldRef"):
        return field(pod, reference["fieldPath"])
    if reference := source.get("resourceFieldRef"):
        return resource(pod, container, reference, allocatable)
    for key, kind in (("secretKeyRef", "secret"), ("configMapKeyRef", "configmap")):
        if reference := source.get(key):
            try:
                data = sources.data(kind, reference["name"], pod["metadata"]["namespace"])
                if reference["key"] not in data:
                    raise MissingObject(f"couldn't find key {reference['key']} in {kind} {reference['name']}")
                return data[reference["key"]].decode()
            except MissingObject:
                if reference.get("optional"):
                    return None
                raise
    raise ValueError(f"variable {entry['name']} has a source that the laptop cloud does not support")
