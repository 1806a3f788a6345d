"""Small Go modules, published on this machine only, and wrappers of them; the Go that builds them is the real one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from localcloud.go_builds import build
from localcloud.go_builds.wrapper import BuiltProgram, Wrapper

MODULE, VERSION = "example.test/tools", "v1.2.3"
LIBRARY = f"{MODULE}/words"
SAYS = """package main

import "{library}"

var version = "unset"

func main() {{ println(words.Polite("{name}"), version) }}
"""

EXTRA = "words/more.go"
"""A file that programs do without."""
SAYS_MORE = """package words

import "os"

func init() {
	if os.Getenv("SAY_MORE") != "" {
		println("more")
	}
}
"""


def needs_go() -> None:
    """Skips the test where there is no Go."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed; these tests build small programs with it")


SLOW = """func slow{number}(sums map[string]int, texts []string) int {{
	for index, text := range texts {{
		sums[text+texts[len(texts)-1-index]] += index * {number}
	}}
	return len(sums)
}}

"""
"""A thousand of these take a compiler about a second."""


def publish(proxy: Path, names: tuple[str, ...], slow_functions: int = 0) -> None:
    """Writes the module in the layout of a module proxy (golang.org/ref/mod): a library, and commands that use it."""
    at = proxy / MODULE / "@v"
    at.mkdir(parents=True)
    mod = f"module {MODULE}\n\ngo 1.26\n"
    (at / f"{VERSION}.info").write_text(json.dumps({"Version": VERSION, "Time": "2026-01-01T00:00:00Z"}))
    (at / f"{VERSION}.mod").write_text(mod)
    with zipfile.ZipFile(at / f"{VERSION}.zip", "w") as archive:
        archive.writestr(f"{MODULE}@{VERSION}/go.mod", mod)
        polite = "package words\n\nfunc Polite(word string) string { return word }\n"
        polite += "".join(SLOW.format(number=number) for number in range(slow_functions))
        archive.writestr(f"{MODULE}@{VERSION}/words/words.go", polite)
        archive.writestr(f"{MODULE}@{VERSION}/{EXTRA}", SAYS_MORE)
        for name in names:
            archive.writestr(f"{MODULE}@{VERSION}/cmd/{name}/main.go", SAYS.format(name=name, library=LIBRARY))


@dataclass(frozen=True)
class Shop:
    """A module proxy in a folder, a wrapper of its module, and a cache to build into."""

    folder: Path
    names: tuple[str, ...]

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def user_modules(self) -> Path:
        """The user's own Go module folder."""
        return self.folder / "user-modules"

    @property
    def proxy(self) -> str:
        return f"file://{self.folder / 'proxy'}"

    @property
    def programs(self) -> list[BuiltProgram]:
        wrapper = Wrapper("tools", (MODULE, VERSION), folder=self.folder / "gomod")
        stamps = {"main.version": VERSION}
        return [BuiltProgram(name, f"{MODULE}/cmd/{name}", wrapper, VERSION, stamps) for name in self.names]

    @property
    def apart(self) -> list[BuiltProgram]:
        """The same programs, each of a wrapper of its own."""
        first, second = self.programs
        return [first, replace(second, wrapper=replace(second.wrapper, name="more"))]


def open_shop(folder: Path, monkeypatch: pytest.MonkeyPatch, standard: Path, slow_functions: int = 0) -> Shop:
    """Publishes the module and writes its wrapper; Go finds modules there and nowhere else.

    ``standard`` is a build cache with the standard library, which no test has to compile. ``slow_functions`` makes the
    library of the module slow to compile.
    """
    needs_go()
    names = ("hello", "goodbye")
    shop = Shop(folder, names)
    shutil.copytree(standard, shop.cache / "building" / "standard" / "gocache", copy_function=os.link)
    publish(folder / "proxy", names, slow_functions)
    wrapper = folder / "gomod" / "tools"
    wrapper.mkdir(parents=True)
    tools = "".join(f"tool {MODULE}/cmd/{name}\n" for name in names)
    (wrapper / "go.mod").write_text(f"module test.invalid/tools\n\ngo 1.26\n\n{tools}\nrequire {MODULE} {VERSION}\n")
    settings = {"GOPROXY": shop.proxy, "GONOSUMDB": "*", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    scratch = {"GOMODCACHE": str(folder / "scratch"), "GOFLAGS": "-mod=mod -modcacherw"}
    # The hashes are Go's own: what is published must be what go.sum says.
    subprocess.run(["go", "mod", "tidy"], cwd=wrapper, env={**os.environ, **settings, **scratch}, check=True)
    shutil.copytree(wrapper, wrapper.with_name("more"))
    monkeypatch.setattr(build, "STANDARD", "os")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GOMODCACHE", str(shop.user_modules))
    monkeypatch.delenv("GOFLAGS", raising=False)
    return shop
