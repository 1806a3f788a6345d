"""The files of a laptop cloud's cluster, below ``$LLMD_GKE_HOME/cluster``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SUPERVISOR = "localcloud.cluster.supervisor"
"""The module that process 1 of a laptop cloud runs."""


@dataclass(frozen=True)
class Layout:
    """The folders and files of one cluster. ``home`` is ``$LLMD_GKE_HOME``."""

    home: Path

    @classmethod
    def of_environment(cls) -> Layout:
        """The cluster of ``$LLMD_GKE_HOME``: used by the daemons inside."""
        return cls(Path(os.environ["LLMD_GKE_HOME"]))

    @property
    def root(self) -> Path:
        """The folder with all files of the cluster; removed by ``make down``."""
        return self.home / "cluster"

    @property
    def crds(self) -> Path:
        """Upstream's CRDs, laid out before the cluster starts; ``make down`` leaves them, as it does the charts."""
        return self.home / "crds"

    @property
    def pki(self) -> Path:
        """Keys and certificates, readable by their owner only."""
        return self.root / "pki"

    @property
    def authority(self) -> Path:
        """The cluster's CA certificate, PEM."""
        return self.pki / "ca.crt"

    @property
    def google_apis(self) -> Path:
        """Certificate (``.crt``) and key (``.key``) of Google's APIs, as pods see them."""
        return self.pki / "google-apis"

    @property
    def metrics_adapter(self) -> Path:
        """Certificate (``.crt``) and key (``.key``) of GKE's managed adapter of metrics."""
        return self.pki / "metrics-adapter"

    def token(self, user: str) -> Path:
        """The bearer token of a user; that of ``user`` is what the stub of Google's auth plugin hands out."""
        return self.pki / f"{user}-token"

    @property
    def etcd(self) -> Path:
        """Data of etcd."""
        return self.root / "etcd"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, by the IP endpoint."""
        return self.root / "kubeconfig"

    def kubeconfig_of(self, component: str) -> Path:
        """The kubeconfig of a control plane component, such as ``kube-scheduler``."""
        return self.pki / f"{component}.kubeconfig"

    @property
    def logs(self) -> Path:
        """The folder with ``NAME.log`` for every process."""
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    @property
    def run(self) -> Path:
        """Files that the supervisor writes while it runs."""
        return self.root / "run"

    @property
    def request(self) -> Path:
        """The supervisor's input as JSON: programs and limits. Written before it is launched."""
        return self.run / "start.json"

    @property
    def status(self) -> Path:
        """The supervisor's status of every process, as JSON."""
        return self.run / "status.json"

    def mark(self, name: str) -> Path:
        """The file that a daemon of ours writes once it serves; the supervisor waits for it."""
        return self.run / f"{name}.ready"

    @property
    def pods(self) -> Path:
        """``<namespace>_<name>/``: volumes and logs of the pods."""
        return self.root / "pods"

    @property
    def facts(self) -> Path:
        """Endpoints and CA of the cluster, for the emulator of Google's APIs."""
        return self.root / "laptop.json"
