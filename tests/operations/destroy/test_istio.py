"""What a destroy removes of Istio from a cluster that others use, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmd_common.problems import Unreachable
from operations.destroy import istio
from tests.fakes.script import SHEBANG
from tests.operations.support import program

KUBECTL = """
import json, os, sys
folder = os.environ["CLUSTER"]
verb, kind, *rest = [one for one in sys.argv[1:] if not one.startswith("--")]
if verb == "delete":
    open(f"{folder}/deleted", "a").write(" ".join([kind, *rest]) + "\\n")
elif kind == "rules.networking.istio.io" and "denied" in os.listdir(folder):
    sys.exit("Error from server (Forbidden)")
else:
    print(json.dumps({"items": json.load(open(f"{folder}/objects.json")).get(kind, [])}))
"""


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "team"}, **more}


OBJECTS: dict[str, list[dict[str, Any]]] = {
    "gateways.gateway.networking.k8s.io": [named("theirs", spec={"gatewayClassName": "istio-remote"})],
    "gatewayclasses.gateway.networking.k8s.io": [
        named("istio", spec={"controllerName": "istio.io/gateway-controller"}),
        named("istio-remote", spec={"controllerName": "istio.io/unmanaged-gateway"}),
        named("gke-l7-rilb", spec={"controllerName": "networking.gke.io/gateway"}),
    ],
    "crds": [named("rules.networking.istio.io"), named("sidecars.networking.istio.io")],
    "rules.networking.istio.io": [named("one"), named("two")],
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program(tmp_path / "bin" / "kubectl", SHEBANG + KUBECTL, monkeypatch)
    monkeypatch.setenv("CLUSTER", str(tmp_path))
    (tmp_path / "objects.json").write_text(json.dumps(OBJECTS))
    return tmp_path


def deleted(cluster: Path) -> list[str]:
    file = cluster / "deleted"
    return file.read_text().splitlines() if file.exists() else []


def test_what_nobody_uses_goes_and_the_rest_is_named_with_its_users(cluster: Path) -> None:
    assert istio.remove(()) == [
        "GatewayClass istio-remote, of Gateway theirs",
        "CRD rules.networking.istio.io, of one and 1 more",
    ]
    assert deleted(cluster) == [
        "gatewayclass istio",
        "configmaps -A -l istio.io/config=true",
        "crd sidecars.networking.istio.io",
    ]


def test_nothing_goes_from_under_another_control_plane(cluster: Path) -> None:
    (cluster / "objects.json").write_text(json.dumps({**OBJECTS, "deployments": [named("istiod-canary")]}))
    assert istio.remove(()) == ["all of Istio, for istiod-canary in namespace team"]
    assert deleted(cluster) == []


def test_a_kind_that_cannot_be_listed_may_have_users(cluster: Path) -> None:
    (cluster / "denied").touch()
    with pytest.raises(Unreachable, match="Forbidden"):
        istio.remove(())
    assert not any("crd" in line for line in deleted(cluster))
