"""The processes of a cluster and their command lines.

Flags: https://kubernetes.io/docs/reference/command-line-tools-reference/ for the version in catalog/versions.toml, and
https://etcd.io/docs/v3.6/op-guide/configuration/.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from localcloud.cluster.service import Service, answers, written
from localcloud.common.layout import Layout
from localcloud.linux_namespaces.addresses import CONTROL_PLANE, POD_RANGE, SERVICE_RANGE
from localcloud.monitoring import options

ETCD, API_SERVER = "etcd", "kube-apiserver"
CONTROLLERS, SCHEDULER = "kube-controller-manager", "kube-scheduler"
PROGRAMS = (ETCD, API_SERVER, CONTROLLERS, SCHEDULER)
"""Programs of the control plane, in the order they start."""

ETCD_URL = "http://127.0.0.1:2379"

DAEMONS = {
    "service-proxy": "localcloud.service_network",
    "kubelet": "localcloud.nodes",
    "gateway": "localcloud.gke_gateway",
    "monitoring": "localcloud.monitoring",
}
"""Processes of ours: name, module. Each calls :func:`localcloud.common.daemon.ready` with its name once it serves."""

NEEDS = {"monitoring": options.PROGRAMS}
"""Optional programs that a process of ours needs: it is started only if they are requested."""

GRACE_SECONDS = {"kubelet": 20.0, "monitoring": 8.0}
"""Seconds that processes have to exit: the kubelet to terminate its pods, monitoring to stop its programs."""


def services(layout: Layout, programs: Mapping[str, Path]) -> list[Service]:
    """Every process of a cluster, for the programs that are given, in the order of their start."""
    makers = {API_SERVER: _api_server, CONTROLLERS: _controllers, SCHEDULER: _scheduler}
    listed = [_etcd(layout, programs[ETCD])] if ETCD in programs else []
    listed += [make(layout, programs[name]) for name, make in makers.items() if name in programs]
    for name, module in DAEMONS.items():
        if programs.keys() >= set(NEEDS.get(name, ())):
            command, mark = (sys.executable, "-P", "-m", module), layout.mark(name)
            grace = GRACE_SECONDS.get(name, 5.0)
            listed.append(Service(name, command, written(mark), after=(API_SERVER,), mark=mark, grace_seconds=grace))
    return listed


def _etcd(layout: Layout, program: Path) -> Service:
    peer = "http://127.0.0.1:2380"
    flags = {
        "name": "laptop",
        "data-dir": layout.etcd,
        "listen-client-urls": ETCD_URL,
        "advertise-client-urls": ETCD_URL,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"laptop={peer}",
        "log-level": "warn",
        # It halves the time of every write; a power failure may destroy the laptop cloud.
        "unsafe-no-fsync": "true",
    }
    return Service(ETCD, _command(program, flags), ready=answers(f"{ETCD_URL}/readyz"))


def _api_server(layout: Layout, program: Path) -> Service:
    pki = layout.pki
    flags = {
        "etcd-servers": ETCD_URL,
        # Not 0.0.0.0: the service proxy listens on port 443 of ClusterIPs.
        "bind-address": CONTROL_PLANE,
        "advertise-address": CONTROL_PLANE,
        "secure-port": 443,
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "client-ca-file": layout.authority,
        "token-auth-file": pki / "tokens.csv",
        "kubelet-client-certificate": pki / "apiserver-kubelet-client.crt",
        "kubelet-client-key": pki / "apiserver-kubelet-client.key",
        "requestheader-client-ca-file": pki / "front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": pki / "front-proxy-client.crt",
        "proxy-client-key-file": pki / "front-proxy-client.key",
        "kubelet-preferred-address-types": "InternalIP",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki / "sa.key",
        "service-account-signing-key-file": pki / "sa.key",
        "authorization-mode": "RBAC",
        "service-cluster-ip-range": SERVICE_RANGE,
        "allow-privileged": "true",
        "profiling": "false",
    }
    check = answers(f"https://{CONTROL_PLANE}/readyz", layout.authority)
    # Open watches of clients can delay its exit for a minute; cutting them loses nothing.
    return Service(API_SERVER, _command(program, flags), after=(ETCD,), ready=check, grace_seconds=8.0)


def _controllers(layout: Layout, program: Path) -> Service:
    flags = {
        **_client(layout, CONTROLLERS, 10257),
        "cluster-cidr": POD_RANGE,
        "allocate-node-cidrs": "false",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": layout.pki / "sa.key",
        "root-ca-file": layout.authority,
        "kube-api-qps": 100,
        "kube-api-burst": 200,
    }
    check = answers("https://127.0.0.1:10257/healthz", layout.authority)
    return Service(CONTROLLERS, _command(program, flags), after=(API_SERVER,), ready=check)


def _scheduler(layout: Layout, program: Path) -> Service:
    flags = _client(layout, SCHEDULER, 10259)
    check = answers("https://127.0.0.1:10259/healthz", layout.authority)
    return Service(SCHEDULER, _command(program, flags), after=(API_SERVER,), ready=check)


def _client(layout: Layout, name: str, port: int) -> dict[str, object]:
    kubeconfig = layout.kubeconfig_of(name)
    return {
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "tls-cert-file": layout.pki / "apiserver.crt",
        "tls-private-key-file": layout.pki / "apiserver.key",
        "leader-elect": "false",
        "profiling": "false",
    }


def _command(program: Path, flags: Mapping[str, object]) -> tuple[str, ...]:
    return (str(program), *(f"--{name}={value}" for name, value in flags.items()))
