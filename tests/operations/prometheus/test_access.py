from __future__ import annotations

from pathlib import Path

import pytest

from operations.doctor.google import ENDPOINT
from operations.options import Cloud
from operations.prometheus import access
from operations.prometheus.client import NotThere
from operations.target import Target

ROOT = Path(__file__).parents[3]


def test_google_is_asked_for_the_metrics_of_the_stacks_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    assert access.address(Target("eu4a", Cloud.GOOGLE, ROOT)) == (
        "https://monitoring.googleapis.com/v1/projects/my-project/location/global/prometheus/api/v1/"
    )


def test_the_laptop_cloud_has_a_prometheus_of_its_own_and_the_rehearsal_has_none() -> None:
    assert access.address(Target("local", Cloud.LAPTOP, ROOT)) == "http://127.0.0.1:9090/api/v1/"
    with pytest.raises(NotThere, match="rehearsal"):
        access.address(Target("local", Cloud.REHEARSAL, ROOT))
