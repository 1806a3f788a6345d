"""NetworkPolicies of the models' namespace: whom their selectors mean. They are not enforced in a laptop cloud."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop

NAMESPACE = objects.MODELS
Selector = dict[str, Any]


def matching(laptop: Laptop, namespace: str, selector: Selector) -> set[str]:
    """The pods of a namespace that the API server itself finds by a policy's selector."""
    assert set(selector) <= {"matchLabels", "matchExpressions"}, selector
    wanted = [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]
    for one in selector.get("matchExpressions", []):
        assert one["operator"] == "In", "the policies use no other"
        wanted.append(f"{one['key']} in ({','.join(one['values'])})")
    flags = ["-l", ",".join(wanted)] if wanted else []
    return objects.names(objects.every(laptop, "pods", *flags, namespace=namespace))


def policy(laptop: Laptop, name: str) -> Selector:
    """The specification of one of them."""
    obj = objects.one(laptop, "networkpolicies", name, NAMESPACE)
    assert obj is not None, f"there is no NetworkPolicy {name}"
    return obj["spec"]


def peers(rules: list[Selector], key: str) -> list[Selector]:
    """The pod selectors among the peers of a policy's rules."""
    return [peer["podSelector"] for rule in rules for peer in rule.get(key, []) if "podSelector" in peer]
