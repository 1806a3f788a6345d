"""Builds the engine from its published Go module.

The CLI is ``github.com/pulumi/pulumi/pkg/v3/cmd/pulumi``; the language host is ours (gomod/engine). An interrupted
build goes on where it stopped; all but the finished engine is removed when that has been moved into place.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import go_toolchain
from localcloud.go_builds.build import Builder, alone
from localcloud.go_builds.progress import Display
from localcloud.go_builds.wrapper import BuildTarget, Job
from localcloud.product import engine_cli
from localcloud.pulumi_cli import cache_key
from localcloud.pulumi_cli.discover import HOST, Engine, ask_version

SDK = "github.com/pulumi/pulumi/sdk/v3"
STAMPS = {f"{SDK}/go/common/version.Version": f"v{engine_cli()}"}
TARGETS = (
    BuildTarget("pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", cpu_seconds=540, stamps=STAMPS),
    BuildTarget(HOST, ".", cpu_seconds=20, stamps=STAMPS),  # shares most packages with the CLI
)
PURPOSE = go_toolchain.Purpose("the engine", "install Pulumi itself: https://www.pulumi.com/docs/install/")


def build(cache: Path, console: Console, meanwhile: Callable[[], None]) -> Engine:
    """The built engine, which is built if missing. ``meanwhile`` is called once compiling has begun.

    Raises ``SetUpFailed`` with the cause: no or unfit Go, too little disk or memory, a refused module.
    """
    with Display(console, "engine") as display, alone(cache, display) as lock:
        if ready := cache_key.present(cache):
            return ready
        kept = cache_key.parts(cache)
        job = Job(cache_key.WRAPPER, tuple(one for one in TARGETS if not kept[one.name].exists()), kept, PURPOSE)
        builder = Builder(cache, [job] if job.targets else [], PURPOSE, display, lock)
        executor = builder.module_folder(job, SDK) / "python" / "cmd" / cache_key.EXECUTOR
        more = {cache_key.EXECUTOR: executor.read_bytes()}  # read now: modules go with the build
        if job.targets:
            builder.build(job, meanwhile)
        assemble(more, kept, builder.folder / "out", cache_key.built(cache), builder.go)
    engine = cache_key.present(cache)
    if engine is None:
        raise SetUpFailed(
            f"The engine is incomplete in {cache_key.built(cache)}. Fix: remove that folder, then run the command "
            "again."
        )
    console.print(
        f"engine: built {engine.version} in {display.elapsed_seconds:.0f} s, kept in {cache_key.built(cache)}",
        highlight=False,
        soft_wrap=True,
    )
    return engine


def assemble(more: Mapping[str, bytes], kept: Mapping[str, Path], out: Path, target: Path, go: go_toolchain.Go) -> None:
    """Puts the scripts (``more``) beside the binaries, tries them, and moves all into place at once."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name, source in kept.items():
        (out / name).hardlink_to(source)
    for name, content in more.items():
        (out / name).write_bytes(content)
    shutil.copyfile(cache_key.WRAPPER.source / cache_key.FAST_EXIT, out / cache_key.FAST_EXIT)
    (out / cache_key.EXECUTOR).chmod(0o755)
    version = ask_version(out / "pulumi")
    if version != f"v{engine_cli()}":
        raise SetUpFailed(
            f"The built engine reports version {version!r} instead of v{engine_cli()}. Fix: remove {kept['pulumi']}."
        )
    (out / cache_key.COMPLETE).write_text(f"built with Go {go_toolchain.name(go.version)}\n")
    shutil.rmtree(target, ignore_errors=True)
    out.rename(target)
