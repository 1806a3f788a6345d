"""ReferenceGrants: whether an object may refer to one of another namespace."""

from __future__ import annotations

from llmd_common.kubernetes.fields import Key, each, namespace, text
from localcloud.gke_gateway.resources.objects import GATEWAY_GROUP, REFERENCE_GRANT, ClusterSnapshot


def granted(snapshot: ClusterSnapshot, asker: Key, group: str, kind: str, target: Key) -> bool:
    """Whether an object of the Gateway API may refer to ``target`` (namespace and name) of that group and kind.

    ``asker``: its kind and namespace. Its own namespace needs no grant. A grant with a name covers that object only
    (https://gateway-api.sigs.k8s.io/api-types/referencegrant/).
    """
    where, called = target
    if where == asker[1]:
        return True
    return any(
        (GATEWAY_GROUP, *asker)
        in [(text(one, "group"), text(one, "kind"), text(one, "namespace")) for one in each(grant, "spec", "from")]
        and any(
            (text(to, "group"), text(to, "kind")) == (group, kind) and text(to, "name") in ("", called)
            for to in each(grant, "spec", "to")
        )
        for grant in snapshot.all(REFERENCE_GRANT)
        if namespace(grant) == where
    )
