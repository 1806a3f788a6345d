"""What tests need that is already built: a test run must not build it by the way."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from llmd_common.problems import SetUpFailed
from localcloud import binaries
from localcloud.binaries import resolve as programs
from localcloud.common.workdir import cache_folder
from localcloud.linux_namespaces import rights
from localcloud.pulumi_cli import resolve

CONTROL_PLANE_PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


def need(names: Iterable[str]) -> None:
    """Fails when something is not set up."""
    try:
        rights.options()
        for name in names:
            binaries.path(name)
        if resolve.ready(cache_folder()) is None:
            raise SetUpFailed("The Pulumi engine is not set up. Fix: make up")
    except SetUpFailed as problem:
        pytest.fail(str(problem))


def skip_unless_built(names: Iterable[str]) -> None:
    """Skips where programs are missing that only some stacks need: the suites of ``.ci/full`` build them."""
    if missing := [name for name in names if not programs.ready(name, cache_folder())]:
        pytest.skip(
            f"not built: {', '.join(missing)}. Fix: .venv/bin/python -m localcloud programs {' '.join(missing)}"
        )
