"""Objects that let Google's collectors read the metrics of model servers and endpoint pickers of a namespace.

The picker serves ``/metrics`` only to callers that the API server authenticates and that may ``get`` it
(``--metrics-endpoint-auth``, on by default: kubernetes-sigs/gateway-api-inference-extension
``pkg/epp/server/options.go`` @v1.5.0), so the collector sends the token of an account without other permissions.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import kserve, monitoring
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import firewall
from llmd_gke.manifests.named import Named, account, named

RBAC = "rbac.authorization.k8s.io/v1"

READER = "metrics-reader"
"""The account whose token collectors send to endpoint pickers. Its ClusterRole has the same name."""
TOKEN = "metrics-reader-token"  # noqa: S105 - the name of an object
TOKEN_KEY = "token"  # noqa: S105 - the key that Kubernetes writes
READ_TOKEN = "read-metrics-reader-token"  # noqa: S105 - the name of an object

SERVERS = "model-servers"
PICKERS = "endpoint-pickers"
"""Names of the PodMonitorings; Prometheus has them as the label ``job``."""

_OF_MODELS: JsonObject = {kserve.PART_OF: kserve.PART}


def objects(namespaces: Sequence[str], interval_seconds: int) -> list[Named]:
    """The access of the readers' accounts, and the objects of each namespace."""
    result = named({"reader": cluster_role(), "reader-binding": cluster_role_binding(namespaces)})
    for space in namespaces:
        made: dict[str, JsonObject] = {
            "account": account(READER, space),
            "token": _token(space),
            "read-token": read_token(space),
            "read-token-binding": read_token_binding(space),
            "allow-collectors": network_policy(space),
            "servers": servers(space, interval_seconds),
            "pickers": pickers(space, interval_seconds),
        }
        # Kubernetes deletes a token Secret at once if its account does not exist.
        waits = {"token": (f"{space}-account",), "pickers": (f"{space}-token",)}
        result += [Named(f"{space}-{key}", manifest, waits.get(key, ())) for key, manifest in made.items()]
    return result


def _token(namespace: str) -> JsonObject:
    annotations: JsonObject = {"kubernetes.io/service-account.name": READER}
    kind = "kubernetes.io/service-account-token"
    return kubernetes_object("v1", "Secret", TOKEN, namespace, annotations=annotations, type=kind)


def cluster_role() -> JsonObject:
    """The ClusterRole that permits ``get`` on ``/metrics``, and nothing else."""
    rules: list[Json] = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    return kubernetes_object(RBAC, "ClusterRole", READER, rules=rules)


def cluster_role_binding(namespaces: Sequence[str]) -> JsonObject:
    """Binds :func:`cluster_role` to the readers' accounts of all model namespaces."""
    subjects: list[Json] = [{"kind": "ServiceAccount", "name": READER, "namespace": name} for name in namespaces]
    role: JsonObject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER}
    return kubernetes_object(RBAC, "ClusterRoleBinding", READER, roleRef=role, subjects=subjects)


def read_token(namespace: str) -> JsonObject:
    """The Role to read the token's Secret, with ``list`` and ``watch``, by which collectors follow changes."""
    verbs: list[Json] = ["get", "list", "watch"]
    rule: JsonObject = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [TOKEN], "verbs": verbs}
    return kubernetes_object(RBAC, "Role", READ_TOKEN, namespace, rules=[rule])


def read_token_binding(namespace: str) -> JsonObject:
    """Binds :func:`read_token` to the account of GKE's collectors."""
    role: JsonObject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": READ_TOKEN}
    name, space = monitoring.COLLECTOR_ACCOUNT, monitoring.COLLECTOR_NAMESPACE
    subject: JsonObject = {"kind": "ServiceAccount", "name": name, "namespace": space}
    return kubernetes_object(RBAC, "RoleBinding", READ_TOKEN, namespace, roleRef=role, subjects=[subject])


def network_policy(namespace: str) -> JsonObject:
    """Admits the collectors to the metrics ports of models and pickers; other traffic remains denied."""
    collectors = firewall.in_namespace(monitoring.COLLECTOR_NAMESPACE)
    ports = firewall.ports(kserve.WORKLOAD_PORT, kserve.PICKER_METRICS_PORT)
    spec: JsonObject = {
        "podSelector": {"matchLabels": _OF_MODELS},
        "ingress": [{"from": [collectors], "ports": ports}],
    }
    return firewall.policy("allow-collectors", namespace, spec)


def servers(namespace: str, interval_seconds: int) -> JsonObject:
    """Scrapes every server of the namespace: for a model that spans hosts, the leader."""
    endpoint: JsonObject = {"port": kserve.WORKLOAD_PORT, "path": "/metrics"}
    labels = {**_OF_MODELS, kserve.OWN_COMPONENT: kserve.WORKLOAD}
    return _of_models(SERVERS, namespace, labels, endpoint, interval_seconds)


def pickers(namespace: str, interval_seconds: int) -> JsonObject:
    """Scrapes every endpoint picker of the namespace, with the token of :data:`READER`."""
    endpoint: JsonObject = {
        "port": kserve.PICKER_METRICS_PORT,
        "path": "/metrics",
        "authorization": {"type": "Bearer", "credentials": {"secret": {"name": TOKEN, "key": TOKEN_KEY}}},
    }
    return _of_models(PICKERS, namespace, {**_OF_MODELS, kserve.COMPONENT: kserve.PICKER}, endpoint, interval_seconds)


def _of_models(
    name: str, namespace: str, labels: JsonObject, endpoint: JsonObject, interval_seconds: int
) -> JsonObject:
    # `model` is the model's name in the settings; the name that clients send is in vLLM's own label `model_name`.
    labelled: JsonObject = {"fromPod": [{"from": kserve.NAME, "to": "model"}]}
    return pod_monitoring(name, namespace, labels, endpoint, interval_seconds, target_labels=labelled)


def pod_monitoring(
    name: str,
    namespace: str,
    labels: JsonObject,
    endpoint: JsonObject,
    interval_seconds: int,
    *,
    target_labels: JsonObject | None = None,
) -> JsonObject:
    """A PodMonitoring of one ``endpoint`` of the pods with these labels; ``target_labels`` beside node and pod."""
    spec: JsonObject = {
        "selector": {"matchLabels": labels},
        "endpoints": [{**endpoint, "interval": f"{interval_seconds}s"}],
        # Not `container`: collectors drop it where a port is a number (prometheus-engine, `pod_config.go`).
        "targetLabels": {"metadata": ["node", "pod"], **(target_labels or {})},
    }
    return kubernetes_object(monitoring.API_VERSION, monitoring.POD_MONITORING, name, namespace, spec=spec)
