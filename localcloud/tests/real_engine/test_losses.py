"""The section "Losses" of docs/runbook.md, walked with the plain engine as on Google Cloud: each loss, then its
commands, then a stack that is whole, with nothing made twice.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.repository import CLONE
from localcloud.common.environment import clean
from localcloud.common.workdir import cache_folder
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.pulumi_cli import resolve
from localcloud.tests.life_cycle.by_hand import delete
from localcloud.workflow import cloud_files, state
from tests.real_engine.harness import Rehearsal

TOKEN = "hf_CANARY0123456789"
ANSWERS = {"change-secrets-provider": "YOUR-NEW-PASSPHRASE\n" * 2, "config set --secret": TOKEN}
"""What is typed where a command asks."""


class Owner:
    """Who has the stack `local`: in a shell with the engine, the passphrase, and the salt in the stack file."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal, self.root = rehearsal, rehearsal.root
        self.file = rehearsal.workdir.stack_file("local")
        engine = resolve.ready(cache_folder())
        assert engine is not None
        inherited = clean(rehearsal.environment, rehearsal.workdir)
        self.environment = {
            **{name: value for name, value in inherited.items() if "PASSPHRASE" not in name},
            "PATH": os.pathsep.join((str(engine.pulumi.parent), str(CLONE / ".venv/bin"), os.environ["PATH"])),
            "LLMD_GKE_ROOT": str(self.root),
            "PULUMI_CONFIG_PASSPHRASE": rehearsal.workdir.passphrase.read_text().strip(),
            "PULUMI_SKIP_CONFIRMATIONS": "true",
        }
        copy = yaml.safe_load(rehearsal.workdir.stack_copy("local").read_text())
        self.write(lambda content: content.update(encryptionsalt=copy["encryptionsalt"]))

    def write(self, change: Callable[[dict[str, Any]], object]) -> None:
        content = yaml.safe_load(self.file.read_text())
        change(content)
        self.file.write_text(yaml.safe_dump(content))

    def run(self, line: str, *, check: bool = True) -> int:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.root,
            env=self.environment,
            input=next((text for words, text in ANSWERS.items() if words in line), ""),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert not check or done.returncode == 0, f"{line}\n{done.stdout}"
        return done.returncode

    def follow(self, heading: str, edit: Callable[[Owner], None] | None) -> None:
        """Does what the page says: its commands, and ``edit`` at its comment."""
        page = (CLONE / "docs/runbook.md").read_text()
        block = page.partition(f"\n### {heading}\n")[2].partition("```sh\n")[2].partition("```")[0]
        for line in block.replace("STACK", "local").splitlines():
            if line.startswith("#"):
                assert edit is not None
                edit(self)
            elif line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                self.environment[name] = value
            else:
                self.run(line)


def cluster(owner: Owner) -> None:
    entries = {(str(one["type"]), ident) for ident, one in owner.rehearsal.cloud().items() if "/clusters/" in ident}
    assert delete(owner.rehearsal.workdir.cloud, {one for one in entries if one[0].startswith("gcp:")})


def namespace(owner: Owner) -> None:
    with CloudFile(owner.rehearsal.workdir.cloud / cloud_files.FILES[1]).edit() as content:
        clusters: dict[str, Any] = content["clusters"]  # type: ignore[assignment]
        for kinds in clusters.values():
            for kind, objects in kinds.items():
                for ident in [one for one in objects if one.startswith("kserve/")]:
                    del objects[ident]
                if kind.startswith("v1/Namespace"):
                    del objects["kserve"]


def state_with_export(owner: Owner) -> None:
    owner.run("pulumi stack export --stack local --file state.json")
    (state.folder(owner.rehearsal.workdir) / "local.json").unlink()


def older_state(owner: Owner) -> None:
    owner.run("pulumi stack export --stack local --file older.json")
    owner.write(lambda content: content["config"]["llmd-gke:models"][0].update(replicas=4))
    owner.run("pulumi up --stack local")
    owner.run("pulumi stack import --stack local --file older.json")


def fill_in(owner: Owner) -> None:
    file = owner.root / "import.json"
    listed = json.loads(file.read_text())
    for one in listed["resources"]:
        (one["id"],) = (ident for ident in owner.rehearsal.cloud() if ident.endswith(f"/{one['name']}"))
    file.write_text(json.dumps(listed))


def passphrase(owner: Owner) -> None:
    owner.write(lambda content: content["config"]["llmd-gke:models"][0].update(gated=True))
    owner.run("pulumi config set --secret llmd-gke:hfToken --stack local")
    owner.run("pulumi up --stack local")
    owner.environment["PULUMI_CONFIG_PASSPHRASE"] = "forgotten"


def without_secrets(owner: Owner) -> None:
    owner.write(lambda content: (content.pop("encryptionsalt"), content["config"].pop("llmd-gke:hfToken")))


@pytest.fixture
def owner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Owner]:
    """The owner of a copy of the stack that the fixture named by the test's parameter has brought up."""
    made = Rehearsal(tmp_path)
    made.continue_from(request.getfixturevalue(request.param))
    yield Owner(made)
    made.stop_everything()


@pytest.mark.parametrize(
    ("owner", "heading", "lose", "edit"),
    [
        ("brought_up", "The cluster", cluster, None),
        ("brought_up", "A namespace", namespace, None),
        ("small_brought_up", "The state, with an export", state_with_export, None),
        ("small_brought_up", "A state that is older than the world", older_state, fill_in),
        ("brought_up", "The passphrase or key", passphrase, without_secrets),
    ],
    indirect=["owner"],
)
def test_what_the_runbook_says_brings_a_lost_stack_back(
    owner: Owner, heading: str, lose: Callable[[Owner], None], edit: Callable[[Owner], None] | None
) -> None:
    whole = "pulumi preview --stack local --refresh --expect-no-changes"
    before = owner.rehearsal.cloud().keys()
    lose(owner)
    made = owner.rehearsal.cloud().keys() - before
    assert owner.run(whole, check=False) != 0
    owner.follow(heading, edit)
    owner.run(whole)
    assert owner.rehearsal.cloud().keys() == before | made


def test_another_passphrase_opens_the_stack_and_the_old_one_does_not(small_running: Rehearsal) -> None:
    owner = Owner(small_running)
    owner.follow("Another passphrase or key", None)
    shows = "pulumi stack output password --show-secrets --stack local | grep geheim"
    assert owner.run(shows, check=False) != 0
    owner.environment["PULUMI_CONFIG_PASSPHRASE"] = "YOUR-NEW-PASSPHRASE"
    owner.run(shows)
