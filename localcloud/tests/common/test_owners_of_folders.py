"""Programs of the cache are run, and the passphrase is kept in the home: both folders are the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_common.problems import BadInput
from localcloud.common import workdir
from localcloud.common.workdir import Workdir, cache_folder, check_owner
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import home


def seen(monkeypatch: pytest.MonkeyPatch, **changes: int) -> None:
    """Every folder looks like one with another owner, group or mode."""
    real = Path.stat

    def stat(self: Path, **options: bool) -> os.stat_result:
        fields = list(real(self, **options))
        for index, name in enumerate(("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid")):
            fields[index] = changes.get(name, fields[index])
        return os.stat_result(fields)

    monkeypatch.setattr(workdir.Path, "stat", stat)


def test_a_cache_of_somebody_else_or_that_anybody_may_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    for mode in (0o777, 0o1777, 0o703):
        tmp_path.chmod(mode)
        with pytest.raises(BadInput, match="is writable by every user"):
            cache_folder()
    seen(monkeypatch, st_uid=os.geteuid() + 1)
    with pytest.raises(BadInput, match=r"(?s)belongs to another user.*Fix: .*LLMD_GKE_CACHE"):
        cache_folder()


def test_a_group_of_others_may_not_write_and_the_users_own_loses_the_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o775)
    check_owner(tmp_path, "c", "f")
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    tmp_path.chmod(0o775)
    seen(monkeypatch, st_gid=os.getegid() + 1)
    with pytest.raises(BadInput, match="by the group"):
        check_owner(tmp_path, "c", "f")


def test_a_home_of_somebody_else_is_refused_before_a_passphrase_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: llmd-gke\n")
    workdir = Workdir(tmp_path, tmp_path / "home")
    workdir.home.mkdir(mode=0o700)
    seen(monkeypatch, st_uid=os.geteuid() + 1)
    with pytest.raises(BadInput, match="belongs to another user"):
        home.prepare(workdir, Engine(Path("/usr/bin/true"), "v0", "test"))
    assert not workdir.passphrase.exists()
