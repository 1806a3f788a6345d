"""What Istio leaves in a cluster: its chart keeps the CRDs, and istiod makes objects that nobody owns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from llmd_common import kubectl
from llmd_common.kubernetes.fields import Object, each, name, namespace, text
from llmd_common.problems import Unreachable
from llmd_gke.gateways import istio

CONFIG_MAPS = "istio.io/config=true"
"""Label of the ConfigMaps with certificates that istiod puts into every namespace (istio/istio @eed52ebb
``pilot/pkg/serviceregistry/kube/controller/namespacecontroller.go``)."""
CRDS = "app.kubernetes.io/part-of=istio"


def remove(options: Sequence[str]) -> list[str]:
    """Deletes what a destroyed stack's Istio has left and nobody uses; returns what stays, each with its user.
    ``options`` of kubectl select the cluster.

    Raises ``Unreachable`` if the cluster does not answer, ``SetUpFailed`` without kubectl.
    """

    def asked(*what: str) -> str:
        done = kubectl.run("kubectl", *options, *what, "--ignore-not-found")
        if done.returncode:  # what could not be listed may have users
            raise Unreachable(f"kubectl {what[0]} {what[1]}: {done.stderr.strip()}")
        return done.stdout

    def listed(*what: str) -> list[Object]:
        return each(cast("Object", json.loads(asked("get", *what, "-o", "json") or "{}")), "items")

    def delete(*what: str) -> None:
        asked("delete", *what, "--wait=false")

    if others := listed("deployments", "-A", "-l", "app=istiod"):
        return [f"all of Istio, for {name(one)} in namespace {namespace(one)}" for one in others]
    stays: list[str] = []
    gateways = listed("gateways.gateway.networking.k8s.io", "-A")
    used = {text(one, "spec", "gatewayClassName"): name(one) for one in gateways}
    for one in listed("gatewayclasses.gateway.networking.k8s.io"):
        if text(one, "spec", "controllerName").startswith(f"{istio.CONTROLLER_NAME.partition('/')[0]}/"):
            if name(one) in used:
                stays.append(f"GatewayClass {name(one)}, of Gateway {used[name(one)]}")
            else:
                delete("gatewayclass", name(one))
    delete("configmaps", "-A", "-l", CONFIG_MAPS)
    for crd in listed("crds", "-l", CRDS):
        users = listed(name(crd), "-A")
        if users:
            stays.append(f"CRD {name(crd)}, of {name(users[0])}" + (f" and {len(users) - 1} more" if users[1:] else ""))
        else:
            delete("crd", name(crd))
    return stays
