"""A destroy that is stopped while it deletes: the engine ends with 0, and resources remain."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from localcloud.workflow import state
from tests.real_engine.harness import GOOGLE, Rehearsal, until

CHAIN = f"""{GOOGLE}
above = Google("network:Network", "net", autoCreateSubnetworks=False)
for number in range(40):
    above = Google("address:Address", f"ip{{number}}", (above,), region="europe-west4")
"""
"""Resources that are deleted one after the other: after the first, a destroy has long to go."""

MAKEFILE = """\
down:
\t@"{python}" -m localcloud --cloud $(CLOUD) down --stack $(STACK)
"""


@pytest.fixture
def chain(rehearsal: Rehearsal) -> Rehearsal:
    rehearsal.program(CHAIN)
    rehearsal.up()
    (rehearsal.root / "Makefile").write_text(MAKEFILE.format(python=sys.executable))
    return rehearsal


def deleting(rehearsal: Rehearsal) -> bool:
    return bool(rehearsal.requests("compute.addresses.delete"))


def test_a_stopped_down_keeps_what_is_left_and_reports_no_bug(chain: Rehearsal) -> None:
    with chain.started("down") as down:
        until(lambda: deleting(chain), "the first resource is being deleted")
        down.send_signal(signal.SIGINT)
        output, _ = down.communicate(timeout=120)
    assert down.returncode == 130, output
    assert "`make down` continues" in output
    assert "bug" not in output
    left = chain.state()
    assert left is not None
    assert set(left.ids) == set(chain.cloud()) != set()
    assert state.locks(chain.workdir, "local") == []
    assert "Nothing is left" in chain.down().stdout
    assert chain.cloud() == {}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP], ids=["ctrl-c", "closed-terminal"])
def test_a_stopped_llmd_gke_destroy_names_what_is_left_and_how_to_go_on(chain: Rehearsal, sent: signal.Signals) -> None:
    command = [sys.executable, "-m", "operations", "destroy", "--stack", "local", "--cloud", "rehearsal"]
    with subprocess.Popen(
        command, cwd=chain.folder, env=chain.environment, stdout=-1, stderr=-2, stdin=-3, text=True
    ) as destroy:
        chain.running.append(destroy)
        until(lambda: deleting(chain), "the first resource is being deleted")
        destroy.send_signal(sent)
        output, _ = destroy.communicate(timeout=120)
    assert destroy.returncode == 130, output
    left = chain.state()
    assert left is not None
    assert f"{len(left.urns)} resources left" in output
    assert f"{left.urns[-1].rpartition('::')[2]}, " in output
    assert "`llmd-gke destroy --stack local --cloud rehearsal` continues" in output
    assert "Traceback" not in output
    assert chain.processes() == []
    assert subprocess.run(command, cwd=chain.folder, env=chain.environment, check=False).returncode == 0
    assert chain.cloud() == {}
