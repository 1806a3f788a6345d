"""The stub of gke-gcloud-auth-plugin, as a client starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from llmd_gke.manifests import access

TOKEN = "a-token-that-no-message-may-show"
IP, NAME = "172.16.0.2", "gke-laptop.europe-west4.gke.goog"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "cluster" / "pki").mkdir(parents=True)
    (tmp_path / "cluster" / "laptop.json").write_text(json.dumps({"endpoint": IP, "dnsEndpoint": NAME}))
    (tmp_path / "cluster" / "pki" / "user-token").write_text(f"{TOKEN}\n")
    return tmp_path


def asked(host: str, version: str | None = None) -> str:
    """What client-go puts into the environment for the program's own kubeconfig (``provideClusterInfo``)."""
    config = json.loads(access.kubeconfig("gke", host, None))
    plugin = config["users"][0]["user"]["exec"]
    assert plugin["provideClusterInfo"] is True
    spec = {"interactive": False, "cluster": config["clusters"][0]["cluster"]}
    return json.dumps({"apiVersion": version or plugin["apiVersion"], "kind": "ExecCredential", "spec": spec})


def run(home: Path | None, info: str | None) -> subprocess.CompletedProcess[str]:
    given = {"LLMD_GKE_HOME": str(home) if home else None, "KUBERNETES_EXEC_INFO": info}
    kept = {key: value for key, value in os.environ.items() if key not in given}
    return subprocess.run(
        [sys.executable, "-m", "localcloud.cluster.auth_plugin"],
        env=kept | {key: value for key, value in given.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("host", "version"), [(IP, "v1beta1"), (NAME, "v1"), (NAME, None)])
def test_the_programs_own_kubeconfig_gets_a_token_for_either_endpoint_in_the_version_it_asks_for(
    home: Path, host: str, version: str | None
) -> None:
    info = asked(host, version and f"client.authentication.k8s.io/{version}")
    done = run(home, info)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["apiVersion"] == json.loads(info)["apiVersion"]
    assert (answer["kind"], answer["status"]["token"]) == ("ExecCredential", TOKEN)
    left = datetime.fromisoformat(answer["status"]["expirationTimestamp"]) - datetime.now(UTC)
    assert timedelta(minutes=50) < left <= timedelta(hours=1)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (asked("203.0.113.7"), f"no token for https://203.0.113.7; allowed: {IP}, {NAME}"),
        (asked(IP, "client.authentication.k8s.io/v1alpha1"), "allowed: client.authentication.k8s.io/v1beta1"),
        ("not JSON", "KUBERNETES_EXEC_INFO requests 'None'"),
    ],
)
def test_others_get_a_message_and_no_token(home: Path, info: str, message: str) -> None:
    done = run(home, info)
    assert done.returncode == 2
    assert message in done.stderr
    assert "\nFix: " in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_laptop_cloud_or_outside_of_its_shell_it_says_where_to_go(tmp_path: Path) -> None:
    stopped, outside = run(tmp_path, asked(IP)), run(None, asked(IP))
    assert (stopped.returncode, "make up CLOUD=laptop" in stopped.stderr) == (6, True)
    assert (outside.returncode, "\nFix: run it inside `make shell CLOUD=laptop`" in outside.stderr) == (2, True)
