"""Fixtures of the tests on the laptop cloud; ``Laptop`` is in ``harness.py``.

They run with ``make test CLOUD=laptop`` or when a path below this folder is given.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from xdist.remote import Producer  # pyright: ignore[reportMissingTypeStubs]

from localcloud import binaries
from localcloud.cluster import autoscaling as keda
from localcloud.monitoring import options
from localcloud.tests.real_kubernetes import autoscaling, bare_cluster, sharing, small_cluster
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up, until
from localcloud.tests.real_kubernetes.programs import CONTROL_PLANE_PROGRAMS, need, skip_unless_built
from localcloud.tests.real_kubernetes.prometheus import FASTER
from tests.real_engine.harness import SMALL_PROGRAM

HERE = Path(__file__).parent
DEADLINE = pytest.StashKey[sharing.Deadline]()
RUNNING = pytest.StashKey[list[Laptop]]()
"""Clusters that the tests of a group share."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[DEADLINE] = sharing.Deadline(config.getoption("minutes"))
    config.stash[RUNNING] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The hook is called with all tests of a run, also those of other folders.
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    for item in ours:
        item.add_marker(pytest.mark.laptop)
    ours.sort(key=lambda item: sharing.rank(item.nodeid))
    items[:] = [item for item in items if not item.path.is_relative_to(HERE)] + ours


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> sharing.Together | None:
    # Other ways to distribute would start clusters that are shared in every worker.
    return sharing.Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.path.is_relative_to(HERE):
        item.config.stash[DEADLINE].check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    done = yield
    if nextitem is None or sharing.group(nextitem.nodeid) != sharing.group(item.nodeid):
        # Nobody asks for them again, and an idle cluster takes a fifth of a processor and two gigabytes.
        while item.config.stash[RUNNING]:
            item.config.stash[RUNNING].pop().stop_everything()
    return done


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was left out: pytest counts tests that were skipped for one reason as one line."""
    skipped = cast("list[pytest.TestReport]", terminalreporter.stats.get("skipped", []))
    left_out = [report.nodeid for report in skipped if sharing.LEFT_OUT in str(report.longrepr)]
    if left_out:
        terminalreporter.section(f"{len(left_out)} tests {sharing.LEFT_OUT}")
        for name in left_out:
            terminalreporter.write_line(name)


@pytest.fixture(scope="session")
def whole() -> None:
    """Everything that a laptop cloud needs is there; a test run must not build it by the way."""
    need(binaries.names())


@pytest.fixture(scope="session")
def control_plane() -> None:
    """The control plane's programs are there."""
    need(CONTROL_PLANE_PROGRAMS)


@pytest.fixture(scope="session")
def laptop(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, whole: None) -> Iterator[Laptop]:
    """A laptop cloud with stack ``local`` up, started once for all tests that ask for it.

    A test that changes it puts it back: settings, objects and replicas.
    """
    folder, variables = tmp_path_factory.mktemp("laptop"), {"LLMD_GKE_SCALE_DOWN_SECONDS": "15"}
    with brought_up(folder, environment=variables, running=pytestconfig.stash[RUNNING]) as made:
        yield made


def one_request_at_a_time(config: dict[str, Any]) -> None:
    """So that a small load fills the servers."""
    config["llmd-gke:models"][0]["maxNumSeqs"] = 1


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, whole: None) -> Iterator[Laptop]:
    """A laptop cloud with stack ``local`` up and a Prometheus, every interval divided by :data:`FASTER`.

    Skipped where Prometheus is not built, also with ``make test CLOUD=laptop``: ``.ci/full monitoring`` builds it.
    """
    skip_unless_built(options.PROGRAMS)
    variables = {
        options.VARIABLE: str(FASTER),
        "LLMD_GKE_MODEL_START_SECONDS": "20",
        "LLMD_GKE_BACK_OFF_SECONDS": "0.2",
    }
    folder, running = tmp_path_factory.mktemp("watched"), pytestconfig.stash[RUNNING]
    with brought_up(folder, "local", one_request_at_a_time, variables, running) as made:
        yield made


@pytest.fixture(scope="session")
def scaled(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, whole: None) -> Iterator[Laptop]:
    """A laptop cloud with stack ``local`` up, whose model has bounds instead of a number of replicas.

    Skipped where KEDA is not built, also with ``make test CLOUD=laptop``: ``.ci/full autoscaling`` builds it.
    """
    skip_unless_built(keda.PROGRAMS)
    variables = {
        options.VARIABLE: str(FASTER),
        "LLMD_GKE_SIMULATOR_ARGS": autoscaling.SIMULATOR,
        "LLMD_GKE_SCALE_DOWN_SECONDS": "15",
    }
    folder, running = tmp_path_factory.mktemp("scaled"), pytestconfig.stash[RUNNING]
    with brought_up(folder, "local", autoscaling.settings, variables, running) as made:
        yield made


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Laptop]:
    """A cluster without program and KServe, started once: two nodes, the Gateway API on (``bare_cluster.py``)."""
    need((*CONTROL_PLANE_PROGRAMS, "endpoint-picker", "vllm-simulator"))
    made = Laptop(tmp_path_factory.mktemp("bare"))
    pytestconfig.stash[RUNNING].append(made)
    made.copy_project()
    try:
        bare_cluster.start(made)
        yield made
    finally:
        made.stop_everything()


@pytest.fixture(scope="session")
def _nodes_and_kubelet(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, control_plane: None
) -> Iterator[Laptop]:
    with small_cluster.cluster(tmp_path_factory.mktemp("pods"), LLMD_GKE_BACK_OFF_SECONDS="0.2") as made:
        pytestconfig.stash[RUNNING].append(made)
        until(lambda: made.get("serviceaccount", "default"), "the namespace's service account", 30)
        yield made


@pytest.fixture
def kubelet(_nodes_and_kubelet: Laptop) -> Iterator[Laptop]:
    """A cluster with one node and nothing else, started once; its pods go after every test."""
    yield _nodes_and_kubelet
    _nodes_and_kubelet.kubectl("delete", "pods", "--all", "--wait=false", check=False)


@pytest.fixture
def another(tmp_path: Path, control_plane: None) -> Iterator[Callable[[str], Laptop]]:
    """Makes laptop clouds of the test's own, by name; nothing runs in them yet."""
    made: list[Laptop] = []

    def make(name: str = "one") -> Laptop:
        folder = tmp_path / name
        folder.mkdir()
        one = Laptop(folder)
        one.copy_project()
        made.append(one)
        return one

    yield make
    for one in made:
        one.stop_everything()


@pytest.fixture
def small(another: Callable[[str], Laptop], whole: None) -> Laptop:
    """A laptop cloud of the test's own with a program of three Google resources, for tests of the life cycle."""
    made = another("small")
    made.program(SMALL_PROGRAM)
    return made
