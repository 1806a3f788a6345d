"""Which failed updates the laptop cloud repeats by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from localcloud.cluster import controllers, transient_errors
from localcloud.cluster.backend import LaptopCloud
from localcloud.common.workdir import Workdir

STACK = "urn:pulumi:local::llmd-gke::pulumi:pulumi:Stack::llmd-gke-local"
CRASHED = "an unhandled error occurred: Program exited with non-zero exit code: 1"
RELEASE = "urn:pulumi:local::llmd-gke::llmd-gke:platform:Platform$kubernetes:helm.sh/v3:Release::platform-lws"
TIME = "failed to create resource: context deadline exceeded"
SERVICE = (
    "urn:pulumi:local::llmd-gke::llmd-gke:serving:Model$kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService::q"
)
AWAY = (
    'Internal error occurred: failed calling webhook "llminferenceservice.validator": failed to call webhook: Post '
    '"https://llmisvc-webhook-server-service.kserve.svc:443/validate": dial tcp 10.96.180.115:443: connect: '
    "connection refused"
)
SCHEMA = (
    "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: unexpected "
    "error when reading response body. Please retry. Original error: net/http: request canceled (Client.Timeout or "
    "context cancellation while reading body)"
)
STOPPED = (SERVICE, "error", "failed to run remediation: context canceled")
UNTRUSTED = AWAY.replace("connection refused", "x509: certificate signed by unknown authority")
SUMMARY, PREVIEW = ("", "error", "update failed\n"), ("", "error", "preview failed\n")


@pytest.mark.parametrize(
    ("diagnostics", "repeated"),
    [
        ([(RELEASE, "error", TIME), SUMMARY], True),
        ([(RELEASE, "error", TIME), (RELEASE, "error", "forbidden"), SUMMARY], False),
        ([(SERVICE, "error", AWAY), SUMMARY], True),
        ([(SERVICE, "error", SCHEMA), STOPPED, SUMMARY], True),
        ([STOPPED, SUMMARY], False),
        ([(SERVICE, "error", AWAY), PREVIEW], True),
        ([(SERVICE, "error", AWAY), (STACK, "error", CRASHED), SUMMARY], False),
        ([(SERVICE, "error", AWAY), (RELEASE, "error", TIME), SUMMARY], True),
        ([(SERVICE, "error", UNTRUSTED), SUMMARY], True),
        ([(SERVICE, "error", UNTRUSTED.replace("failed calling webhook", "failed")), SUMMARY], False),
        ([(SERVICE, "error", "dial tcp 10.0.0.1:443: connect: connection refused"), SUMMARY], False),
        ([(RELEASE, "warning", TIME), (RELEASE, "error", "forbidden")], False),
        ([(RELEASE, "warning", TIME)], False),
        ([SUMMARY], False),
        ([], False),
    ],
)
def test_an_update_is_repeated_when_all_that_went_wrong_passes(
    tmp_path: Path, diagnostics: list[tuple[str, str, str]], repeated: bool
) -> None:
    log = tmp_path / "events.jsonl"
    write_log(log, diagnostics)
    assert bool(transient_errors.cause(log)) is repeated


def write_log(log: Path, diagnostics: list[tuple[str, str, str]]) -> None:
    events = [
        {"diagnosticEvent": ({"urn": urn} if urn else {}) | {"severity": kind, "message": text}}
        for urn, kind, text in diagnostics
    ]
    lines = "".join(f"{json.dumps(event)}\n" for event in [{"preludeEvent": {}}, *events])
    log.write_text(f'{lines}{{"diagnosticEv')  # the engine was killed in the middle of a line


@pytest.mark.parametrize(("busy", "status"), [(3, 0), (99, 1)])
def test_an_update_on_a_busy_machine_goes_on_until_it_succeeds_or_has_failed_five_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int, status: int
) -> None:
    monkeypatch.setattr(controllers, "wait", lambda *_: None)
    updates: list[Path] = []

    def run(events: Path | None = None, watch: Callable[[], bool] | None = None) -> int:
        assert events is not None
        updates.append(events)
        write_log(events, [(RELEASE, "error", TIME), SUMMARY] if len(updates) <= busy else [])
        return int(len(updates) <= busy)

    assert LaptopCloud(Workdir(tmp_path, tmp_path)).update(run, Console(quiet=True)) == status
    assert len(updates) == min(busy + 1, 5)
