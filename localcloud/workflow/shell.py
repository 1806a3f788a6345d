"""A shell in which plain `pulumi` commands work on the rehearsal, or inside the namespaces of the laptop cloud."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from localcloud.common.environment import clean, quote
from localcloud.common.files import write
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.workflow import backend

MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "MAKE_STACK", "MAKE_CLOUD")
"""Variables of `make` that a shell must not inherit: `make` would print its folders, and keep the outer STACK."""


def command(workdir: Workdir, wanted: str) -> tuple[list[str], dict[str, str]]:
    """The shell to start and its environment.

    A user's own start file may put another `pulumi` first on PATH, so ours is read after it where the shell allows.
    """
    environment = clean(os.environ, workdir)
    for name in MAKE:  # a `make` in the shell is independent of the one that started it
        environment.pop(name, None)
    environment["PATH"] = f"{workdir.wrapper}{os.pathsep}{environment.get('PATH', os.defpath)}"
    name = Path(wanted).name
    after = f'. {quote(str(workdir.env_script))}\nPS1="({workdir.label}) $PS1"\n'
    if workdir.namespaced:  # the script above points it nowhere
        environment["KUBECONFIG"] = str(Layout(workdir.home).kubeconfig)
        after += f"export KUBECONFIG={quote(environment['KUBECONFIG'])}\n"
    if name == "bash":
        start = workdir.home / "bashrc"
        write(start, f"[ -f ~/.bashrc ] && . ~/.bashrc\n{after}", 0o644)
        return [wanted, "--rcfile", str(start), "-i"], environment
    if name == "zsh":
        folder = workdir.home / "zsh"
        folder.mkdir(exist_ok=True)
        write(folder / ".zshrc", f"[ -f ~/.zshrc ] && . ~/.zshrc\n{after}", 0o644)
        environment["ZDOTDIR"] = str(folder)
    return [wanted], environment


def run(workdir: Workdir) -> int:
    """Starts the user's shell in the project folder, and waits for it to end."""
    argv, environment = command(workdir, os.environ.get("SHELL") or "/bin/sh")
    command_line = backend.of(workdir).command_line(argv)
    return subprocess.run(command_line, env=environment, cwd=workdir.root, check=False).returncode
