"""Projects of this clone as somebody else installs them: wheels in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

from llmd_gke.repository import CLONE

BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
PACKAGES = ("llmd_common", "llmd_gke")
"""What lies beside every project and may be part of its wheel."""

ALONE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def environment(folder: Path, *projects: str) -> Path:
    """Makes ``.venv`` in ``folder`` with the wheels of these projects, and returns the folder of its packages.

    Their dependencies are lent by the environment of the tests; the clone stays out.
    """
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder / ".venv")
    packages = next((folder / ".venv").glob("lib/python3.*/site-packages"))
    for project in projects:
        source, wheels = folder / f"source of {project}", folder / f"wheels of {project}"
        for name in (project, *PACKAGES):
            shutil.copytree(CLONE / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "build", "tests"))
        wheels.mkdir()
        command = [sys.executable, "-P", "-c", BUILD, str(wheels)]  # -P: `platform.py` is not the one of Python
        done = subprocess.run(command, cwd=source / project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(packages)
        shutil.rmtree(source)
    # Folders named in a .pth file are searched, their own .pth files are not read: the clone stays out.
    (packages / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return packages
