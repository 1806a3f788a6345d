"""The part of ``benchmarks/upgrades.py`` that walks upgrades of a whole stack while clients ask.

The stack comes up as an older release leaves it, with the older charts, images and controllers. Then ``llmd-gke
upgrade --apply`` brings it to this release, component by component. What each step costs is read from the answers that
ended during it. Controllers of another version are built from their modules as those of this release are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from llmd_gke.catalog.upgrades import COMPONENTS, Walk
from llmd_gke.catalog.versions import pinned_image
from llmd_gke.repository import CLONE
from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.binaries.table import BY_NAME, CERT_MANAGER, ENVOY_GATEWAY
from localcloud.common.workdir import cache_folder
from localcloud.go_builds import charts, go_toolchain, modules
from localcloud.go_builds.build import builder
from localcloud.go_builds.wrapper import GOMOD, BuiltProgram
from localcloud.nodes.images import TABLE
from localcloud.product import versions
from localcloud.tests.real_kubernetes import front_door, objects
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.steady_load import Load, steady
from localcloud.tests.real_kubernetes.streams import Streams, streams

KINDS = "customresourcedefinitions,deployments,services,serviceaccounts,configmaps,secrets,clusterroles"
OWN = ("kube-", "system:", "sh.helm.")
"""How names begin that are Kubernetes' or Helm's."""


class Other(NamedTuple):
    """Another version of a controller: its chart, program, module and that version."""

    chart: str
    program: str
    module: str
    version: str


OLDER = (
    Other("cert-manager", "cert-manager", CERT_MANAGER, "v1.21.0"),
    Other("gateway-helm", "envoy-gateway", ENVOY_GATEWAY, "v1.8.2"),
)
NEXT = Other("gateway-helm", "envoy-gateway", ENVOY_GATEWAY, "v1.9.1")
"""What breaks the door: ``llmd_gke/catalog/upgrades.toml``."""
_ENVOY, _SERVER = (pinned_image(name).tag for name in ("front-door-envoy", "vllm-tpu"))
IMAGES = {
    f'"{_ENVOY}"': '"distroless-v1.39.2"',
    f'tag = "{_SERVER}"\n\n[images.vllm-openai]': 'tag = "v0.26.0"\n\n[images.vllm-openai]',
}
"""Texts of ``versions.toml``, and those of the older release. Behind both images is one program here: what is walked is
that their pods are replaced.
"""
CALLER = "team-a"
STREAMS = {"qwen": 30, "small": 10}
AFTER = 100
"""Requests, five a second, for which a break is watched."""


def built(others: Iterable[Other]) -> Mapping[Other, Path]:
    """The programs, which stay in the cache."""
    console, paths = Console(stderr=True), dict[Other, Path]()
    with tempfile.TemporaryDirectory(prefix="llmd-gke-others-") as folder:
        copy = shutil.copytree(GOMOD, Path(folder) / "gomod")
        programs = {other: _program(other, copy) for other in others}
        with builder(cache_folder(), list(programs.values()), console, "other versions") as made:
            made.build()
        for other, program in programs.items():
            paths[other] = program.path(cache_folder())
    return paths


def _program(other: Other, gomod: Path) -> BuiltProgram:
    now = BY_NAME[other.program]
    wrapper = replace(now.wrapper, folder=gomod, pins=(now.wrapper.pins[0], other.version))
    go, environment = go_toolchain.find(os.environ).command, {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    for command in (["get", f"{other.module}@{other.version}"], ["list", "-deps", now.package]):
        subprocess.run([go, *command], cwd=wrapper.source, env=environment, check=True, stdout=subprocess.DEVNULL)
    stamps = {key: text.replace(now.version, other.version) for key, text in now.stamps.items()}
    return replace(now, wrapper=wrapper, version=other.version, stamps=stamps)


@contextmanager
def other_release(laptop: Laptop, paths: Mapping[Other, Path], texts: Mapping[str, str]) -> Generator[None]:
    """Within the block updates take these charts and the images that they name, and the program is that of a release
    with them; afterwards only images of these tags still mean these programs.
    """
    entries = tomllib.loads(TABLE.read_text())["image"]
    changed = dict(texts)
    laptop.workdir.home.mkdir(exist_ok=True)
    for other, path in paths.items():
        own = [one for one in entries if other.program in one.get("programs", {}).values()]
        with (laptop.workdir.home / "images.toml").open("a") as file:
            file.writelines(_entry(one, other, path) for one in own)
        target = laptop.workdir.charts / other.chart
        shutil.rmtree(target, ignore_errors=True)
        with modules.making(target, charts.stamp(other.chart)) as folder:
            charts.made(other.chart, other.version, folder)
        now, number = versions.chart(other.chart).version, other.version.removeprefix("v")
        changed[f'"{now}"'] = f'"v{number}"' if now.startswith("v") else f'"{number}"'
    with laptop.released_with(changed):
        yield
    for other in paths:
        shutil.rmtree(laptop.workdir.charts / other.chart)


def _entry(entry: dict[str, Any], other: Other, path: Path) -> str:
    """An entry of the table of images, for a tag and its program."""
    programs = {at: f"file:{path}" if name == other.program else name for at, name in entry["programs"].items()}
    tagged = " ".join(f"{one}:{other.version}" for one in entry["repository"].split())
    inline = ", ".join(f"{json.dumps(at)} = {json.dumps(name)}" for at, name in programs.items())
    rest = {**entry, "repository": tagged}
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in rest.items() if key != "programs"]
    return "".join(["[[image]]\n", *lines, f"programs = {{ {inline} }}\n"])


def present(laptop: Laptop) -> Mapping[str, str]:
    """The objects that charts make, by kind and name."""
    found = [one["metadata"] | {"kind": one["kind"]} for one in objects.every(laptop, KINDS)]
    ours = [one for one in found if not one["name"].startswith(OWN) and "deletionTimestamp" not in one]
    return {f"{one['kind']} {one['name']}": one["uid"] for one in ours}


class Watched:
    """Clients of the stack, and what one step of an upgrade meant for them."""

    def __init__(self, laptop: Laptop, many: Streams, single: Load) -> None:
        self._laptop, self._many, self.single = laptop, many, single
        self._began, self._there = time.time(), present(laptop)

    def step(self, key: str, before: str, after: str, update: str = "succeeded") -> Walk:
        """The step that ends now, and began when the one before it ended."""
        began, self._began = self._began, time.time()
        there, self._there = self._there, present(self._laptop)
        ended = [one for one in self._many.ended() if began <= one["at"] + one["seconds"] < self._began]
        answered = [one["at"] + one["seconds"] for one in self.single.answers() if one["status"] == 200]
        moments = [began, *sorted(one for one in answered if began < one < self._began), self._began]
        pauses = [late - early for early, late in pairwise(moments)]
        component = next(one for one in COMPONENTS if one.key == key)
        return Walk(
            component=key,
            chart=(component.charts or ("",))[-1],
            before=before.removeprefix("v"),
            after=after.removeprefix("v"),
            on=f"{datetime.now(UTC):%Y-%m-%d}",
            update=update,
            kept=len([one for one in there if there[one] == self._there.get(one)]),
            gone=sorted(there.keys() - self._there.keys()),
            replaced=sorted(one for one in there.keys() & self._there.keys() if there[one] != self._there[one]),
            behind=[],
            streams=len(ended),
            lost=len([one for one in ended if not (one["status"] == 200 and one["whole"])]),
            silent=round(max(pauses), 1),
        )


@contextmanager
def asked(laptop: Laptop, folder: Path) -> Generator[Watched]:
    """Clients ask for as long as the block lasts."""
    key, base = stand_in_key(CALLER), front_door.base(laptop)
    wanted = [{"model": one, "key": key, "count": count, "more": {"max_tokens": 200}} for one, count in STREAMS.items()]
    with (
        streams(laptop, folder / "streams", base, wanted) as many,
        steady(laptop, folder / "steady", base, "qwen", key) as single,
    ):
        single.await_more(50)
        yield Watched(laptop, many, single)


def upgrade(laptop: Laptop, *arguments: str, errors: int | None = None) -> subprocess.Popen[str]:
    """The operator's command, from the project's folder; ``errors``: where its error output goes."""
    command = [sys.executable, "-m", "operations", "upgrade", "--stack", front_door.STACK, "--cloud", "laptop"]
    return subprocess.Popen(
        [*command, *arguments],
        cwd=laptop.root,
        env=laptop.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def walks(folder: Path) -> Generator[Walk]:
    """Every step from the older release to this one, and then the one that breaks the door."""
    older, following = built(OLDER), built([NEXT])
    laptop = Laptop(folder)
    laptop.copy_project()
    (laptop.root / "Makefile").symlink_to(CLONE / "Makefile")
    laptop.edit(front_door.STACK, lambda config: config["llmd-gke:frontDoor"].update(callers=[{"name": CALLER}]))
    try:
        with other_release(laptop, older, IMAGES):
            laptop.up(front_door.STACK)
        planned = json.loads(upgrade(laptop, "--output", "json").communicate()[0])["steps"]
        with asked(laptop, folder) as watched:
            command = upgrade(laptop, "--apply", "--yes", errors=subprocess.STDOUT)
            for line in command.stdout or ():
                print(line, end="", flush=True)
                if planned and line.rstrip().endswith(": upgraded."):
                    step = planned.pop(0)
                    yield watched.step(step["component"], step["from"], step["to"])
            if command.wait():
                for step in planned[:1]:
                    yield watched.step(step["component"], step["from"], step["to"], "failed")
                return
            with other_release(laptop, following, {}):
                done = laptop.up(front_door.STACK, check=False)
                watched.single.await_more(AFTER)
                update = "failed" if done.returncode else "succeeded"
                yield watched.step("envoy-gateway", versions.chart("gateway-helm").version, NEXT.version, update)
    finally:
        laptop.stop_everything()
