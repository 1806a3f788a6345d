"""The files of a laptop cloud's cluster, below ``$LLMD_GKE_HOME/cluster``."""

from __future__ import annotations

import os
from pathlib import Path

SUPERVISOR = "localcloud.cluster.supervisor"
"""The module that process 1 of a laptop cloud runs."""


class Layout:
    """The folders and files of one cluster. ``home`` is ``$LLMD_GKE_HOME``."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "cluster"
        """The folder with all files of the cluster; removed by ``make down``."""
        self.crds = home / "crds"
        """Upstream's CRDs, laid out before the cluster starts; ``make down`` leaves them, as it does the charts."""
        self.pki = self.root / "pki"
        """Keys and certificates, readable by their owner only."""
        self.authority = self.pki / "ca.crt"
        """The cluster's CA certificate, PEM."""
        self.google_apis = self.pki / "google-apis"
        """Certificate (``.crt``) and key (``.key``) of Google's APIs, as pods see them."""
        self.metrics_adapter = self.pki / "metrics-adapter"
        """Certificate (``.crt``) and key (``.key``) of GKE's managed adapter of metrics."""
        self.etcd = self.root / "etcd"
        """Data of etcd."""
        self.kubeconfig = self.root / "kubeconfig"
        """The administrator's kubeconfig, by the IP endpoint."""
        self.logs = self.root / "logs"
        """The folder with ``NAME.log`` for every process."""
        self.run = self.root / "run"
        """Files that the supervisor writes while it runs."""
        self.request = self.run / "start.json"
        """The supervisor's input as JSON: programs and limits. Written before it is launched."""
        self.status = self.run / "status.json"
        """The supervisor's status of every process, as JSON."""
        self.pods = self.root / "pods"
        """``<namespace>_<name>/``: volumes and logs of the pods."""
        self.facts = self.root / "laptop.json"
        """Endpoints and CA of the cluster, for the emulator of Google's APIs."""

    @classmethod
    def of_environment(cls) -> Layout:
        """The cluster of ``$LLMD_GKE_HOME``: used by the daemons inside."""
        return cls(Path(os.environ["LLMD_GKE_HOME"]))

    def token(self, user: str) -> Path:
        """The bearer token of a user; that of ``user`` is what the stub of Google's auth plugin hands out."""
        return self.pki / f"{user}-token"

    def kubeconfig_of(self, component: str) -> Path:
        """The kubeconfig of a control plane component, such as ``kube-scheduler``."""
        return self.pki / f"{component}.kubeconfig"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    def mark(self, name: str) -> Path:
        """The file that a daemon of ours writes once it serves; the supervisor waits for it."""
        return self.run / f"{name}.ready"
