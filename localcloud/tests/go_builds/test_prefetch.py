"""The next wrapper's modules come while this one's programs are compiled."""

from __future__ import annotations

import io
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.binaries import cache_key, resolve
from localcloud.binaries.table import BuiltProgram
from localcloud.go_builds import build as builder
from localcloud.tests.go_builds.modules import Shop, open_shop


class Two:
    """A shop with two wrappers of a program each, and what Go is asked for them, in order."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        first, second = shop.programs
        shutil.copytree(shop.folder / "gomod" / "tools", shop.folder / "gomod" / "more")
        self.programs: list[BuiltProgram] = [first, replace(second, wrapper=replace(second.wrapper, name="more"))]
        self.asked: list[tuple[str, str]] = []
        self.listed = threading.Event()

    def built(self) -> list[bool]:
        return [cache_key.built(self.shop.cache, one).exists() for one in self.programs]

    def build(self) -> None:
        resolve.build(self.programs, self.shop.cache, Console(file=io.StringIO()))


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standard: Path) -> Two:
    made = Two(open_shop(tmp_path, monkeypatch, standard))
    run = builder.ModuleBuild.run

    def recording(self: builder.ModuleBuild, arguments: list[str], *rest: object) -> str:
        wrapper = self.source.name
        if wrapper == "tools" and arguments[0] == "build":
            assert made.listed.wait(60), "nobody looks at the second wrapper while the first is built"
        made.asked.append((wrapper, arguments[0]))
        if wrapper == "more":
            made.listed.set()
        return run(self, arguments, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builder.ModuleBuild, "run", recording)
    return made


def test_the_second_wrappers_packages_are_listed_before_the_first_is_compiled_and_only_once(two: Two) -> None:
    two.build()
    assert two.built() == [True, True]
    # Without modules, then with modules of its own: once each.
    assert two.asked.count(("more", "list")) == two.asked.count(("tools", "list")) == 2


def test_what_is_wrong_with_the_second_wrapper_is_said_when_its_turn_has_come(two: Two) -> None:
    (two.shop.folder / "gomod" / "more" / "go.sum").write_text("")
    with pytest.raises(SetUpFailed, match=r"go\.sum does not match go\.mod in .*gomod/more"):
        two.build()
    assert two.built() == [True, False]


def test_a_disk_without_room_for_both_gets_one_after_the_other(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    two.listed.set()  # nobody waits for it
    look = builder.capacity_check.look
    needed = 10 + 10 + builder.STANDARD_MB + 2 * builder.PROGRAM_MB
    monkeypatch.setattr(builder.capacity_check, "look", lambda cache: replace(look(cache), cache_mb=needed + 5))
    two.build()
    assert two.built() == [True, True]
    assert [wrapper for wrapper, _ in two.asked] == sorted((wrapper for wrapper, _ in two.asked), reverse=True)


def test_go_that_is_not_wanted_any_more_is_ended(tmp_path: Path) -> None:
    started, ended = threading.Event(), threading.Event()

    def get(on_line: Callable[[str], None]) -> str:
        with subprocess.Popen(["sleep", "600"]) as process:
            started.set()
            try:
                while process.poll() is None:
                    on_line("")
            finally:
                process.kill()
                ended.set()
        return "never"

    prefetch = builder.Prefetch(get)
    assert started.wait(30)
    prefetch.stop()
    assert ended.is_set()
    assert prefetch.result(lambda: None) is None
