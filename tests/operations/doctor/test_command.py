from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.operations.doctor.emulated import PROJECT, Google
from tests.operations.support import Done, run

ROOT = Path(__file__).resolve().parents[3]


def doctor(root: Path, *arguments: str, **environment: str) -> Done:
    return run("doctor", *arguments, root=root, environment=environment)


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    text = (ROOT / "Pulumi.eu4a.yaml").read_text()
    (tmp_path / "Pulumi.eu4a.yaml").write_text(re.sub(r"gcp:project: .*", f"gcp:project: {PROJECT}", text))
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    return tmp_path


def test_the_command_leaves_1_when_something_would_stop_the_stack_and_names_the_fix(
    google: Google, stack: Path
) -> None:
    google.conditions(quota={"CT6E": 0})
    done = doctor(stack, "--stack", "eu4a", "--output", "json")
    assert done.returncode == 1, done.stderr
    result = {one["check"]: one for one in json.loads(done.stdout)["findings"]}
    assert result["chip quota"]["verdict"] == "failed"
    assert "console.cloud.google.com" in result["chip quota"]["fix"]
    assert result["billing"]["verdict"] == "ok"


def test_nothing_is_made_without_consent(google: Google, stack: Path) -> None:
    done = doctor(stack, "--stack", "eu4a", "--probe")
    assert done.returncode == 4, done.stderr
    assert "--yes" in done.stderr
    assert google.made() == []


def test_a_zone_without_a_probe_is_refused_before_anything_is_asked(google: Google, stack: Path) -> None:
    done = doctor(stack, "--stack", "eu4a", "--zone", "europe-west4-b")
    assert done.returncode == 2
    assert "Fix: add --probe" in done.stderr
    assert google.calls == []


def test_a_stack_of_google_on_stand_ins_is_told_how_google_is_asked(google: Google, stack: Path) -> None:
    done = doctor(stack, "--stack", "eu4a", "--cloud", "rehearsal")
    assert "nothing was asked of Google" in done.stdout
    assert "Fix: llmd-gke doctor --stack eu4a --cloud google" in done.stdout
    assert "lives in" not in done.stdout
    assert google.calls == []


def test_a_stack_of_this_machine_needs_no_google(google: Google, stack: Path) -> None:
    (stack / "Pulumi.local.yaml").write_text((ROOT / "Pulumi.local.yaml").read_text())
    done = doctor(stack, "--stack", "local")
    assert done.returncode == 0, done.stderr
    assert "nothing to ask Google" in done.stdout
    assert google.calls == []


def test_before_a_laptop_cloud_is_up_its_google_is_asked_and_has_everything(stack: Path, tmp_path: Path) -> None:
    (stack / "Pulumi.local.yaml").write_text((ROOT / "Pulumi.local.yaml").read_text())
    home = str(tmp_path / "laptop")
    done = doctor(stack, "--stack", "local", "--cloud", "laptop", "--probe", "--output", "json", LLMD_GKE_HOME=home)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)["findings"]
    assert {one["verdict"] for one in data} == {"ok"}
    assert {one["check"] for one in data} >= {"APIs", "billing", "chip quota", "capacity of v6e4", "network"}
    assert not {"images", "weights", "Kubernetes sign-in"} & {one["check"] for one in data}
    assert "at list price" not in done.stderr, "nobody is asked about money"


def test_the_entries_of_a_list_are_tried_in_its_order_and_the_first_with_hosts_is_named(
    google: Google, stack: Path
) -> None:
    file = stack / "Pulumi.eu4a.yaml"
    capacity = "capacity: [{kind: on-demand}, {kind: on-demand, zone: us-east5-a}, {kind: spot}]"
    text = file.read_text().replace("europe-west4-a", "us-east5-b")
    assert text.count("      topology: 2x2\n") == 1
    listed = text.replace("      topology: 2x2\n", f"      topology: 2x2\n      {capacity}\n")
    file.write_text(listed.replace("      earlyHosts: 1 ", "      earlyHosts: 0 "))
    google.conditions(stockout=["us-east5-b"])
    done = doctor(stack, "--stack", "eu4a", "--probe", "--yes", "--output", "json")
    tried = [line for line in done.stderr.splitlines() if line.startswith("trying to create")]
    assert [line.split(" for ")[1].split()[0] for line in tried] == ["v6e4-on-demand", "v6e4-on-demand-a", "v6e4-spot"]
    listed = json.loads(done.stdout)["findings"]
    seen = {one["check"]: (one["verdict"], one["said"]) for one in listed if one["check"].startswith("capacity of ")}
    assert [verdict for verdict, _ in seen.values()] == ["warning", "ok", "warning", "ok"]
    assert seen["capacity of v6e4"][1] == "its hosts would come from v6e4-on-demand-a now"
