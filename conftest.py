"""What all tests start from."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests import golden, graphs

PRODUCT, LOCAL_CLOUDS = (Path(__file__).parent / name for name in ("tests", "localcloud/tests"))
ON_REQUEST = (
    PRODUCT / "first_hour",
    LOCAL_CLOUDS / "life_cycle" / "test_counter_examples.py",
    LOCAL_CLOUDS / "life_cycle" / "test_seeds.py",
    LOCAL_CLOUDS / "published_provider",
    LOCAL_CLOUDS / "real_kubernetes",
)
"""Tests that take minutes, install packages or need built programs: collected only if an argument names them, a test in
them, or a folder above them that is not a whole suite."""

# Results must not depend on official plugins that a developer has, nor on those that could be downloaded.
os.environ["LLMD_GKE_PLUGINS"] = "built"

# Speed is for benchmarks: an example may take any time on a busy machine.
settings.register_profile("without time limits", deadline=None)
settings.load_profile("without time limits")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this project's tests."""
    parser.addoption("--minutes", type=float, help="leave out tests of the laptop cloud that would begin later")
    parser.addoption("--rewrite", action="store_true", help="write what tests compare with committed files to them")


def pytest_configure(config: pytest.Config) -> None:
    """Makes ``--rewrite`` known to the tests."""
    golden.rewrite = config.getoption("rewrite")


def pytest_collection_finish() -> None:
    """Leaves what was imported and collected to itself: walking through it took a quarter of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)


@pytest.fixture(scope="session", autouse=True)
def _shared_graphs(tmp_path_factory: pytest.TempPathFactory) -> None:  # pyright: ignore[reportUnusedFunction]
    """The folder of a run, which has one below it for each worker."""
    base = tmp_path_factory.getbasetemp()
    graphs.folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "graphs"
    graphs.folder.mkdir(exist_ok=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out what no argument asks for."""
    if collection_path not in ON_REQUEST:
        return None
    words = (Path(word.partition("::")[0]).absolute() for word in config.invocation_params.args)
    asked = [word for word in words if PRODUCT in word.parents or LOCAL_CLOUDS in word.parents]
    near = any(collection_path in (one, *one.parents) or one in collection_path.parents for one in asked)
    return None if near else True


# A shell lets a command in the background ignore Ctrl-C, nohup a closed terminal, and what it starts, too:
# tests that send these signals would wait for an answer that never comes.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
