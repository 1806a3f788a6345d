"""Pulumi's Kubernetes provider without its component resources.

They (``yaml/v2:ConfigFile`` and ``ConfigGroup``, ``helm.sh/v4:Chart``, ``kustomize/v2:Directory``) make other resources
through pulumi-kubernetes' Go SDK, which has types for every kind of every version: two thirds of the time that the
provider takes to compile. This project creates charts with ``helm.sh/v3:Release``, which is not a component. A
component of these types is rejected by the provider itself: "unknown resource type". Source: pulumi/pulumi-kubernetes
4.25.0 ``provider/pkg/provider/provider_construct.go``.
"""

from __future__ import annotations

import re
from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.wrapper import ModuleChanges

COMPONENTS = ("helm/v4", "kustomize/v2", "yaml/v2")
"""Folders of ``pkg/provider`` with the components."""

FOLDER, TABLE = "pkg/provider", "pkg/provider/provider_construct.go"
IMPORT = rf'(?m)^\t(\w+) +"[^"]+/{FOLDER}/(?:{"|".join(COMPONENTS)})"\n'
"""An import of one of them, with its alias."""


def without_components(module: Path) -> dict[str, str | None]:
    """Files of the module that change, with their text; ``None`` for one that is left out.

    Raises ``SetUpFailed`` for a version whose table of components looks different.
    """
    files: dict[str, str | None] = {
        str(file.relative_to(module)): None
        for component in COMPONENTS
        for file in sorted((module / FOLDER / component).glob("*.go"))
    }
    return {**files, TABLE: _table((module / TABLE).read_text())}


def _table(text: str) -> str:
    aliases = re.findall(IMPORT, text)
    entry = rf'(?m)^\t"[^"]+": +(?:{"|".join(aliases)})\.\w+,\n'
    made = re.sub(entry, "", re.sub(IMPORT, "", text)) if len(aliases) == len(COMPONENTS) else text
    if made == text or any(re.search(rf"\b{alias}\b", made) for alias in aliases):
        raise SetUpFailed(
            f"{TABLE} of this version of the Kubernetes provider has no table of the components "
            f"{', '.join(COMPONENTS)}.\nFix: correct localcloud/go_builds/kubernetes_provider.py, or choose another "
            "version in llmd_gke/catalog/versions.toml."
        )
    return made


WITHOUT_COMPONENTS = ModuleChanges(without_components, f"without {' '.join(COMPONENTS)}")
