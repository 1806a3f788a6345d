"""Which resources are protected against deletion, and the way to a stack without protection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast


def protected(resources: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """Names of the resources of a state that Pulumi's option or Google's deletion protection protects."""
    return tuple(str(one["urn"]).rpartition("::")[2] for one in resources if _is_protected(one))


def _is_protected(resource: Mapping[str, object]) -> bool:
    outputs = cast("Mapping[str, object]", resource.get("outputs") or {})
    return bool(resource.get("protect")) or outputs.get("deletionProtection") is True


def refusal(stack: str, names: Iterable[str], *, destroy: str, shell: str | None = None) -> str:
    """Why a stack is not destroyed, and how it is.

    The update that unprotects is the one that `production-protect` rejects: a file on its command line makes the rule
    advisory, for this update only. ``destroy``: the command to repeat; ``shell``: the one that opens a shell for
    ``pulumi``, where it needs one.
    """
    up = f"`pulumi up --stack {stack} --policy-pack policies --policy-pack-config policies/unprotect.json`"
    steps = [f"`{shell}`", up, "`exit`"] if shell else [up]
    return (
        f"Stack {stack} is protected: {', '.join(names)}. Nothing was removed.\n"
        f"Fix: set protect: false and deletionProtection: false below llmd-gke:cluster in Pulumi.{stack}.yaml, then "
        f"{', '.join(steps)} and `{destroy}`."
    )
