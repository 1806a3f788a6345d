from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest

from llmd_gke.manifests.dashboard import panels
from operations import outputs
from operations.dashboard import command
from operations.doctor.google import ENDPOINT
from operations.options import Cloud
from operations.outputs import Outputs
from operations.target import Target
from tests.fakes.prometheus import StandIn, serving
from tests.operations.conftest import Clone
from tests.operations.support import run

LINK = "https://console.cloud.google.com/monitoring/dashboards/builder/abc?project=my-project"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    values: dict[str, object] = {command.OUTPUT: LINK}
    monkeypatch.setattr(outputs, "read", lambda _: Outputs("203.0.113.7", (), {}, values))
    return values


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    links: list[str] = []

    def remember(link: str) -> bool:
        links.append(link)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    return links


def test_the_link_of_the_outputs_is_printed_and_nothing_is_opened(
    clone: Clone, exported: dict[str, object], opened: list[str]
) -> None:
    done = run("dashboard", "--stack", "one", root=clone.root)
    assert (done.returncode, done.stdout) == (0, f"{LINK}\n")
    assert json.loads(run("dashboard", "--stack", "one", "--output", "json", root=clone.root).stdout) == {
        "stack": "one",
        "cloud": "google",
        "url": LINK,
    }
    assert opened == []


def test_the_link_is_opened_where_that_is_asked_for(
    clone: Clone, exported: dict[str, object], opened: list[str]
) -> None:
    assert run("dashboard", "--stack", "one", "--open", root=clone.root).returncode == 0
    assert opened == [LINK]


def test_without_a_browser_the_link_is_printed_all_the_same(
    clone: Clone, exported: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    done = run("dashboard", "--stack", "one", "--open", root=clone.root)
    assert (done.returncode, done.stdout) == (3, f"{LINK}\n")
    assert "No browser can be opened" in done.stderr


def test_a_cloud_of_this_machine_has_no_console_to_be_opened(
    clone: Clone, exported: dict[str, object], opened: list[str]
) -> None:
    done = run("dashboard", "--stack", "one", "--cloud", "laptop", "--open", root=clone.root)
    assert done.returncode == 2
    assert "no console" in done.stderr
    assert opened == []


def test_a_stack_that_says_so_has_no_dashboard(clone: Clone, exported: dict[str, object]) -> None:
    exported.clear()
    clone.add("  llmd-gke:monitoring: {dashboard: false}\n")
    done = run("dashboard", "--stack", "one", root=clone.root)
    assert done.returncode == 7
    assert "dashboard: false" in done.stderr
    assert "Fix: set it to true in Pulumi.one.yaml, then pulumi up --stack one" in done.stderr


def test_the_grafana_file_is_made_without_a_stack_that_is_up(clone: Clone, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    done = run("dashboard", "--stack", "one", "--grafana", str(file), root=clone.root)
    assert (done.returncode, done.stdout) == (0, f"Wrote {file}: llmd-one: model serving\n")
    titles = [one["title"] for one in json.loads(file.read_text())["panels"] if one["type"] == "timeseries"]
    assert titles == [panel.title for panel in panels(Target("one", Cloud.GOOGLE, clone.root).settings)]
    assert run("dashboard", "--stack", "one", "--grafana", "-", root=clone.root).stdout == file.read_text()


def test_the_picture_is_drawn_from_what_prometheus_answers(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = next(one for one in panels(Target("one", Cloud.GOOGLE, clone.root).settings) if one.key == "requests")
    stand_in = StandIn({requests.queries[0].promql: [({"model": "qwen"}, lambda at: 3.0)]})
    file = tmp_path / "one.svg"
    with serving(stand_in) as url:
        monkeypatch.setenv(ENDPOINT, url)
        done = run("dashboard", "--stack", "one", "--picture", str(file), "--minutes", "10", root=clone.root)
    assert (done.returncode, done.stdout) == (0, f"Wrote {file}: llmd-one: model serving\n"), done.stderr
    assert ">qwen</text>" in file.read_text()
    assert {path.rsplit("/", 1)[-1] for path, _, _ in stand_in.asked} == {"query_range"}
