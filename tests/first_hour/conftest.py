"""The README's steps on Google Cloud install packages: they run where they are asked for, as `.ci/run` does."""

from __future__ import annotations

import os

ASKED = "LLMD_GKE_TEST_README"
"""Set to 1 where they are to run: they download packages, and take minutes."""

collect_ignore_glob = [] if os.environ.get(ASKED) == "1" else ["test_*.py"]
