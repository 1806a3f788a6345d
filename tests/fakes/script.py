"""How a program that a test writes as a Python script begins."""

from __future__ import annotations

import sys

SHEBANG = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n"
"""Runs the rest with this Python: the kernel splits a ``#!`` line at spaces, which the path of a clone may have."""
