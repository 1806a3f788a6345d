"""What ``doctor`` says about a project, asked of the emulator of Google's APIs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from llmd_gke.catalog.permissions import GOOGLE
from llmd_gke.settings import StackSettings
from localcloud.google_api.rules.container import OFFERED
from operations.doctor import availability, project, quota, run
from operations.doctor.context import Context
from operations.doctor.google import ENDPOINT
from operations.doctor.result import CheckStatus, Result
from operations.doctor.sign_in import CHECK
from tests.operations.doctor.asking import ask, only
from tests.operations.doctor.emulated import PROJECT, ZONE, Google
from tests.operations.support import program

SERVER_CONFIG = "container.projects.locations.getServerConfig"
GOOGLE_CHECKS = [
    check
    for check in run.CHECKS
    if check.name != CHECK and (check.google or check.name in ("charts", "images", "weights"))
]


def test_a_project_that_has_everything_is_found_sound(google: Google, context: Context) -> None:
    results = run.run(context, GOOGLE_CHECKS)
    assert [(one.check, one.message) for one in results if one.status is not CheckStatus.OK] == []
    assert {one.check for one in results} >= {"project", "billing", "APIs", "permissions", "chip quota", "weights"}
    assert "64 chips" in only(results, "chip quota").message
    assert OFFERED[-1] in only(results, "GKE version").message


@pytest.mark.parametrize("check", ["billing", CHECK])
def test_the_emulator_is_asked_past_a_proxy(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, check: str
) -> None:
    answer = '#!/bin/sh\necho \'{"status": {"token": "emulator"}}\'\n'
    program(tmp_path / "gke-gcloud-auth-plugin", answer, monkeypatch)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")  # nobody listens there
    google.conditions(identities={"emulator": "me@example.com"})
    (result,) = ask(context, check)
    assert result.status is CheckStatus.OK


def test_the_checks_run_at_the_same_time(google: Google, context: Context) -> None:
    # All answers are held until the one that is asked last has been asked, too.
    google.emulator.hold = "."
    done: list[list[Result]] = []
    thread = threading.Thread(target=lambda: done.append(run.run(context, GOOGLE_CHECKS)), daemon=True)
    thread.start()
    ends = time.monotonic() + 60
    asked: set[str] = set()
    while not {"billingInfo", "serverConfig", "services:batchGet"} <= asked and time.monotonic() < ends:
        asked = {path.rsplit("/", 1)[-1] for path in list(google.emulator.asked)}
        thread.join(0.05)
    assert {"billingInfo", "serverConfig", "services:batchGet"} <= asked
    google.emulator.held.set()
    thread.join(60)
    assert done


def test_a_question_that_nobody_answers_does_not_hold_the_rest(google: Google, context: Context) -> None:
    google.emulator.hold = "serverConfig"
    checks = [check for check in run.CHECKS if check.name in ("GKE version", "billing")]
    results = run.run(context, checks, limit_seconds=5)
    assert only(results, "billing").status is CheckStatus.OK
    late = only(results, "GKE version")
    assert late.status is CheckStatus.FAILED
    assert "no answer within 5 s" in late.message


@pytest.mark.parametrize(
    ("code", "problem", "fix"),
    [(403, "lacks permission", "roles/viewer"), (429, "429 3 times", "try again"), (503, "503 3 times", "try again")],
)
def test_an_error_of_googles_names_its_cause_and_a_fix(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch, code: int, problem: str, *, fix: str
) -> None:
    # The client library waits longer and longer between its attempts.
    monkeypatch.setattr("googleapiclient.http.time.sleep", lambda _: None)
    google.fails(SERVER_CONFIG, code)
    (result,) = ask(context, "GKE version")
    assert result.status is CheckStatus.FAILED
    assert problem in result.message
    assert fix in result.fix


def test_a_server_that_takes_too_long_is_not_waited_for(google: Google, context: Context) -> None:
    google.emulator.hold = "billingInfo"
    context.google.seconds = 1
    (results,) = run.results(run.Check("billing", project.billing), context)
    assert results.status is CheckStatus.FAILED
    assert "did not answer within 1 s" in results.message


def test_a_busy_moment_of_googles_is_tried_again(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("googleapiclient.http.time.sleep", waited.append)
    google.fails(SERVER_CONFIG, 503, "backend error", times=1)
    (result,) = ask(context, "GKE version")
    assert result.status is CheckStatus.OK
    assert len(waited) == 1


def test_without_credentials_google_is_not_asked(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENDPOINT)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/there/is/no/such/file.json")
    checks = [check for check in run.CHECKS if check.google]
    results = run.run(context, checks)
    assert results[0].status is CheckStatus.FAILED
    assert results[0].fix == project.LOGIN
    assert {one.status for one in results[1:]} == {CheckStatus.SKIPPED}
    assert google.calls == []


def test_another_project_looks_like_none(google: Google, eu4a: StackSettings) -> None:
    google.fails("cloudresourcemanager.projects.get", 403, "The caller does not have permission")
    (result,) = ask(Context("eu4a", eu4a.model_copy(update={"project": "somebody-elses"})), "project")
    assert result.status is CheckStatus.FAILED
    assert "somebody-elses" in result.message
    assert "pulumi config set gcp:project" in result.fix


@pytest.mark.parametrize(
    ("facts", "check", "message", "fix"),
    [
        ({"billing": False}, "billing", "no billing", "billing"),
        ({"projectState": "DELETE_REQUESTED"}, "project", "DELETE_REQUESTED", ""),
        ({"enabledApis": []}, "GKE version", "container.googleapis.com is disabled", "gcloud services enable"),
        ({"versions": {"REGULAR": ["1.33.9-gke.1000000"]}}, "GKE version", "", f"RAPID has {OFFERED[-1]}"),
    ],
)
def test_what_stops_the_stack_is_named_with_its_fix(
    google: Google, context: Context, facts: dict[str, object], check: str, message: str, *, fix: str
) -> None:
    google.conditions(**facts)
    (result,) = ask(context, check)
    assert (result.status, message in result.message, fix in result.fix) == (CheckStatus.FAILED, True, True), result


@pytest.mark.parametrize(
    ("api", "verdict"), [("compute", CheckStatus.FAILED), ("networkservices", CheckStatus.WARNING)]
)
def test_apis_that_are_off_are_named_with_the_command(
    google: Google, context: Context, api: str, verdict: CheckStatus
) -> None:
    google.conditions(enabledApis=[f"{one}.googleapis.com" for one in context.settings.apis if one != api])
    (result,) = ask(context, "APIs")
    assert result.status is verdict
    assert result.fix == f"gcloud services enable {api}.googleapis.com --project {PROJECT}"


def test_missing_permissions_are_listed_also_when_one_question_may_not_name_all(
    google: Google, eu4a: StackSettings
) -> None:
    everything = (*GOOGLE, "kubernetes:helm.sh/v3:Release", "kubernetes:core/v1:Namespace")
    (result,) = ask(Context("eu4a", eu4a, types=everything), "permissions")
    assert result.status is CheckStatus.OK, result.message
    google.conditions(permissions=["container.clusters.create"])
    (result,) = ask(Context("eu4a", eu4a, types=everything), "permissions")
    assert (result.status, "container.clusters.create" in result.message) == (CheckStatus.FAILED, False)
    assert "container.clusterRoles.escalate" in result.message
    assert "container.clusters.delete" in result.message


def test_a_full_version_has_to_be_offered_as_it_is(google: Google, eu4a: StackSettings) -> None:
    exact = eu4a.cluster.model_copy(update={"min_version": "1.35.1-gke.5"})
    result = list(availability.gke_version(Context("eu4a", eu4a.model_copy(update={"cluster": exact}))))
    assert result[0].status is CheckStatus.FAILED
    assert "1.35.2-gke.1751000" in result[0].message


def test_a_machine_type_that_the_zone_lacks_names_the_zones_that_have_it(google: Google, eu4a: StackSettings) -> None:
    (pool,) = eu4a.pools
    elsewhere = eu4a.model_copy(update={"pools": (pool.model_copy(update={"zone": "europe-west4-b"}),)})
    result = [
        one.message for one in ask(Context("eu4a", elsewhere), "machine type") if one.status is CheckStatus.FAILED
    ]
    assert len(result) == 1
    assert result[0].startswith("ct6e-standard-4t is not offered in europe-west4-b; it is offered in ")
    assert {ZONE, "us-east5-a"} <= set(result[0].partition("it is offered in ")[2].split(", "))


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [("0", CheckStatus.FAILED), ("15", CheckStatus.FAILED), ("16", CheckStatus.OK), ("-1", CheckStatus.OK)],
)
def test_the_chips_of_full_pools_are_held_against_the_quota_of_their_family(
    google: Google, context: Context, limit: str, verdict: CheckStatus
) -> None:
    google.conditions(quota={"CT6E": int(limit)})
    (result,) = ask(context, "chip quota")
    assert result.status is verdict
    assert "TPUS_PER_TPU_FAMILY (CT6E) in europe-west4" in result.message
    assert any("tpus_per_tpu_family" in path for path in google.calls)


def test_spot_pools_draw_on_a_quota_of_their_own(google: Google, eu4a: StackSettings) -> None:
    (pool,) = eu4a.pools
    spot = eu4a.model_copy(update={"pools": (pool.model_copy(update={"capacity": "spot"}),)})
    (result,) = list(quota.chips(Context("eu4a", spot)))
    assert "PREEMPTIBLE_TPU_V6E in europe-west4" in result.message


def test_of_several_limits_the_one_for_the_place_counts() -> None:
    limits = [
        {
            "quotaBuckets": [
                {"effectiveLimit": "4"},
                {"effectiveLimit": "32", "dimensions": {"region": "us-east5"}},
                {"effectiveLimit": "8", "dimensions": {"region": "europe-west4"}},
                {"dimensions": {"region": "europe-west4", "tpu_family": "CT6E"}},
            ]
        }
    ]
    assert quota.effective(limits, {"region": "europe-west4", "tpu_family": "CT6E"}) == 0
    assert quota.effective(limits, {"region": "europe-west4", "tpu_family": "CT5P"}) == 8
    assert quota.effective(limits, {"region": "asia-east1"}) == 4
    assert quota.effective([], {}) is None


def test_the_quota_of_all_gpus_which_new_projects_lack_comes_first(google: Google, t4: StackSettings) -> None:
    google.conditions(quota={"GPUS_ALL_REGIONS": 0})
    everywhere, in_region = quota.chips(Context("gpu", t4))
    assert everywhere.status is CheckStatus.FAILED
    assert everywhere.message.startswith("GPUS_ALL_REGIONS, for all regions together, is 0 chips")
    assert "NVIDIA_T4_GPUS in europe-west4" in in_region.message


def test_a_regional_quota_without_room_is_named_and_forgiven_when_the_stack_itself_uses_it(
    google: Google, context: Context, eu4a: StackSettings
) -> None:
    google.conditions(quota={"HDB_TOTAL_GB": 500})
    (result,) = ask(context, "quota of the region")
    assert result.status is CheckStatus.FAILED
    assert "HDB_TOTAL_GB has 500 of 500 left, but 600 are needed" in result.message
    google.make_cluster(eu4a)
    (result,) = ask(Context("eu4a", eu4a), "quota of the region")
    assert result.status is CheckStatus.WARNING


def test_a_left_over_network_is_found_before_it_stops_the_stack(
    google: Google, context: Context, eu4a: StackSettings
) -> None:
    google.make_network(eu4a.cluster.name)
    assert ask(context, "network")[0].status is CheckStatus.FAILED
    google.make_cluster(eu4a)
    assert ask(Context("eu4a", eu4a), "network")[0].status is CheckStatus.OK
