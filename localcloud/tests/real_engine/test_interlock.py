"""Nothing that make starts can reach Google."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import yaml

from localcloud.workflow.home import launchers
from tests.real_engine.harness import GOOGLE, Rehearsal

PROGRAM_THAT_TELLS = """
import json, os, pathlib

pathlib.Path(os.environ["LLMD_GKE_HOME"], "seen.json").write_text(json.dumps(dict(os.environ)))
Google("network:Network", "net", autoCreateSubnetworks=False)
"""
PLANTED = {
    "GOOGLE_CREDENTIALS": '{"type": "service_account"}',
    "GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.planted",
    "GOOGLE_APPLICATION_CREDENTIALS": "/planted/key.json",
    "GCLOUD_PROJECT": "planted",
    "CLOUDSDK_CONFIG": "/planted/gcloud",
    "CLOUDSDK_AUTH_ACCESS_TOKEN": "planted",
    "KUBECONFIG": "/planted/kubeconfig",
    "PULUMI_ACCESS_TOKEN": "pul-planted",
    "PULUMI_BACKEND_URL": "https://planted.invalid",
    "PULUMI_DEBUG_PROVIDERS": "gcp:1,kubernetes:1",
    "PULUMI_CONFIG_PASSPHRASE": "planted",
    "AWS_SECRET_ACCESS_KEY": "planted",
    "HF_TOKEN": "hf_planted",
}


def plant(folder: Path, mark: Path) -> None:
    """A `real` provider that leaves a mark when anything starts it."""
    folder.mkdir(parents=True, exist_ok=True)
    for provider in ("gcp", "kubernetes"):
        file = folder / f"pulumi-resource-{provider}"
        file.write_text(f"#!/bin/sh\necho started >> {mark}\nexit 1\n")
        file.chmod(0o755)


def test_a_provider_on_the_path_or_in_the_users_plugin_cache_is_never_started(small: Rehearsal, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    plant(tmp_path / "bin", mark)
    cache = small.environment.get("LLMD_GKE_CACHE") or str(Path.home() / ".cache" / "llmd-gke")
    path = f"{tmp_path / 'bin'}:{small.environment['PATH']}"
    small.environ |= {"PATH": path, "HOME": str(tmp_path / "user"), "LLMD_GKE_CACHE": cache}
    for provider in ("gcp", "kubernetes"):
        version = metadata.version(f"pulumi-{provider}")
        plant(tmp_path / "user" / ".pulumi" / "plugins" / f"resource-{provider}-v{version}", mark)
    small.up()
    small.preview("eu4a")
    small.pulumi("refresh", "--yes", "--skip-preview")
    small.down()
    assert not mark.exists()


def test_no_credential_reaches_the_program_or_the_providers(small: Rehearsal) -> None:
    small.program(GOOGLE + PROGRAM_THAT_TELLS)
    small.environ.update(PLANTED)
    small.up()
    seen = json.loads((small.workdir.home / "seen.json").read_text())
    values = " ".join(seen.values())
    assert "planted" not in values.replace(str(small.folder), "")
    assert not Path(seen["GOOGLE_APPLICATION_CREDENTIALS"]).exists()
    assert list(Path(seen["CLOUDSDK_CONFIG"]).iterdir()) == []
    assert len(small.cloud()) == 1


def test_a_provider_in_the_rehearsals_plugin_folder_is_refused(small_running: Rehearsal, tmp_path: Path) -> None:
    small = small_running
    mark = tmp_path / "mark"
    plant(small.workdir.plugins / "resource-gcp-v10.9.9", mark)
    for done in (small.up(check=False), small.preview(check=False), small.pulumi("preview", check=False)):
        assert done.returncode == 4
        assert "resource-gcp-v10.9.9" in done.stdout
        assert "Fix:" in done.stdout
    assert not mark.exists()


def test_a_replaced_stand_in_is_put_back_or_refused(small_running: Rehearsal, tmp_path: Path) -> None:
    small = small_running
    mark = tmp_path / "mark"
    launcher = next(path for path in launchers(small.workdir) if path.name == "pulumi-resource-gcp")
    plant(launcher.parent, mark)
    plain = small.pulumi("preview", check=False)
    assert plain.returncode == 4
    assert str(launcher) in plain.stdout
    assert small.up(check=False).returncode == 4  # pulumi-resource-kubernetes lies in the wrong folder
    assert not mark.exists()


def test_plugins_in_the_project_file_are_refused(small: Rehearsal, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    plant(tmp_path / "real", mark)
    file = small.root / "Pulumi.yaml"
    project = yaml.safe_load(file.read_text())
    project["plugins"] = {"providers": [{"name": "gcp", "path": str(tmp_path / "real")}]}
    file.write_text(yaml.safe_dump(project))
    for done in (small.up(check=False), small.preview(check=False)):
        assert done.returncode == 4
        assert "plugins:" in done.stdout
    assert not mark.exists()
