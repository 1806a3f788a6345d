"""For what an update waits before it goes on once: the platform's controllers, and nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from localcloud import binaries
from localcloud.cluster import controllers
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover, enter
from tests.fakes.script import SHEBANG

KUBECTL = """\
{shebang}# Gets Deployments and waits for them, as kubectl does; what is not ready never will be, and time is up.
import json, sys
words = sys.argv[1:]
table = {table!r}
if words[0] == "get":
    items = [{{"metadata": dict(zip(("namespace", "name"), key.split("/"))), "status": {{}}}} for key in table]
    print(json.dumps({{"items": items}}))
    sys.exit(0)
if "-f" in words:
    asked = [one["metadata"]["namespace"] + "/" + one["metadata"]["name"] for one in json.load(sys.stdin)["items"]]
else:
    asked = list(table)
late = [key for key in asked if not table[key]]
for key in late:
    print("error: timed out waiting for the condition on deployments/" + key.partition("/")[2], file=sys.stderr)
sys.exit(bool(late))
"""

AWAY = {"cert-manager/cert-manager-webhook": True, "lws-system/lws-controller-manager": True}
KSERVE = "kserve/llmisvc-controller-manager"
MODEL = "models/qwen-kserve-router-scheduler"
LATE = "cluster: error: timed out waiting for the condition on deployments/llmisvc-controller-manager"

Deployments = dict[str, bool]
Wait = Callable[[Deployments], list[str]]


@pytest.fixture
def wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Waits in a cluster of Deployments, by ``namespace/name`` with whether they are ready; gives what it says."""

    def command(pid: int, arguments: Sequence[str]) -> list[str]:
        del pid
        return list(arguments)

    def with_(table: Deployments) -> list[str]:
        kubectl = tmp_path / "kubectl"
        kubectl.write_text(KUBECTL.format(shebang=SHEBANG, table=table))
        kubectl.chmod(0o755)
        output = io.StringIO()
        controllers.wait(Workdir(tmp_path, tmp_path / "home", "laptop"), Console(file=output))
        return output.getvalue().splitlines()

    monkeypatch.setattr(discover, "running", lambda home: SimpleNamespace(init=SimpleNamespace(pid=1)))  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setattr(enter, "command", command)
    monkeypatch.setattr(binaries, "path", lambda name: tmp_path / name)  # pyright: ignore[reportUnknownLambdaType]
    return with_


@pytest.mark.parametrize(("kserve", "said"), [(True, []), (False, [LATE])])
def test_a_controller_that_does_not_come_back_is_said_and_no_models_deployment_is_waited_for(
    wait: Wait, kserve: bool, said: list[str]
) -> None:
    assert wait({**AWAY, KSERVE: kserve, MODEL: False}) == said
