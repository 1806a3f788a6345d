"""Helm releases: recorded, not rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llmd_common.pulumi_signatures import UNKNOWN

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin

RELEASE = "kubernetes:helm.sh/v3:Release"
Props = dict[str, Any]


def release(**over: Any) -> Props:
    return {
        "name": "lws",
        "chart": "oci://registry.k8s.io/lws/charts/lws",
        "version": "0.9.0",
        "namespace": "lws",
        **over,
    }


def test_a_secret_input_anywhere_stays_secret_and_in_no_file(kubernetes: Standin, cluster: Result):
    made = kubernetes.create(
        RELEASE, release(createNamespace=True, values={"token": "hf_verysecret"}), secrets=[("values", "token")]
    )
    assert ("values", "token") in made.secrets
    assert "hf_verysecret" not in (kubernetes.folder / "kubernetes.json").read_text()


def test_a_release_is_recorded_with_its_status(kubernetes: Standin, cluster: Result):
    made = kubernetes.create(RELEASE, release(createNamespace=True))
    assert made.id == "lws/lws"
    assert made.outputs["status"]["status"] == "deployed"
    assert made.outputs["status"]["revision"] == 1
    assert kubernetes.update(RELEASE, made, release(createNamespace=True, values={"a": 1}))["status"]["revision"] == 2


def test_the_status_of_a_release_is_unknown_in_a_preview(kubernetes: Standin, cluster: Result):
    assert kubernetes.create(RELEASE, release(), preview=True).outputs["status"] == UNKNOWN


@pytest.mark.parametrize("preview", [True, False])
def test_what_only_the_sdk_sends_is_no_output_of_a_release(kubernetes: Standin, cluster: Result, preview: bool):
    wanted = release(createNamespace=True, compat="true")
    assert "compat" not in kubernetes.create(RELEASE, wanted, preview=preview).outputs


def test_a_release_needs_its_namespace_unless_it_makes_it(kubernetes: Standin, cluster: Result):
    with pytest.raises(Exception, match='namespaces "lws" not found'):
        kubernetes.create(RELEASE, release())


def test_a_release_name_is_used_once(kubernetes: Standin, cluster: Result):
    kubernetes.create(RELEASE, release(createNamespace=True))
    with pytest.raises(Exception, match="cannot re-use a name that is still in use"):
        kubernetes.create(RELEASE, release())


def test_a_chart_folder_must_exist(kubernetes: Standin, cluster: Result):
    with pytest.raises(Exception, match=r'path "./no-such-chart" not found'):
        kubernetes.check(RELEASE, release(chart="./no-such-chart"))
