from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from llmd_gke.catalog.metrics import EXTERNAL_LB, INTERNAL_LB
from llmd_gke.manifests import logs
from llmd_gke.settings import StackSettings, load_stack

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["eu4a", "prod"])
def settings(request: pytest.FixtureRequest) -> StackSettings:
    return load_stack(ROOT, request.param).settings


def query(settings: StackSettings, key: str) -> logs.LogQuery:
    return next(one for one in logs.queries(settings) if one.key == key)


def test_every_query_is_about_this_cluster_or_its_network_only(settings: StackSettings) -> None:
    queries = logs.queries(settings)
    assert queries
    for one in queries:
        name = f'"{settings.cluster.name}"'
        assert f"cluster_name={name}" in one.filter or f"network_name={name}" in one.filter


def test_requests_are_looked_for_where_the_gateway_of_that_kind_writes_them(settings: StackSettings) -> None:
    kind = EXTERNAL_LB if settings.gateway.exposure == "external" else INTERNAL_LB
    assert f'resource.type="{kind}"' in query(settings, "failed").filter


def test_the_namespaces_of_all_models_are_looked_into(settings: StackSettings) -> None:
    other = settings.models[0].model_copy(update={"name": "b", "namespace": "other"})
    both = settings.model_copy(update={"models": (*settings.models, other)})
    assert 'namespace_name=("models" OR "other")' in query(both, "ended").filter
    assert "namespaces/(models|other|inference-gateway)/" in query(both, "changed").filter


def test_a_link_holds_the_whole_query_and_the_project(settings: StackSettings) -> None:
    one = query(settings, "changed")
    parts = urlsplit(logs.link(one, settings))
    assert parse_qs(parts.query) == {"project": ["my-project"]}
    assert unquote(parts.path.partition(";query=")[2]) == one.filter
