"""The commands of the README's section on Google Cloud, in a new clone, with stand-ins for Google."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from llmd_gke.repository import CLONE
from localcloud.common.environment import is_removed, own
from localcloud.common.workdir import Workdir, cache_folder
from localcloud.pulumi_cli import resolve
from localcloud.workflow import home
from tests.fakes.vllm import Behaviour, serving
from tests.operations.status.shapes import server
from tests.real_engine.harness import APIS_ON

SECTION = re.compile(r"^## Use it on Google Cloud\n(.*?)^##", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^(\d)\. ", re.MULTILINE)
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PROVIDERS = ("GCE_METADATA_HOST", "GOOGLE_APPLICATION_CREDENTIALS", "NO_GCE_CHECK", "PULUMI_HOME")
"""Variables of the rehearsal that replace Google's provider and keep its credentials away. Cloud and state are those of
the README."""
KUBECTL = """#!/bin/sh
case "$*" in
*" get "*) echo '{pods}' ;;
*) echo "Forwarding from 127.0.0.1:{port} -> 8000"; exec sleep 600 ;;
esac
"""
WAIT_SECONDS = 1800


def steps() -> dict[int, list[str]]:
    section = SECTION.search((CLONE / "README.md").read_text())
    assert section
    parts = STEP.split(section[1])[1:]
    return {int(number): BLOCK.findall(text) for number, text in zip(parts[::2], parts[1::2], strict=True)}


def stand_in(folder: Path, name: str) -> None:
    program = folder / name
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{folder}/{name}.txt"\n')
    program.chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize("way", [0, 1], ids=["make venv", "own environment"])
def test_the_smallest_stack_answers_and_goes_and_the_next_is_asked_with_its_key(tmp_path: Path, way: int) -> None:
    engine = resolve.ready(cache_folder())
    assert engine is not None, "run: .venv/bin/python -m localcloud setup"
    clone, programs, bucket = tmp_path / "my clone", tmp_path / "bin", tmp_path / "bucket"
    subprocess.run(["git", "clone", "--quiet", str(CLONE), str(clone)], check=True)
    for folder in (programs, bucket):
        folder.mkdir()
    for name in ("curl", "gcloud"):
        stand_in(programs, name)
    workdir = Workdir(clone, tmp_path / "home")
    home.prepare(workdir, engine)
    (tmp_path / "faults.json").write_text(json.dumps(APIS_ON))
    values = own(workdir)
    kept = {name: value for name, value in os.environ.items() if not is_removed(name) and name != "MAKEFLAGS"}
    environment = {name: value for name, value in kept.items() if name not in ("LLMD_GKE_ROOT", "LLMD_GKE_CLOUD")}
    environment |= {
        name: value for name, value in values.items() if name in PROVIDERS or name.startswith("PULUMI_DISABLE")
    }
    environment |= {
        "LLMD_GKE_HOME": values["LLMD_GKE_HOME"],
        "LLMD_GKE_FAULTS": str(tmp_path / "faults.json"),
        "PATH": f"{programs}:{engine.pulumi.parent}:{os.environ['PATH']}",
    }
    written = steps()
    assert list(written) == list(range(1, 10))
    # Without `doctor`, which asks Google.
    script = "".join([written[1][way], *(block for step in (2, 3, 4, 6, 7, 8, 9) for block in written[step])])
    for placeholder, value in {
        "gs://YOUR-BUCKET": f"file://{bucket}",
        "YOUR-PROJECT": "my-project-1",
        "pulumi up": "pulumi up --yes",
        "llmd-gke destroy": "llmd-gke destroy --yes",
    }.items():
        assert placeholder in script
        script = script.replace(placeholder, value)
    with serving(Behaviour(prefix="", names=("qwen",))) as url:
        kubectl = programs / "kubectl"
        pods = json.dumps({"items": [server(ready=True)]})
        kubectl.write_text(KUBECTL.format(pods=pods, port=url.rpartition(":")[2]))
        kubectl.chmod(0o755)
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    assert "word word" in done.stdout, "the model's answer is shown"
    assert "Stack dev is destroyed" in done.stdout
    key = re.search(r"^trial: (\S+)$", done.stdout, re.MULTILINE)
    assert key, "the key is shown"
    assert f"authorization: Bearer {key[1]}\n" in (programs / "curl.txt").read_text()
    assert key[1] not in (clone / "Pulumi.eu4a.yaml").read_text()
