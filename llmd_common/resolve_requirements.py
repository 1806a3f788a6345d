"""Updates the pins, ``make requirements``: before any environment exists, with nothing but the standard library."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from llmd_common.bootstrap import BESIDE, SETS, check_python, exit_status, requirements, run, uv


def resolve() -> None:
    """Resolves every SET.txt again from its SET.in, without recording where the packages come from."""
    check_python(sys.version_info[:2])
    tool = uv()
    quiet = ["--quiet", "--no-emit-index-url", "--no-emit-find-links", "--custom-compile-command", "make requirements"]
    with tempfile.TemporaryDirectory() as folder:
        smaller: Path | None = None  # the complete pins of the set before this one
        for name in ("uv", *BESIDE, *SETS):
            complete = Path(folder) / f"{name}.txt"
            command = [str(tool), "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"]
            source = requirements(name, "in")
            for option, ending in (("--excludes", ".without"), ("--overrides", ".overrides")):
                if (file := source.with_suffix(ending)).exists():
                    command += [option, str(file)]
            if smaller is not None:
                command += ["--constraints", str(smaller)]
            run([*command, *quiet, str(source), "-o", str(complete)], f"resolve {source}")
            pins = complete.read_text(encoding="utf-8")
            if smaller is not None:
                previous = requirements(SETS[SETS.index(name) - 1])
                pins = added(pins, smaller, os.path.relpath(previous, source.parent))
            source.with_suffix(".txt").write_text(pins, encoding="utf-8")
            if name in SETS:
                smaller = complete


def added(pins: str, smaller: Path, included: str) -> str:
    """The pins that a set adds to those of the ``smaller`` one, which the result includes by its path ``included``."""
    pin = re.compile(r"^[A-Za-z0-9].*\n(?:[ ].*\n)+", re.MULTILINE)
    known = {one.splitlines()[0] for one in pin.findall(smaller.read_text(encoding="utf-8"))}
    comment = pins[: pins.index("\n", pins.index("make requirements")) + 1]
    return f"{comment}-r {included}\n" + "".join(one for one in pin.findall(pins) if one.splitlines()[0] not in known)


if __name__ == "__main__":
    sys.exit(exit_status(resolve))
