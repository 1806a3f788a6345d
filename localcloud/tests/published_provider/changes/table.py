"""Resources of every type, and changes of them whose plans the real and the hand-written provider must agree on."""

from __future__ import annotations

from typing import Any

from localcloud.tests.published_provider.changes import cluster, monitoring, network, project, repositories
from localcloud.tests.published_provider.changes.names import Props

MADE: dict[str, tuple[str, Props]] = project.MADE | repositories.MADE | network.MADE | cluster.MADE | monitoring.MADE
"""Name, type and inputs of what is made, in this order."""

CHANGES: tuple[tuple[str, Props], ...] = (
    project.CHANGES + repositories.CHANGES + network.CHANGES + cluster.CHANGES + monitoring.CHANGES
)
"""What of which resource changes, by path; ``None`` takes a property out."""


def changed(inputs: Props, over: Props) -> Props:
    """The inputs with the change."""
    result: Props = _copied(inputs)
    for path, value in over.items():
        *above, last = path.replace("[", ".").replace("]", "").split(".")
        at: Any = result
        for part in above:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value
    return result


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def label(name: str, over: Props) -> str:
    """How a change is called in a test's name: ``pool nodeConfig.spot=True``."""
    shown = ",".join(f"{path}={str(value)[:40]}" for path, value in over.items())
    return f"{name} {shown or 'unchanged'}"
