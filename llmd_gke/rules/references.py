"""Rules about references between objects of the Gateway API: listeners that admit routes, and grants across namespaces.

Source: kubernetes-sigs/gateway-api ``apis/v1`` v1.4 (``AllowedRoutes``, ``ReferenceGrant``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server sets on every namespace."""


@dataclass(frozen=True)
class Reference:
    """A reference to an object of another namespace. ``kind`` is that of the object that refers."""

    group: str
    kind: str
    namespace: str
    to_group: str
    to_kind: str
    to_namespace: str
    to_name: str

    def granted_by(self, grant_spec: Input, namespace: str | None) -> bool:
        """Whether a ReferenceGrant in ``namespace`` allows it. What is not known yet counts."""
        if namespace is not None and namespace != self.to_namespace:
            return False
        own = (("group", self.group), ("kind", self.kind), ("namespace", self.namespace))
        froms = any(all(_is(one.get(key), text) for key, text in own) for one in grant_spec.get("from").each())
        return froms and any(
            _is(one.get("group"), self.to_group)
            and _is(one.get("kind"), self.to_kind)
            and (one.get("name").value in (None, "") or _is(one.get("name"), self.to_name))
            for one in grant_spec.get("to").each()
        )


def _is(node: Input, text: str) -> bool:
    return isinstance(node.value, Unknown) or (node.text() or "") == text


def not_granted(reference: Reference, path: str) -> Finding:
    """A reference that no ReferenceGrant allows."""
    return Finding(
        "reference-grant",
        f"{path} refers to {reference.to_kind} {reference.to_namespace}/{reference.to_name}, and no ReferenceGrant in "
        f"{reference.to_namespace} allows it: it is not resolved (RefNotPermitted), and requests get 500",
        allowed=f"a ReferenceGrant in {reference.to_namespace}, or an object in the same namespace",
        fix=f"add a ReferenceGrant in {reference.to_namespace} from {reference.kind} of {reference.namespace} to "
        f"{reference.to_kind}",
    )


@dataclass(frozen=True)
class Origin:
    """A route's kind, namespace and host names. ``same``: whether the namespace is the Gateway's, too. ``labels``:
    those of the namespace, ``None`` if they are not known.
    """

    kind: str
    namespace: str
    same: bool
    labels: Mapping[str, str] | None
    hosts: Input


def admission(gateway: Input, parent: Input, route: Origin) -> Iterator[Finding]:
    """A listener of the Gateway admits the route, of which ``parent`` is the reference."""
    section, port = parent.get("sectionName"), parent.get("port")
    listeners = list(gateway.get("spec", "listeners").each())
    if not listeners or isinstance(section.value, Unknown):
        return
    named = [one for one in listeners if section.value is None or _is(one.get("name"), section.text() or "")]
    named = [one for one in named if port.value is None or one.get("port").integer() in (None, port.integer())]
    if not named:
        names = [text for one in listeners if (text := one.get("name").text())]
        yield Finding(
            "route-admission",
            f"{parent.path} names a listener that the Gateway does not have (NoMatchingParent): requests get 404",
            allowed=", ".join(names),
            fix="use the name and port of one of its listeners",
        )
    elif not any(_admits(one, route) for one in named):
        yield Finding(
            "route-admission",
            f"{parent.path}: no listener of the Gateway admits routes of this kind from namespace {route.namespace} "
            "(NotAllowedByListeners): the route has no effect, and requests get 404",
            allowed="listeners with allowedRoutes.namespaces for this namespace; without it they admit their own only",
            fix="set allowedRoutes.namespaces: {from: Selector, selector: {matchLabels: "
            f"{{{NAMESPACE_NAME}: {route.namespace}}}}}}} on a listener",
        )
    elif not any(_admits(one, route) and _serves_a_host(one, route.hosts) for one in named):
        names = [text for one in named if (text := one.get("hostname").text())]
        yield Finding(
            "route-admission",
            f"{parent.path}: no listener of the Gateway has a host name of the route (NoMatchingListenerHostname): "
            "requests get 404",
            allowed=", ".join(names),
            fix="use a host name of the listener, or remove hostnames",
        )


def listeners(gateway: Input, owner: Origin) -> Iterator[Finding]:
    """The Gateway admits the listeners of a ListenerSet: it admits none without ``allowedListeners``."""
    if not _from(gateway.get("spec", "allowedListeners", "namespaces"), owner, "None"):
        yield Finding(
            "route-admission",
            f"the Gateway admits no listeners from namespace {owner.namespace} (NotAllowed): they have no effect",
            allowed="allowedListeners.namespaces of the Gateway; without it, it admits none",
            fix="set spec.allowedListeners.namespaces: {from: Same}, or a Selector, on the Gateway",
        )


def _serves_a_host(listener: Input, hosts: Input) -> bool:
    own, names = listener.get("hostname").text(), [one.text() for one in hosts.each()]
    return own is None or not names or any(name is None or _meet(own, name) or _meet(name, own) for name in names)


def _meet(pattern: str, name: str) -> bool:
    return pattern == name or (pattern.startswith("*.") and name.endswith(pattern[1:]))


def _admits(listener: Input, route: Origin) -> bool:
    allowed = listener.get("allowedRoutes")
    kinds = [one.get("kind") for one in allowed.get("kinds").each()]
    if kinds and not any(_is(one, route.kind) for one in kinds):
        return False
    return _from(allowed.get("namespaces"), route, "Same")


def _from(namespaces: Input, owner: Origin, default: str) -> bool:
    source = namespaces.get("from")
    if isinstance(source.value, Unknown) or source.value == "All":
        return True
    if (source.value or default) == "Same":
        return owner.same
    return source.value == "Selector" and _selects(namespaces.get("selector"), owner)


def _selects(selector: Input, route: Origin) -> bool:
    """Whether a selector may select the namespace: what is not known counts."""
    known = {**(route.labels or {}), NAMESPACE_NAME: route.namespace}
    for key, value in selector.get("matchLabels").entries():
        may_match = isinstance(value.value, Unknown) or (key not in known and route.labels is None)
        if not may_match and known.get(key) != value.value:
            return False
    for one in selector.get("matchExpressions").each():
        key, operator = one.get("key").text(), one.get("operator").text()
        values = [item.value for item in one.get("values").each()]
        if key is None or (key not in known and route.labels is None) or any(isinstance(v, Unknown) for v in values):
            continue
        if operator in ("In", "NotIn") and (known.get(key) in values) != (operator == "In"):
            return False
        if operator in ("Exists", "DoesNotExist") and (key in known) != (operator == "Exists"):
            return False
    return True
