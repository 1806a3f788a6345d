"""What may be wrong on a machine, or go wrong in a cluster: one clear message each, and the next run works."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable

from rich.console import Console

from localcloud.cluster import crashes
from localcloud.tests.real_kubernetes import bare_cluster
from localcloud.tests.real_kubernetes.harness import CONTROL_PLANE, Laptop, until

Another = Callable[[str], Laptop]
FAILED_SET_UP = 3


def test_a_killed_api_server_and_a_killed_etcd_come_back_with_what_was_stored(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE)
    one.kubectl("create", "namespace", "kept")
    for name in ("kube-apiserver", "etcd"):
        process = one.outer(name)
        assert process is not None
        process.kill()
        until(lambda name=name: one.process(name).restarts == 1, f"{name} was seen to end")
        until(lambda name=name: one.process(name).state == "ready", f"{name} is ready again")
    until(lambda: "kept" in one.kubectl("get", "namespaces", "-o", "name", check=False), "the API server answers")
    shown = one.cluster("status").stdout
    assert "kube-apiserver has exited 1 time (last: signal SIGKILL)" in shown
    assert "etcd has exited 1 time (last: signal SIGKILL)" in shown


def test_a_gateway_that_keeps_ending_is_found_within_a_minute_with_the_cause(another: Another) -> None:
    one = another("one")
    one.start(*CONTROL_PLANE, "gateway")
    # Whatever the daemon lacks: here what is laid out for it before the start.
    shutil.rmtree(one.layout.crds)
    one.workdir.cloud.mkdir(parents=True, exist_ok=True)
    (one.workdir.cloud / "google.json").write_text(json.dumps(bare_cluster.CLOUD))
    watch = crashes.Watch(one.workdir, Console(quiet=True))
    until(watch, "the gateway has exited three times", 60)
    assert watch.cause.startswith("gateway has exited 3 times (last: status 3)")
    (problem,) = [line for line in crashes.problems(one.workdir) if line.startswith("gateway")]
    assert "Fix: make up CLOUD=laptop, which downloads them" in problem


def test_what_can_no_longer_be_destroyed_is_removed_all_the_same_and_said_so(small: Laptop) -> None:
    small.up()
    small.cluster("stop")
    (small.layout.etcd / "member" / "snap" / "db").write_bytes(b"no database" * 4096)
    failed = small.down(check=False)
    assert failed.returncode == 1
    assert "The cluster did not start: etcd failed to start" in failed.stdout
    assert "The end of " in failed.stdout
    assert "Traceback" not in failed.stdout
    assert "The laptop cloud is still removed" in failed.stdout
    assert (small.workdir.home / "last-logs" / "etcd.log").exists()
    assert small.everything() == []
    assert small.state() is None
    small.up()
    assert small.state() is not None


LIMITED = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
"""Inside a user namespace of its own: no further one can be made."""


def limited(one: Laptop, *drop: str) -> subprocess.CompletedProcess[str]:
    """Starts etcd where user namespaces are off."""
    command = [sys.executable, "-m", "localcloud", "cluster", "start", "--only", "etcd"]
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", LIMITED, "sh", *drop, *command],
        env=one.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )


def test_without_user_namespaces_the_setting_is_named_and_nothing_is_left(another: Another) -> None:
    one = another("one")
    failed = limited(one, "setpriv", "--bounding-set=-all", "--inh-caps=-all")
    assert failed.returncode == FAILED_SET_UP, failed.stdout
    assert "user.max_user_namespaces" in failed.stdout
    assert "Fix: sudo sysctl -w user.max_user_namespaces=65536\nor run the command as root." in failed.stdout
    assert one.everything() == []


def test_root_does_without_user_namespaces(another: Another) -> None:
    one = another("one")
    started = limited(one)
    assert started.returncode == 0, started.stdout
    assert "cluster  ready" in started.stdout
