"""Lays out the folder of a rehearsal or laptop cloud: passphrase, plugin folder, scripts, file to source."""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
from pathlib import Path

import yaml

from localcloud import binaries
from localcloud.common.environment import quote, script
from localcloud.common.files import write
from localcloud.common.project import project
from localcloud.common.workdir import PACKAGES, Workdir, check_owner
from localcloud.pulumi_cli.discover import Engine

SDKS = {"gcp": "pulumi-gcp", "kubernetes": "pulumi-kubernetes"}
"""Provider name: its SDK, whose version the plugin must have."""

WRAPPER = "localcloud.workflow.wrapper"
"""The module that runs plain `pulumi` commands."""

EMULATED = {"pulumi-resource-gcp": "localcloud.google_api.plugin"}
"""Real providers that need an emulator: name of the program, and the module that runs both."""


def launchers(workdir: Workdir) -> dict[Path, str]:
    """The providers' start scripts: path in the plugin folder, content.

    A real provider is stored there under the version that the SDK requests, whatever its own version: the engine then
    uses it without further search, and warns if it is older.
    """
    contents: dict[Path, str] = {}
    real = workdir.traits.providers
    python = f"PYTHONPATH={quote(str(PACKAGES))} exec {quote(sys.executable)} -m"
    for provider in SDKS:
        file, program = _launcher(workdir, provider), real.get(provider)
        if program in EMULATED:
            comment = "The published provider, on an emulator of the cloud's APIs that keeps everything in files."
            run = f"{python} {EMULATED[program]} {quote(str(binaries.path(program)))}"
            contents[file] = f'#!/bin/sh\n# {comment}\n{run} "$@"\n'
        elif program:
            comment = "localcloud: the built provider, or the official one."
            contents[file] = f'#!/bin/sh\n# {comment}\nexec {quote(str(binaries.path(program)))} "$@"\n'
        else:
            comment = f"Stand-in for the {provider} provider: it stores its cloud in a file and makes no network calls."
            contents[file] = f'#!/bin/sh\n# {comment}\n{python} localcloud.providers.{provider} "$@"\n'
    return contents


def _launcher(workdir: Workdir, provider: str) -> Path:
    version = importlib.metadata.version(SDKS[provider])
    return workdir.plugins / f"resource-{provider}-v{version}/pulumi-resource-{provider}"


def prepare(workdir: Workdir, engine: Engine) -> None:
    """Creates or refreshes everything but state and cloud. It is cheap, and safe during another run."""
    for folder in (
        workdir.home,
        workdir.pulumi_home,
        workdir.state,
        workdir.cloud,
        workdir.config,
        workdir.wrapper,
        workdir.empty_dir,
    ):
        folder.mkdir(parents=True, exist_ok=True)
    check_owner(
        workdir.home, "the stack's passphrase would be stored there", "set LLMD_GKE_HOME to a folder of your own"
    )
    workdir.home.chmod(0o700)
    # In place of the folder with the engine's log, which costs a tenth of an operation, a third of an update of fifty
    # models. There is no switch; the engine works without it where it cannot create the folder (``StartLogging``,
    # pulumi/pkg/logging/encrypted.go). A folder that somebody made is used.
    if not (log := workdir.pulumi_home / "logs").exists():
        log.touch()
    if not workdir.passphrase.exists():
        write(workdir.passphrase, secrets.token_urlsafe(32) + "\n", 0o600)
    for path, content in launchers(workdir).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, content, 0o755)
    # `pulumi stack init` and `stack rm` write to, or remove, the stack file beside Pulumi.yaml: here that is the copy.
    write(workdir.config / "Pulumi.yaml", yaml.safe_dump({"name": project(workdir), "runtime": "python"}), 0o644)
    wrapper = (
        f"#!/bin/sh\n# {WRAPPER}: plain pulumi commands, on the {workdir.label}.\n"
        f"LLMD_GKE_HOME={quote(str(workdir.home))} LLMD_GKE_ROOT={quote(str(workdir.root))} "
        f"LLMD_GKE_CLOUD={workdir.kind} PYTHONPATH={quote(str(PACKAGES))} \\\n"
        f'  exec {quote(sys.executable)} -m {WRAPPER} {quote(str(engine.pulumi))} "$@"\n'
    )
    write(workdir.wrapper / "pulumi", wrapper, 0o755)
    program = quote(str(Path(sys.executable).with_name("llmd-gke")))
    command = f'#!/bin/sh\nCLOUD="${{CLOUD:-{workdir.kind}}}" exec {program} "$@"\n'
    write(workdir.wrapper / "llmd-gke", command, 0o755)
    write(workdir.env_script, script(workdir), 0o644)
