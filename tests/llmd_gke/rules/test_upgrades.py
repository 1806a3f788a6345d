from __future__ import annotations

import pytest

from llmd_gke.catalog import versions
from llmd_gke.catalog.upgrades import COMPONENTS, WALKS
from llmd_gke.rules.upgrades import findings

BY_KEY = {one.key: one for one in COMPONENTS}


@pytest.mark.parametrize(
    ("key", "before", "after", "verdict", "said"),
    [
        ("gke", "1.34.2-gke.100", "1.35", "", ""),
        ("gke", "1.34.2-gke.100", "1.36", "error", "more than one minor"),
        ("lws", "0.7.0", "0.9.0", "error", "kubernetes-sigs/lws#880"),
        ("lws", "0.8.0", "0.9.0", "", ""),
        ("lws", "0.9.0", "0.8.0", "error", "do not go back"),
        ("kserve", "v0.19.0", "v0.20.0", "error", "kserve/kserve#5708"),
        ("kserve", "v0.20.0", "v0.21.0", "warning", "#5712"),
        ("envoy-gateway", "v1.8.4", "v1.9.1", "warning", "Lua"),
        ("envoy-gateway", "v1.8.3", "v1.8.4", "", ""),
        ("server", "v0.27.0", "v0.26.0", "", ""),
        ("server", "sha256:0123", "v0.27.0", "", ""),
    ],
)
def test_an_upgrade_is_refused_for_what_it_breaks(key: str, before: str, after: str, verdict: str, said: str) -> None:
    found = [*findings(BY_KEY[key], before, after)]
    assert [one.severity for one in found] == ([verdict] if verdict else [])
    assert all(said in one.problem and one.fix for one in found)


def test_every_chart_belongs_to_a_component() -> None:
    charts = {*(one.name for one in versions.charts()), "keda", "front-door-crds"}
    assert {chart for one in COMPONENTS for chart in one.charts} == charts


def test_the_catalogue_has_what_walks_have_found() -> None:
    assert len(WALKS) > 1
    for walk in WALKS:
        component, gone = BY_KEY[walk.component], [one for one in walk.gone if one.startswith("CustomResource")]
        errors = [one for one in findings(component, walk.before, walk.after) if one.severity == "error"]
        assert bool(errors) >= bool(gone), walk.line
        assert bool(component.crd_step) >= bool(walk.behind), walk.line
