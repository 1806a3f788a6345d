"""Refuses to continue if a real provider could be started.

The engine looks for a provider in this order (pulumi/pulumi v3.259.0, sdk/go/common/workspace/plugins.go,
``getPluginInfoAndPath``): ``plugins:`` of Pulumi.yaml; PATH, which PULUMI_IGNORE_AMBIENT_PLUGINS switches off; the
plugin folder of PULUMI_HOME, which is ours. PULUMI_DEBUG_PROVIDERS, which would attach to a running provider, is
removed from the environment, and downloading is switched off. What is left is checked here before every command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import yaml

from llmd_common.problems import Refused
from localcloud.common.project import project
from localcloud.common.workdir import Workdir
from localcloud.workflow.home import launchers

PROJECT_EXTENSIONS = (".json", ".yaml", ".yml")


def check(workdir: Workdir) -> None:
    """Raises ``Refused`` with the possible way to a real provider, and the fix."""
    check_project(workdir)
    check_plugins(workdir)


def why(workdir: Workdir) -> str:
    """The first sentence of every message."""
    return f"The {workdir.label} must not reach Google Cloud, so it does not start"


def check_project(workdir: Workdir) -> None:
    """Rejects ``plugins:`` in Pulumi.yaml, which take precedence, and project files that hide Pulumi.yaml.

    The engine takes the first file of a folder whose name is ``Pulumi`` and whose extension is one of ``.json``,
    ``.yaml``, ``.yml`` (pulumi/pulumi v3.259.0, sdk/go/common/workspace/paths.go, ``DetectProjectPathFrom``).
    """
    file = workdir.root / "Pulumi.yaml"
    others = sorted(
        entry
        for entry in workdir.root.iterdir()
        if entry != file and entry.stem.lower() == "pulumi" and entry.suffix.lower() in PROJECT_EXTENSIONS
    )
    if others:
        names = ", ".join(entry.name for entry in others)
        raise Refused(
            f"{why(workdir)}: {names} next to Pulumi.yaml is also a project file, and the engine might use its "
            f"providers.\nFix: remove {names}; the project is Pulumi.yaml."
        )
    project(workdir)  # raises an error that says so if the file cannot be read
    content: object = yaml.safe_load(file.read_text(encoding="utf-8"))
    if isinstance(content, dict) and cast("Mapping[str, object]", content).get("plugins"):
        raise Refused(
            f"{why(workdir)}: {file} names providers under `plugins:`, which the engine would start instead of "
            "the stand-ins.\n"
            "Fix: remove `plugins:` from Pulumi.yaml."
        )


def check_plugins(workdir: Workdir) -> None:
    """Rejects files in the plugin folder other than our own, unchanged launchers."""
    expected = launchers(workdir)
    folders = {path.parent for path in expected}
    strangers = sorted(
        entry
        for entry in workdir.plugins.iterdir()
        if entry not in folders
        and entry.name.split("-", 1)[0] in {"resource", "analyzer", "converter", "tool"}
        and entry.is_dir()
    )
    for path, content in expected.items():
        if not path.is_file() or path.is_symlink() or path.read_text() != content:
            strangers.append(path)
        strangers += sorted(entry for entry in path.parent.iterdir() if entry != path)
    if strangers:
        names = "\n".join(f"  {path}" for path in strangers)
        raise Refused(
            f"{why(workdir)}: its plugin folder contains files that do not belong there:\n{names}\n"
            f"Fix: rm -r {workdir.plugins}, then run the command again."
        )
