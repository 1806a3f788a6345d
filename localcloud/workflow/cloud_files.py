"""Reads the files in which the emulator and the Kubernetes stand-in keep their resources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.console import Console

from llmd_common.problems import Stale
from llmd_common.pulumi_signatures import is_special
from localcloud.common.workdir import Workdir
from localcloud.product import is_of_probe
from localcloud.workflow.say import say
from localcloud.workflow.state import Pending

if TYPE_CHECKING:
    from localcloud.providers.protocol.values import JsonObject

FILES = ("google.json", "kubernetes.json")
EMULATOR = "google-api.json"
"""What the emulator of Google's APIs keeps beside ``google.json``: the same objects, as Google shows them."""


KUBERNETES = "kubernetes:"
"""How the types of its provider begin."""

REQUESTS = "google-requests.jsonl"
"""File with the last requests to the emulator."""


def objects(workdir: Workdir) -> dict[str, Mapping[str, object]]:
    """Everything that exists in both clouds: the stand-in's record, by id."""
    return {ident: entry for name in FILES for ident, entry in _entries(workdir.cloud / name)}


def find_at_google(workdir: Workdir, pending: Pending) -> Mapping[str, object] | None:
    """The identity of Google's object that an unfinished create made, ``None`` if there is none.

    It has that type and that name. Where Google makes up the name, the provider reads the object by its output ``name``
    (``{{name}}`` of the resources of Cloud Monitoring), not by its ID.
    """
    of_type = {ident: entry for ident, entry in objects(workdir).items() if entry.get("type") == pending.type}
    alike = (ident for ident, entry in of_type.items() if _same(pending.inputs, entry.get("inputs")))
    called = (ident for ident, entry in of_type.items() if _called(pending.inputs, entry.get("inputs")))
    ident = next(alike, None) or next(called, None)
    if ident is None:
        return None
    made = cast("dict[str, object]", of_type[ident].get("computed") or {})
    if "name" in made and "name" not in pending.inputs:
        return {"id": ident, "outputs": {**pending.inputs, "name": made["name"]}}
    return {"id": ident}


def find_in_cluster(workdir: Workdir, pending: Pending) -> Mapping[str, object] | None:
    """As :func:`find_at_google`, for an object of the stand-in's cluster, which has its id by its name.

    A patch can be applied again, and is not looked for.
    """
    # They need the protocol's messages, which `--help` must not wait for.
    from localcloud.providers.kubernetes import release
    from localcloud.providers.kubernetes.objects import identity, kind_of

    inputs = cast("JsonObject", pending.inputs)
    if pending.type == release.TYPE:
        key, ident = release.KEY, release.identity(inputs)
    else:
        kind = kind_of(pending.type)
        if kind.patch:
            return None
        key, ident = kind.key, identity(kind, inputs)
    there = {(entry.get("type"), one) for one, entry in _entries(workdir.cloud / FILES[1])}
    return {"id": ident} if (key, ident) in there else None


def _called(asked: Mapping[str, object], made: object) -> bool:
    """Whether both have the same name. The emulator stores inputs in the form of Google's API, whose other fields
    differ.

    What Google itself names, alert policies and dashboards, is known by its title.
    """
    outputs = cast("dict[str, object]", made) if isinstance(made, dict) else {}
    names = [key for key in ("name", "accountId") if asked.get(key) is not None]
    if names:
        return any(asked[key] == outputs.get(key) for key in names)
    title = _title(asked)
    return title is not None and title == _title(outputs)


def _title(inputs: Mapping[str, object]) -> object:
    """The display name, which a dashboard has in its JSON."""
    if isinstance(text := inputs.get("dashboardJson"), str):
        return _title(cast("dict[str, object]", json.loads(text)))
    return inputs.get("displayName")


def _same(asked: object, made: object) -> bool:
    """Whether what was asked for is found in what was made; secrets, which are stored otherwise, are left out."""
    if isinstance(asked, dict):
        table = cast("dict[str, object]", asked)
        if is_special(table):
            return True
        stored = cast("dict[str, object]", made) if isinstance(made, dict) else {}
        return all(_same(value, stored.get(key)) for key, value in table.items() if key != "__defaults")
    return asked == made


def clear(workdir: Workdir) -> None:
    """Removes the files of both clouds."""
    for name in (*FILES, EMULATOR, REQUESTS):
        (workdir.cloud / name).unlink(missing_ok=True)


def check(workdir: Workdir) -> None:
    """Raises ``Stale`` for a damaged file of either cloud."""
    _emulated(workdir.cloud / EMULATOR)
    objects(workdir)


def forget_damaged(workdir: Workdir, console: Console) -> bool:
    """Removes the files of both clouds if one is damaged, and says so. Returns whether it did."""
    try:
        check(workdir)
    except Stale as problem:
        say(console, f"{str(problem).partition(chr(10))[0]} Both clouds are deleted with everything in them.")
        clear(workdir)
        return True
    return False


def remove(workdir: Workdir, console: Console, *, had_stacks: bool) -> int:
    """Removes both clouds once no stack is left, and lists remaining objects. Returns 1 if a destroy left them.

    A probe of ``doctor`` that was killed is not the destroy's fault.
    """
    there = {**_emulated(workdir.cloud / EMULATOR), **objects(workdir)}
    clear(workdir)
    if probes := [ident for ident in there if is_of_probe(ident)]:
        say(console, f"Removed leftovers of a `doctor --probe` that was killed: {', '.join(probes)}.")
        there = {ident: entry for ident, entry in there.items() if ident not in probes}
    if there and had_stacks:
        names = "\n".join(f"  {entry.get('type')} {ident}" for ident, entry in there.items())
        say(
            console,
            f"After every stack was destroyed, these objects remained in the clouds; they were removed now:\n{names}",
        )
        say(console, "A destroy on Google Cloud might leave them, too: please report this bug.")
        return 1
    if there:
        say(console, f"Removed {len(there)} objects that belonged to no stack from the clouds.")
    return 0


def _emulated(file: Path) -> dict[str, Mapping[str, object]]:
    """Resources and IAM policies that the emulator keeps, by name."""
    content = cast("dict[str, dict[str, object]]", _content(file))
    entries: dict[str, Mapping[str, object]] = {name: {"type": "resource"} for name in content.get("resources", {})}
    return entries | {f"of {name}": {"type": "IAM policy"} for name in content.get("policies", {})}


def _entries(file: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    yield from _walk(_content(file), "")


def _content(file: Path) -> dict[str, object]:
    """The object in a file, empty where there is none. Raises ``Stale`` for anything else."""
    try:
        content: object = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:  # neither JSON nor text
        raise _damaged(file, str(error)) from None
    if not isinstance(content, dict):
        raise _damaged(file, "it does not contain a JSON object")
    return cast("dict[str, object]", content)


def _damaged(file: Path, cause: str) -> Stale:
    return Stale(f"{file} is damaged: {cause}.\nFix: `make down`, which removes it, then `make up`.")


def _walk(value: object, above: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every object at any depth: a table with ``inputs``. Its id is its key (or ``id``), its type the key above."""
    if not isinstance(value, dict):
        return
    for key, entry in cast("dict[str, object]", value).items():
        if not isinstance(entry, dict):
            continue
        table = cast("dict[str, object]", entry)
        if isinstance(table.get("inputs"), dict):
            yield str(table.get("id") or key), {"type": above, **table}
        else:
            yield from _walk(table, key)
