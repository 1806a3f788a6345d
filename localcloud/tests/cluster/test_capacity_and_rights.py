from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from llmd_common.problems import SetUpFailed
from localcloud.cluster import capacity_check
from localcloud.common import memory
from localcloud.linux_namespaces import rights

DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone"
UBUNTU = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"


def test_too_little_memory_is_named_with_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_check, "available_mb", lambda: 3500)
    capacity_check.check()
    monkeypatch.setattr(capacity_check, "available_mb", lambda: 1200)
    with pytest.raises(SetUpFailed, match="1200 MB are available, 3500 MB are needed") as failure:
        capacity_check.check()
    assert "\nFix: " in str(failure.value)
    assert failure.value.status == 3


def test_the_memory_limit_of_a_control_group_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{900 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{400 << 20}\n")
    assert memory.available_mb(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_mb(tmp_path) > 500


def works(_options: Sequence[str]) -> str:
    return ""


def refuses(_options: Sequence[str]) -> str:
    return "unshare: unshare failed: Operation not permitted"


def only_without_a_user_namespace(options: Sequence[str]) -> str:
    return refuses(options) if "--user" in options else ""


def test_a_user_namespace_is_taken_where_there_are_any() -> None:
    assert "--map-root-user" in rights.options(works, is_root=True)
    assert "--map-root-user" in rights.options(works, is_root=False)


@pytest.mark.parametrize(
    ("attempt", "switches", "fix"),
    [
        (refuses, [DEBIAN], "Fix: sudo sysctl -w kernel.unprivileged_userns_clone=1\nor run the command as root."),
        (
            only_without_a_user_namespace,
            [UBUNTU],
            "Fix: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\nor run the command as root.",
        ),
        (refuses, [], "Fix: start the container with `--security-opt seccomp=unconfined"),
    ],
)
def test_what_stands_in_another_users_way_is_named_with_what_helps(
    attempt: Callable[[Sequence[str]], str], switches: list[str], fix: str
) -> None:
    with pytest.raises(SetUpFailed) as failure:
        rights.options(attempt, is_root=False, switches=switches)
    assert fix in str(failure.value)
    assert "Operation not permitted" in str(failure.value)
