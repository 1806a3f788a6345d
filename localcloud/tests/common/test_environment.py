"""Credentials stay outside; the shell file does the same as the environment of make's own commands.

``real_engine/test_interlock.py`` shows that none reaches the program, and that Google's libraries find nothing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from localcloud.common.environment import DIRECT, clean, quote, script
from localcloud.common.workdir import Workdir


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path / "it's here", tmp_path / 'home `id` $HOME "x"')


@pytest.mark.parametrize(
    "name",
    [
        "GOOGLE_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_OAUTH_ACCESS_TOKEN", "GCLOUD_PROJECT",
        "CLOUDSDK_CONFIG", "KUBECONFIG", "PULUMI_ACCESS_TOKEN", "PULUMI_DEBUG_PROVIDERS", "PULUMI_CONFIG_PASSPHRASE",
        "PULUMI_OPTION_CONFIG_FILE", "AWS_SECRET_ACCESS_KEY", "ARM_CLIENT_SECRET", "VAULT_TOKEN", "HF_TOKEN",
        "GITHUB_TOKEN", "PYTHONPATH",
    ],
)  # fmt: skip
def test_what_could_carry_credentials_or_change_the_engine_is_removed(name: str, workdir: Workdir) -> None:
    assert clean({name: "planted"}, workdir).get(name) != "planted"


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "TERM", "HTTPS_PROXY", "LLMD_GKE_FAULTS", "SSL_CERT_FILE", "PULUMI_K8S_DELETE_UNREACHABLE"],
)
def test_what_is_harmless_stays(name: str, workdir: Workdir) -> None:
    assert clean({name: "kept"}, workdir)[name] == "kept"


@pytest.mark.parametrize(
    ("given", "exempt"),
    [
        ({}, DIRECT),
        ({"NO_PROXY": "corp.example"}, f"corp.example,{DIRECT}"),
        ({"no_proxy": "corp.example"}, f"corp.example,{DIRECT}"),
        ({"NO_PROXY": f"a,{DIRECT},b", "no_proxy": "c"}, f"a,{DIRECT},b"),
    ],
)
def test_this_machine_is_reached_without_a_proxy(given: dict[str, str], exempt: str, workdir: Workdir) -> None:
    made = clean({"HTTPS_PROXY": "http://proxy.example:3128", **given}, workdir)
    assert (made["NO_PROXY"], made["no_proxy"]) == (exempt, exempt)
    assert clean(made, workdir) == made


@pytest.mark.parametrize("proxies", [{}, {"NO_PROXY": "a"}, {"no_proxy": "b"}, {"NO_PROXY": "a", "no_proxy": "b"}])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_that_sources_the_file_has_the_same_environment(
    tmp_path: Path, workdir: Workdir, shell: str, proxies: dict[str, str]
) -> None:
    file = tmp_path / "env.sh"
    file.write_text(script(workdir))
    before = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/root",
        "GOOGLE_CREDENTIALS": '{\n"a": 1\n}',
        "PULUMI_ACCESS_TOKEN": "x",
        "KEEP": "1",
        **proxies,
    }
    command = [shell, "-c", f". {quote(str(file))} && . {quote(str(file))} && env -0"]
    shown = subprocess.run(command, env=before, capture_output=True, text=True, check=True).stdout
    after = dict(entry.split("=", 1) for entry in shown.split("\0") if "=" in entry)
    for noise in ("PWD", "SHLVL", "_", "OLDPWD"):
        after.pop(noise, None)
    expected = clean(before, workdir) | {"PATH": f"{workdir.wrapper}:/usr/bin:/bin"}
    assert after == expected


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY"])
def test_inside_the_laptop_cloud_nothing_asks_a_proxy(name: str, workdir: Workdir) -> None:
    assert name not in clean({name: "http://proxy.example:3128"}, Workdir(workdir.root, workdir.home, "laptop"))
