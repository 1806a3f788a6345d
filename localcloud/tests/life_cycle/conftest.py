"""Whole life cycles take minutes: `.ci/full faults` plays them, `make test` only tests what they are made of."""

from __future__ import annotations

import os

from localcloud.tests.published_provider.conftest import ASKED

collect_ignore = [] if os.environ.get(ASKED) == "1" else ["test_counter_examples.py"]
