"""Which `pulumi` is taken, and which is left aside with what reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from localcloud.go_builds import go_toolchain
from localcloud.pulumi_cli import discover
from localcloud.pulumi_cli.discover import Unsuitable, check_engine, on_path
from localcloud.workflow import home


def fake_pulumi(folder: Path, version: str = "v3.300.1", *, host: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pulumi = folder / "pulumi"
    pulumi.write_text(f"#!/bin/sh\necho {version}\n")
    pulumi.chmod(0o755)
    if host:
        (folder / discover.HOST).write_text("#!/bin/sh\n")
        (folder / discover.HOST).chmod(0o755)
    return pulumi


def test_a_link_is_followed_to_the_folder_with_the_language_host(tmp_path: Path) -> None:
    pulumi = fake_pulumi(tmp_path / "opt")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pulumi").symlink_to(pulumi)
    engine, _ = on_path(str(tmp_path / "bin"))
    assert engine is not None
    assert engine.pulumi == pulumi


@pytest.mark.parametrize(
    ("version", "host", "reason"),
    [
        ("v3.256.9", True, "older than 3.257.0"),
        ("v3.300.1", False, "pulumi-language-python is not next to it"),
        ("nonsense", True, "printed no version"),
    ],
)
def test_an_engine_that_does_not_fit_is_left_aside_with_the_reason(
    tmp_path: Path, version: str, host: bool, reason: str
) -> None:
    verdict = check_engine(fake_pulumi(tmp_path, version, host=host))
    assert isinstance(verdict, Unsuitable)
    assert reason in verdict.reason


def test_a_later_folder_of_the_path_is_tried_when_the_first_does_not_fit(tmp_path: Path) -> None:
    fake_pulumi(tmp_path / "old", "v3.1.0")
    good = fake_pulumi(tmp_path / "new")
    engine, left_aside = on_path(f"{tmp_path / 'old'}:{tmp_path / 'new'}")
    assert engine is not None
    assert engine.pulumi == good
    assert [one.pulumi.parent.name for one in left_aside] == ["old"]


def test_the_wrapper_of_a_rehearsal_is_no_engine(tmp_path: Path) -> None:
    wrapper = fake_pulumi(tmp_path)
    wrapper.write_text(f"#!/bin/sh\n# {home.WRAPPER}\necho v3.300.0\n")
    assert on_path(str(tmp_path)) == (None, [])


def test_a_build_ignores_the_users_go_flags_and_workspace_and_a_newer_go_gets_the_old_json(tmp_path: Path) -> None:
    users = {"GOFLAGS": "-mod=mod", "GOWORK": "/x", "GOARCH": "arm"}
    go = go_toolchain.Go("go", (1, 27), tmp_path, "https://p")
    made = go_toolchain.environment(users, go, Path("/w"))
    assert made["GOFLAGS"].split()[0] == "-mod=readonly"
    assert (made["GOWORK"], made["GOTOOLCHAIN"], "GOARCH" in made) == ("off", "local", False)
    assert made["GOPROXY"].endswith(",https://p")
    assert made["GOEXPERIMENT"] == "nojsonv2"
    assert "GOEXPERIMENT" not in go_toolchain.environment({}, replace(go, version=(1, 26)), Path("/w"))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "compile: writing output: write $WORK/b1/_pkg_.a: no space left on device",
            "The disk of /cache/building ran full",
        ),
        ("github.com/x/y: /usr/lib/go/pkg/tool/compile: signal: killed", "memory ran out"),
    ],
)
def test_what_go_says_becomes_a_cause_and_a_fix(output: str, expected: str) -> None:
    message = str(go_toolchain.explain(output, go_toolchain.Purpose("the engine"), Path("/cache/building")))
    assert expected in message
    assert "Fix:" in message
