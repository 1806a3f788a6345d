"""Starting, stopping and what may go wrong between: nothing is left, and the next run works."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from localcloud.common import cluster_renewal as renew
from localcloud.linux_namespaces import discover
from localcloud.linux_namespaces.addresses import DNS_ENDPOINT
from localcloud.tests.real_kubernetes.harness import CONTROL_PLANE, Laptop, mounts_below, until

Another = Callable[[str], Laptop]


def test_stopping_leaves_no_process_and_no_mount_and_keeps_what_was_stored(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    one.kubectl("create", "namespace", "kept")
    assert "kept" in one.kubectl("get", "namespaces", "-o", "name")
    one.cluster("stop")
    assert one.everything() == []
    assert mounts_below(one.workdir.home) == []
    one.start(*CONTROL_PLANE)
    assert "kept" in one.kubectl("get", "namespaces", "-o", "name")


def test_two_clouds_side_by_side_have_the_same_addresses_and_nothing_in_common(another: Another) -> None:
    one, two = another("one"), another("two")
    one.start(*CONTROL_PLANE)
    two.start(*CONTROL_PLANE)
    for server in ("https://172.16.0.2", f"https://{DNS_ENDPOINT}"):
        assert one.kubectl("--server", server, "get", "--raw", "/readyz") == "ok"
    one.kubectl("create", "namespace", "only-here")
    assert "only-here" in one.kubectl("get", "namespaces", "-o", "name")
    assert "only-here" not in two.kubectl("get", "namespaces", "-o", "name")
    one.cluster("stop")
    assert two.kubectl("get", "--raw", "/readyz") == "ok"


def test_nothing_inside_can_reach_another_machine_or_a_name_server(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    tried = one.python(
        "import socket\n"
        "for target in (('192.0.2.1', 443), ('34.118.224.1', 443), ('169.254.169.254', 80)):\n"
        "    try: socket.create_connection(target, timeout=5); print('reached', target)\n"
        "    except OSError as error: print(error)\n"
        "try: print(socket.getaddrinfo('container.googleapis.com', 443))\n"
        "except OSError as error: print('no address')\n"
    )
    assert tried.stdout.splitlines() == ["[Errno 101] Network is unreachable"] * 3 + ["no address"]


@pytest.mark.parametrize("victim", ["supervisor", "launcher"])
def test_killing_the_first_process_ends_everything_and_the_next_start_works(another: Another, victim: str) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    namespaces = one.namespaces()
    assert namespaces is not None
    assert namespaces.launcher is not None
    everything = list(namespaces.processes())
    (namespaces.init if victim == "supervisor" else namespaces.launcher).kill()
    _, alive = psutil.wait_procs(everything, timeout=20)
    assert alive == []
    until(lambda: not one.everything(), "the launcher ends, too")
    assert "not running" in one.cluster("status", check=False).stdout
    one.start(*CONTROL_PLANE)
    assert one.kubectl("get", "--raw", "/readyz") == "ok"


def test_a_cloud_whose_folder_was_removed_while_it_ran_is_ended_by_the_next_start(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    namespaces = one.namespaces()
    assert namespaces is not None
    one.layout.root.rename(one.folder / "removed")
    one.start(*CONTROL_PLANE)
    assert not psutil.pid_exists(namespaces.init.pid)
    assert one.kubectl("get", "--raw", "/readyz") == "ok"


def test_ctrl_c_in_the_middle_of_a_start_leaves_nothing(another: Another) -> None:
    one = another("one")
    with one.started("cluster", "start", *(word for name in CONTROL_PLANE for word in ("--only", name))) as starting:
        until(lambda: discover.supervisors(one.workdir.home), "the supervisor runs")
        starting.send_signal(signal.SIGINT)
        assert starting.wait(timeout=60) == 130
    assert one.everything() == []
    one.start(*CONTROL_PLANE)


def test_a_start_whose_command_was_killed_is_taken_over_by_the_next(another: Another) -> None:
    one = another("one")
    with one.started("cluster", "start", *(word for name in CONTROL_PLANE for word in ("--only", name))) as starting:
        until(lambda: discover.running(one.workdir.home), "the supervisor runs")
        starting.kill()
        starting.wait()
    namespaces = one.namespaces()
    assert namespaces is not None, "it goes on without the command, as after a closed terminal"
    one.start(*CONTROL_PLANE)
    after = one.namespaces()
    assert after is not None
    assert after.init.pid == namespaces.init.pid


MAKE_CLUSTER = """
import sys
from localcloud.providers.protocol.faults import Faults
from localcloud.google_api.rules import control_plane
from localcloud.google_api.rules.resource_type import CloudState, TargetResource
from localcloud.google_api.rules.references import CLUSTER
control_plane.create(CloudState({}, Faults()), TargetResource(CLUSTER, sys.argv[1], {}, {}))
"""
"""What the Google stand-in does when the program makes a cluster, the only one in its cloud."""


def test_the_programs_second_cluster_finds_nothing_of_the_first(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE, "kube-controller-manager")
    one.kubectl("create", "namespace", "kept")
    volume = one.layout.pods / "kept_pod"
    volume.mkdir()
    one.python(MAKE_CLUSTER, "first")
    assert "namespace/kept" in one.kubectl("get", "namespaces", "-o", "name").split(), "nothing had to be emptied"
    before, namespaces = {process.name: process.pid for process in one.status().processes}, one.namespaces()

    one.python(MAKE_CLUSTER, "second")
    assert "namespace/kept" not in one.kubectl("get", "namespaces", "-o", "name").split()
    assert not volume.exists()
    after = one.status()
    assert after.state == "ready"
    assert {process.name: process.state for process in after.processes} == dict.fromkeys(before, "ready")
    assert not {process.pid for process in after.processes} & set(before.values()), "every process is a new one"
    assert not renew.asked(one.layout).exists()
    now = one.namespaces()
    assert now is not None
    assert namespaces is not None
    assert now.init.pid == namespaces.init.pid, "the namespaces stay"


def test_status_shows_every_process_with_its_number_and_memory(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    server = one.outer("kube-apiserver")
    assert server is not None
    assert "kube-apiserver" in " ".join(server.cmdline())
    shown = one.cluster("status").stdout
    row = next(line.split() for line in shown.splitlines() if line.startswith("kube-apiserver"))
    assert row[1:3] == ["ready", str(server.pid)]
    assert int(row[3]) > 100, "MB of memory"
    assert str(one.layout.logs) in shown


def test_in_a_shell_pulumi_and_kubectl_work_and_are_inside(small: Laptop) -> None:
    script = "kubectl get --raw /readyz; echo; readlink /proc/self/ns/net; pulumi stack ls; kubectl config view\n"
    done = subprocess.run(
        [sys.executable, "-m", "localcloud", "shell"],
        env={**small.environment, "SHELL": "/bin/sh"},
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    namespaces = small.namespaces()
    assert namespaces is not None
    lines = done.stdout.splitlines()
    assert "ok" in lines
    assert discover.namespace(namespaces.init.pid, "net") in lines
    assert any(line.startswith("NAME") for line in lines), "the table of stacks"
    assert "https://172.16.0.2" in done.stdout


def test_a_program_comes_up_twice_and_goes_down(small: Laptop) -> None:
    small.up()
    namespaces = small.namespaces()
    assert namespaces is not None
    state = small.state()
    assert state is not None
    assert len(state.ids) == 3
    again = small.up().stdout
    assert "3 unchanged" in again or "4 unchanged" in again
    after = small.namespaces()
    assert after is not None
    assert after.init.pid == namespaces.init.pid
    small.down()
    assert small.everything() == []
    assert small.state() is None
    assert small.cloud() == {}
    left = sorted(str(path.relative_to(small.workdir.home)) for path in small.workdir.home.rglob("*") if path.is_file())
    assert not [path for path in left if Path(path).parts[0] in ("cluster", "state", "cloud", "config")]
    assert small.worktree() == ""
