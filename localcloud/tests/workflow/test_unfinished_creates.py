"""What an unfinished create has made is recognised in the clouds, whoever gave it its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localcloud.common.workdir import Workdir
from localcloud.rehearsal import Rehearsal
from localcloud.workflow.state import Pending

ACCOUNT = ("gcp:serviceaccount/account:Account", "projects/p/serviceAccounts/nodes@p.iam.gserviceaccount.com")
DASHBOARD = ("gcp:monitoring/dashboard:Dashboard", "projects/p/dashboards/4711")
ALERT = ("gcp:monitoring/alertPolicy:AlertPolicy", "projects/p/alertPolicies/4712")
OBJECTS = {
    ACCOUNT[0]: {ACCOUNT[1]: {"inputs": {"accountId": "nodes", "displayName": "llmd"}}},
    DASHBOARD[0]: {DASHBOARD[1]: {"inputs": {"displayName": "llmd: serving"}}},
    ALERT[0]: {ALERT[1]: {"inputs": {"displayName": "llmd: errors", "combiner": "OR", "conditions": [{"name": "1"}]}}},
}
IN_CLUSTER = {
    "v1/Namespace": {"kserve": {"inputs": {}}, "models": {"inputs": {}}},
    "v1/NamespacePatch": {"kserve": {"inputs": {}}},
    "serving.kserve.io/v1alpha2/LLMInferenceService": {"models/qwen": {"inputs": {}}},
    "helm.sh/v3/Release": {"kserve/kserve-crd": {"inputs": {}}},
}
OBJECT = {"metadata": {"name": "qwen", "namespace": "models"}}


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    made = Workdir(tmp_path, tmp_path / "home")
    made.cloud.mkdir(parents=True)
    (made.cloud / "google.json").write_text(json.dumps({"objects": OBJECTS}))
    (made.cloud / "kubernetes.json").write_text(
        json.dumps({"clusters": {"projects/p/locations/z/clusters/c": IN_CLUSTER}})
    )
    return made


@pytest.mark.parametrize(
    ("kind", "inputs", "ident"),
    [
        (ACCOUNT[0], {"accountId": "nodes", "displayName": "llmd", "project": "p"}, ACCOUNT[1]),
        (ACCOUNT[0], {"accountId": "others", "displayName": "llmd"}, None),
        (DASHBOARD[0], {"project": "p", "dashboardJson": '{"displayName": "llmd: serving"}'}, DASHBOARD[1]),
        (DASHBOARD[0], {"project": "p", "dashboardJson": '{"displayName": "other"}'}, None),
        (ALERT[0], {"displayName": "llmd: errors", "conditions": [{}, {}]}, ALERT[1]),
        (ALERT[0], {"displayName": "llmd: latency"}, None),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "models"}}, "models"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "other"}}, None),
        ("kubernetes:core/v1:NamespacePatch", {"metadata": {"name": "kserve"}}, None),
        ("kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService", OBJECT, "models/qwen"),
        ("kubernetes:core/v1:ServiceAccount", OBJECT, None),
        ("kubernetes:helm.sh/v3:Release", {"name": "kserve-crd", "namespace": "kserve"}, "kserve/kserve-crd"),
        ("kubernetes:helm.sh/v3:Release", {"name": "kserve-crd", "namespace": "other"}, None),
    ],
)
def test_what_an_unfinished_create_made_is_recognised(
    workdir: Workdir, kind: str, inputs: dict[str, Any], ident: str | None
) -> None:
    created = Rehearsal(workdir).find_created(Pending(f"urn::{kind}::it", "creating", kind, inputs))
    assert created == (ident and {"id": ident})
