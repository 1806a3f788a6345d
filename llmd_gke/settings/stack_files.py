"""Stack files: lists them, reads one, and explains why one cannot be used."""

from __future__ import annotations

import difflib
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

import yaml

from llmd_gke import redaction
from llmd_gke.repository import CLONE
from llmd_gke.rules.finding import Finding
from llmd_gke.settings import stack_yaml

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""Names of stacks, as Pulumi allows them (pulumi/pulumi v3.259.0, sdk/go/common/tokens/stacks.go), a letter or digit
first. Such a name has no special meaning in a shell, in a path or in YAML."""


CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
"""The first line of what git could not merge."""


class Unusable(Exception):
    """A stack file, or its name, cannot be used. ``finding`` says why."""

    def __init__(self, problem: str, allowed: str = "", fix: str = "") -> None:
        self.finding = Finding("stack-file", problem, allowed, fix)
        super().__init__(problem)


def stacks(root: Path) -> list[str]:
    """The stacks that have a file in the folder, sorted."""
    names = (
        path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml") if path.is_file()
    )
    return sorted(name for name in names if NAME.fullmatch(name))


def check_name(stack: str, root: Path = CLONE) -> str:
    """The name, if it is a valid name of a stack. Raises :class:`Unusable`, with a stack of ``root`` that is meant."""
    if not NAME.fullmatch(stack):
        bare = stack.rpartition("/")[2].removeprefix("Pulumi.").removesuffix(".yaml")
        valid = re.sub("[^A-Za-z0-9_.-]+", "-", bare).strip("-_.")[:100] or "demo"
        meant = next(filter(None, (_near(root, one) for one in (*NAME.findall(bare), valid))), None)
        ways = [f"STACK={meant}"] * bool(meant) + [f"make new STACK={valid}"] * (valid != meant)
        raise Unusable(
            f"{redaction.shown(stack)} is not a stack name",
            "at most 100 letters, digits, '_', '-' and '.', starting with a letter or digit",
            ", or for a new one ".join(ways),
        )
    return stack


def text(root: Path, stack: str) -> str:
    """The text of ``Pulumi.<stack>.yaml``. Raises :class:`Unusable`."""
    file = root / f"Pulumi.{check_name(stack, root)}.yaml"
    if not root.is_dir():
        raise Unusable(f"the folder {root} does not exist", fix="unset LLMD_GKE_ROOT, or give it the clone's folder")
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        problem = (
            f"{file.name} is a link to a file that does not exist"
            if file.is_symlink()
            else f"{file.name} does not exist"
        )
        raise Unusable(problem, ", ".join(stacks(root)), _instead(root, stack)) from None
    except UnicodeDecodeError as error:
        probably = "UTF-16" if error.object[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "Latin-1 or Windows-1252"
        line = error.object[: error.start].count(b"\n") + 1
        raise Unusable(
            f"{file.name} is not UTF-8: byte 0x{error.object[error.start]:02x} in line {line}",
            "UTF-8, as YAML requires",
            f"save the file as UTF-8 (it is probably {probably})",
        ) from None
    except OSError as error:
        raise Unusable(
            f"{file.name} cannot be read: {error.strerror}", fix="make it a file that you may read"
        ) from None


def _instead(root: Path, stack: str) -> str:
    names, file = stacks(root), f"Pulumi.{stack}.yaml"
    if (root / file).is_symlink():
        return f"correct the link, or remove it: rm {file}"
    if (other := (root / file).with_suffix(".yml")).exists():
        return f"mv {other.name} {file}"
    if near := _near(root, stack):
        return f"did you mean STACK={near}?"
    return f"set a stack, for example STACK={names[0]}" if names else f"copy a stack file to Pulumi.{stack}.yaml"


def _near(root: Path, stack: str) -> str | None:
    """The stack of the folder that a mistyped name means, if it is near to one."""
    names = {name.lower(): name for name in stacks(root)}
    bare = stack.removeprefix("Pulumi.").removesuffix(".yaml").lower()
    return next((names[one] for one in difflib.get_close_matches(bare, names, n=1, cutoff=0.6)), None)


def _lookalike(text: str) -> str | None:
    """The first character that looks like one of ASCII: a full-width colon, a no-break space."""
    return next((one for one in text if not one.isascii() and unicodedata.normalize("NFKC", one).isascii()), None)


def content(text: str, name: str) -> object:
    """The content of a stack file, from its text. ``name``: the file's, for messages. Raises :class:`Unusable`."""
    try:
        return stack_yaml.read(text)
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise Unusable(
            f"{name} is not YAML: character U+{ord(text[error.position]):04X} in line {line}, column {column}",
            "printable characters, tabs and line breaks",
            "delete that character",
        ) from None
    except yaml.YAMLError as error:
        problem, fix = _position(error), "correct the file at that position"
        if marker := CONFLICT.search(text):
            line = text[: marker.start()].count("\n") + 1
            problem, fix = f"a merge left its conflict in line {line}", "keep one of both sides, without the markers"
        elif isinstance(error, yaml.MarkedYAMLError) and "'\\t'" in str(error.problem):
            problem, fix = problem.replace("character '\\t' that", "tab, which"), "indent with spaces"
        elif (odd := _lookalike(text)) is not None:
            line, plain = text[: text.index(odd)].count("\n") + 1, unicodedata.normalize("NFKC", odd)
            fix = f"write `{plain}` instead of the {unicodedata.name(odd).lower()} (U+{ord(odd):04X}) in line {line}"
        raise Unusable(f"{name} is not YAML: {problem}", fix=fix) from None
    except (RecursionError, ValueError):  # raised by the YAML library for texts such as 5,000 digits
        raise Unusable(f"{name} is not valid YAML", fix="see Pulumi.eu4a.yaml for a complete one") from None


def _position(error: yaml.YAMLError) -> str:
    """What is wrong and where, without the line itself: it may hold a secret."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return "it cannot be read"
    mark = error.problem_mark
    return f"{redaction.shown_text(str(error.problem))}, line {mark.line + 1}, column {mark.column + 1}"
