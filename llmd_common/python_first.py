"""Runs ``bootstrap.py``, or says that this Python is too old to read that: any Python 3 understands this file."""

import runpy
import sys
from pathlib import Path

ALLOWED = "3.11 to 3.14"
READS_BOOTSTRAP = (3, 8)


def main() -> None:
    """Calls ``bootstrap.py``, which checks the version again, against the versions that the requirements support."""
    if sys.version_info < READS_BOOTSTRAP:
        version = "{}.{}".format(*sys.version_info[:2])
        sys.exit(
            f"Python {version} ({sys.executable}) is not supported. Allowed: Python {ALLOWED}.\n"
            "Fix: install one and put it first on PATH as `python3`, then run the command again."
        )
    try:
        runpy.run_path(str(Path(__file__).resolve().with_name("bootstrap.py")), run_name="__main__")
    except KeyboardInterrupt:  # of its imports; it handles later ones itself
        sys.exit(130)


if __name__ == "__main__":
    main()
