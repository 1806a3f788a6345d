"""The programs that ``pulumi up`` starts, and their versions."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence

from llmd_common import child_process
from llmd_gke.catalog import versions
from llmd_gke.rules.versions import version_of
from operations.doctor.context import Context
from operations.doctor.result import Result, failed, ok, warning

ANSWER_SECONDS = 20
PULUMI = "https://www.pulumi.com/docs/install/"
PLUGIN = "gcloud components install gke-gcloud-auth-plugin"


def python(_: Context) -> Iterator[Result]:
    """The program supports the interpreter's version."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    if (3, 11) <= sys.version_info[:2] <= (3, 14):
        yield ok("python", version)
    else:
        yield failed(
            "python", f"{version}; the program runs on 3.11 to 3.14", "recreate the environment with one of these"
        )


def pulumi(_: Context) -> Iterator[Result]:
    """The engine is installed and new enough."""
    output = ask(["pulumi", "version"])
    floor = versions.engine_floor()
    if output is None:
        yield failed("pulumi", "is not on PATH", PULUMI)
    elif (version_of(output) or ()) < (version_of(floor) or ()):
        yield failed(
            "pulumi", f"{output} is older than {floor}: components that wait for their parent would hang", PULUMI
        )
    else:
        yield ok("pulumi", output)


def auth_plugin(_: Context) -> Iterator[Result]:
    """The plugin in the stack's kubeconfig is installed: without it, no Kubernetes object can be created."""
    output = ask(["gke-gcloud-auth-plugin", "--version"])
    if output is None:
        yield failed("gke-gcloud-auth-plugin", "is not on PATH, but the cluster's kubeconfig calls it", PLUGIN)
    else:
        match = re.search(r"\d+\.\d+\.\d+", output)
        yield ok("gke-gcloud-auth-plugin", match.group() if match else "is on PATH")


def optional(_: Context) -> Iterator[Result]:
    """Programs for manual use, which ``pulumi up`` does not need."""
    for name, use in (("gcloud", "logs in"), ("kubectl", "inspects the cluster")):
        if shutil.which(name):
            yield ok(name, "is on PATH")
        else:
            yield warning(name, f"is not on PATH; it {use}", "https://cloud.google.com/sdk/docs/install")


def ask(command: Sequence[str]) -> str | None:
    """The output of a command; ``None`` if the program is missing or fails."""
    program = shutil.which(command[0])
    if program is None:
        return None
    return child_process.output_of([program, *command[1:]], seconds=ANSWER_SECONDS)
