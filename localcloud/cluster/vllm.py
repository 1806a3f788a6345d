"""The real model server, for stacks with a model that asks for it by its image: vLLM for processors, in an environment
of its own, and the tiny model that it serves. Both are made once, in the cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import shutil
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from llmd_common import bootstrap, child_process
from llmd_common.problems import SetUpFailed
from localcloud.cluster import capacity_check
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir, cache_folder
from localcloud.linux_namespaces import discover
from localcloud.nodes.entrypoints.real_vllm import DIFFERENCES
from localcloud.nodes.images import repository_of
from localcloud.workflow.say import say
from localcloud.workflow.settings import settings_of

IMAGES = ("laptop.cloud/vllm/vllm-tpu", "laptop.cloud/vllm/vllm-openai")
"""The repositories of the images that stand for it (``nodes/images.toml``): by their names, for TPUs and for GPUs."""

SET = "vllm"
"""Name of the set of requirements in ``bootstrap.BESIDE``."""

DISK_GB = 7
"""Free disk in GB for the installation: 4.3 GB stay."""

SERVER_MB = 1900
"""Memory of one server, measured with vLLM 0.27: processes share 0.8 GB more of the file cache."""

MACHINES = ("x86_64", "aarch64")
"""Machines for which there are wheels of it, for every Python of ours."""

PROGRAM = Path(__file__).with_name("tiny_model.py")
REMOVE = f"python3 llmd_common/bootstrap.py --remove {SET}"


def servers(workdir: Workdir, stack: str) -> int:
    """How many servers of the stack are real."""
    models = settings_of(workdir, stack).models
    return sum(model.most_replicas for model in models if repository_of(model.image) in IMAGES)


def check(workdir: Workdir, stack: str) -> None:
    """Raises ``SetUpFailed`` if this machine cannot run the stack's real servers, before anything starts."""
    count = servers(workdir, stack)
    if not count or (_links(workdir).exists() and discover.running(workdir.home) is not None):
        return
    if platform.machine() not in MACHINES:
        raise SetUpFailed(
            f"vLLM for processors has no wheel for {platform.machine()}; it has for {', '.join(MACHINES)}.\n"
            f"Fix: remove `image: laptop.cloud/…` from the models of Pulumi.{stack}.yaml: the simulator serves them."
        )
    try:
        ctypes.CDLL("libnuma.so.1")
    except OSError:
        raise SetUpFailed(
            "vLLM for processors needs libnuma.so.1, which this machine does not have.\n"
            "Fix: install it (Debian, Ubuntu: apt install libnuma1; Fedora: dnf install numactl-libs)."
        ) from None
    capacity_check.check(capacity_check.MEMORY_MB + count * SERVER_MB, f"the laptop cloud with {count} real servers")
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache).free / 1e9
    if free < DISK_GB and not bootstrap.is_beside(SET):
        raise SetUpFailed(
            f"Not enough disk for vLLM: {free:.1f} GB are free in {cache}, {DISK_GB} GB are needed to install it.\n"
            "Fix: free some, or set LLMD_GKE_CACHE to a folder on a larger disk."
        )


def ensure(workdir: Workdir, stack: str, console: Console) -> None:
    """Installs vLLM, makes the model and its adapter, and lays links to them where the image table looks for them.

    Raises ``SetUpFailed``.
    """
    if not servers(workdir, stack):
        return
    try:
        python = bootstrap.beside(SET, lambda text: say(console, f"vLLM: {text}"))
    except bootstrap.BootstrapFailed as failed:
        raise SetUpFailed(str(failed)) from None
    made = make_model(python, console)
    links = _links(workdir)
    links.mkdir(parents=True, exist_ok=True)
    there = {"environment": python.parents[1], "model": made / "model", "adapter": made / "adapter"}
    for name, target in there.items():
        (links / name).unlink(missing_ok=True)
        (links / name).symlink_to(target)


def model_folder() -> Path:
    """The folder with model and adapter for these pins."""
    key = hashlib.sha256(PROGRAM.read_bytes() + bootstrap.requirements(SET).read_bytes()).hexdigest()[:12]
    return cache_folder() / f"{SET}-model-{key}"


def make_model(python: Path, console: Console) -> Path:
    """The same folder, made if it is missing. Raises ``SetUpFailed``."""
    folder = model_folder()
    with bootstrap.only_one(SET):
        if folder.exists():
            return folder
        say(console, f"vLLM: training its model into {folder}, once (a minute)")
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=f"{SET}-model-") as unfinished:
            made = Path(unfinished) / "made"
            done = child_process.run([python, "-P", PROGRAM, made])
            if done.returncode:
                raise SetUpFailed(
                    f"{done.stderr.strip()}\n\nCould not make the tiny model (status {done.returncode}).\n"
                    f"Fix: {REMOVE}; then run the command again, which installs vLLM anew."
                )
            say(console, f"vLLM: {done.stdout.strip().splitlines()[-1]}")
            made.rename(folder)
    return folder


def show(workdir: Workdir, console: Console) -> None:
    """Prints how the real servers differ from those on a TPU, if there are any."""
    if not _links(workdir).exists():
        return
    say(console, "servers  vLLM itself, where a model's image asks for it; it differs from that on a TPU in")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 9))
    table.add_column(no_wrap=True)
    table.add_column()
    for one in DIFFERENCES:
        table.add_row(str(one), one.why)
    console.print(table, soft_wrap=True, highlight=False)


def _links(workdir: Workdir) -> Path:
    return Layout(workdir.home).root / SET
