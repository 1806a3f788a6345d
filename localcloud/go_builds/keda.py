"""KEDA with the few scalers that the laptop cloud uses.

KEDA has 70 scalers, each with the SDK of what it asks: most of a build. A trigger of another type is rejected by KEDA
itself: "no scaler found for type". Source: kedacore/keda v2.21.0 ``pkg/scaling/scalers_builder.go``.
"""

from __future__ import annotations

import re
from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.wrapper import ModuleChanges

SCALERS = ("prometheus", "cron", "cpu_memory", "azure_queue")
"""Files of ``pkg/scalers`` that are kept, without ``_scaler.go``. Of the last one only a constant is used."""
TRIGGERS = ("prometheus", "cron", "cpu", "memory")
"""Types of triggers that they serve."""

FOLDER, BUILDER = "pkg/scalers", "pkg/scaling/scalers_builder.go"
BEGIN, END = "// TRIGGERS-START", "// TRIGGERS-END"
"""Comments around the switch over the types of triggers."""


def fewer_scalers(module: Path) -> dict[str, str | None]:
    """Files of the module that change, with their text; ``None`` for one that is left out.

    Raises ``SetUpFailed`` for a version whose switch looks different.
    """
    files: dict[str, str | None] = {
        str(file.relative_to(module)): None
        for file in sorted((module / FOLDER).glob("*_scaler.go"))
        if file.name.removesuffix("_scaler.go") not in SCALERS
    }
    return {**files, BUILDER: _switch((module / BUILDER).read_text())}


def _switch(text: str) -> str:
    before, begin, rest = text.partition(BEGIN)
    cases, end, after = rest.partition(END)
    head, *branches = re.split(r"(?m)^(?=\t(?:case |default:))", cases)
    kept = [one for one in branches if re.match(rf'\t(?:default:|case "(?:{"|".join(TRIGGERS)})":)', one)]
    if not end or len(kept) != len(TRIGGERS) + 1:
        raise SetUpFailed(
            f"{BUILDER} of this version of KEDA has no switch with {', '.join(TRIGGERS)} between {BEGIN} and {END}.\n"
            "Fix: correct localcloud/go_builds/keda.py, or choose another version in llmd_gke/catalog/versions.toml."
        )
    return before + begin + head + "".join(kept) + end + after


FEWER_SCALERS = ModuleChanges(fewer_scalers, " ".join(SCALERS))
