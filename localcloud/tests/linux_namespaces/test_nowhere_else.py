"""What belongs into the namespaces runs there or not at all, and only one command makes them."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import SetUpFailed, Stale
from llmd_gke.repository import CLONE
from localcloud.cluster import start
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import rights
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow.runner import Runner


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path, tmp_path / ".laptop", "laptop")


def test_the_engine_does_not_run_outside_once_the_laptop_cloud_has_ended(workdir: Workdir, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    engine = tmp_path / "pulumi"
    engine.write_text(f"#!/bin/sh\ntouch {ran}\n")
    engine.chmod(0o755)
    runner = Runner(workdir, Engine(engine, "3.259.0", "a test"))
    with pytest.raises(Stale, match=r"(?s)is not running.*Fix: make up CLOUD=laptop"):
        runner.ask("version")
    assert not ran.exists()


def test_a_command_that_is_process_1_of_a_container_is_not_inside(workdir: Workdir) -> None:
    try:
        rights.options()
    except SetUpFailed as error:
        pytest.skip(str(error))
    code = (
        "import pathlib, sys; from localcloud.linux_namespaces import discover; "
        "print(discover.inside(pathlib.Path(sys.argv[1])))"
    )
    container = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
    done = subprocess.run(
        [*container, sys.executable, "-c", code, str(workdir.home)],
        cwd=CLONE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_two_commands_that_start_the_same_cluster_do_so_one_after_the_other(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, most = 0, 0
    first_in, go_on = threading.Event(), threading.Event()

    def starting(*_: object) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        first_in.set()
        go_on.wait(30)
        at_work -= 1

    monkeypatch.setattr(start, "_start", starting)
    threads = [threading.Thread(target=start.start, args=(workdir, {}, Console())) for _ in range(2)]
    threads[0].start()
    assert first_in.wait(30)
    threads[1].start()
    threads[1].join(0.5)  # without the lock it would be in by now
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert (most, at_work) == (1, 0)
