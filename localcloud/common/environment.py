"""The environment of everything that the rehearsal starts: no credentials, no foreign plugins, a home of its own.

Users' variables are in localcloud/docs/rehearsal.md. Internal ones: processes find their cloud by ``LLMD_GKE_HOME``,
``LLMD_GKE_ROOT`` (the project) and ``LLMD_GKE_CLOUD`` (its kind), which :func:`own` sets, also in a sourced shell;
``LLMD_GKE_ENTERED`` marks a command that has entered the namespaces (operations/enter_localcloud.py);
``LLMD_GKE_GOOGLE_API`` (localcloud/google_api) and ``LLMD_GKE_GOOGLE_ENDPOINT`` (operations/doctor) are the addresses
of emulators; ``LLMD_GKE_BACK_OFF_SECONDS`` (localcloud/nodes/timings.py) lets tests of restarts end sooner.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir

PREFIXES = (
    "ARM_", "AWS_", "AZURE_", "BOTO", "CLOUDSDK_", "CLOUD_SDK_", "GCE_", "GCLOUD", "GCP_", "GITHUB_TOKEN", "GKE_",
    "GOOGLE_", "HELM_", "HF_", "HUGGINGFACE", "HUGGING_FACE", "KUBE", "PULUMI_", "USE_GKE_GCLOUD_AUTH_PLUGIN", "VAULT_",
)  # fmt: skip
"""Variables that could carry credentials, point to a real cluster or change what the engine runs."""

NAMES = frozenset({"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "SSH_AUTH_SOCK", "VIRTUAL_ENV"})

KEPT = frozenset({"PULUMI_K8S_DELETE_UNREACHABLE", "PULUMI_K8S_ENABLE_PATCH_FORCE"})
"""Variables that start with a removed prefix, but are the user's decision: a failed command or `llmd-gke adopt` names
them."""

PROXIES = ("ALL_PROXY", "FTP_PROXY", "GRPC_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
"""Variables of proxies, also in lower case. A proxy cannot be reached from a laptop cloud, and clients would use it."""


DIRECT = "localhost,127.0.0.1,::1"
"""Addresses that are never reached through a proxy: the program calls the engine, and the engine its plugins, by gRPC
on loopback, and unlike Go's HTTP client gRPC would use a proxy for that."""


def direct(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that exempt this machine from proxies, in both spellings, with what the user has exempted."""
    exempt = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    if f",{DIRECT}," not in f",{exempt},":
        exempt = f"{exempt},{DIRECT}" if exempt else DIRECT
    return {"NO_PROXY": exempt, "no_proxy": exempt}


def is_proxy(name: str) -> bool:
    """Whether a variable sets a proxy."""
    return name.upper() in PROXIES


def is_removed(name: str) -> bool:
    """Whether a variable is removed from the environment."""
    return (name.upper().startswith(PREFIXES) and name not in KEPT) or name in NAMES


def own(workdir: Workdir) -> dict[str, str]:
    """Variables that are set, whatever their former values.

    The Google variables name files that do not exist: every client library then fails at once, rather than falling back
    to the user's login or to a metadata server.
    """
    return {
        "CLOUDSDK_CONFIG": str(workdir.empty_dir),
        "GCE_METADATA_HOST": "127.0.0.1:1",
        "GOOGLE_APPLICATION_CREDENTIALS": str(workdir.empty_dir / "no-credentials.json"),
        "KUBECONFIG": str(workdir.empty_dir / "no-kubeconfig"),
        "LLMD_GKE_CLOUD": workdir.kind,
        "LLMD_GKE_HOME": str(workdir.home),
        "LLMD_GKE_ROOT": str(workdir.root),
        "NO_GCE_CHECK": "true",
        "PULUMI_BACKEND_URL": f"file://{workdir.state}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(workdir.passphrase),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(workdir.pulumi_home),
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }


def clean(environ: Mapping[str, str], workdir: Workdir) -> dict[str, str]:
    """``environ`` without credentials, and with the settings of the rehearsal or the laptop cloud."""
    cleaned = {name: value for name, value in environ.items() if not is_removed(name)} | own(workdir) | direct(environ)
    if not workdir.namespaced:
        return cleaned
    cleaned = {name: value for name, value in cleaned.items() if not is_proxy(name)}
    return cleaned | inside(workdir, cleaned)


def inside(workdir: Workdir, environ: Mapping[str, str]) -> dict[str, str]:
    """Additional variables of processes in the namespaces of a laptop cloud.

    On Google Cloud the DNS endpoint has a public certificate; here its CA takes the place of the public ones. The stub
    of Google's auth plugin is found before the real one.
    """
    path = environ.get("PATH", os.defpath)
    first = str(workdir.wrapper)
    return {
        "PATH": path if path.split(os.pathsep)[0] == first else f"{first}{os.pathsep}{path}",
        "SSL_CERT_FILE": str(Layout(workdir.home).authority),
    }


def script(workdir: Workdir) -> str:
    """A script for ``source`` in sh, bash or zsh that sets the same environment in the shell that reads it."""
    prefixes = "|".join(re.escape(prefix) for prefix in PREFIXES)
    exact = "|".join(sorted(NAMES))
    lines = [
        f"# Source this file: plain `pulumi` commands in this shell then use the {workdir.label},",
        "# never Google Cloud.",
        f"for llmd_gke_name in $(env | sed -n -E 's/^(({prefixes})[A-Za-z0-9_]*|{exact})=.*/\\1/p'); do",
        f'  case "$llmd_gke_name" in {"|".join(sorted(KEPT))}) ;; *) unset "$llmd_gke_name" ;; esac',
        "done",
        "unset llmd_gke_name",
    ]
    lines += [f"export {name}={quote(value)}" for name, value in own(workdir).items()]
    lines += [
        'NO_PROXY="${NO_PROXY:-${no_proxy:-}}"',
        f'case ",$NO_PROXY," in *,{DIRECT},*) ;; *) NO_PROXY="${{NO_PROXY:+$NO_PROXY,}}{DIRECT}" ;; esac',
        'export NO_PROXY no_proxy="$NO_PROXY"',
    ]
    wrapper = quote(str(workdir.wrapper))
    lines += [
        f'case ":$PATH:" in *:{wrapper}:*) ;; *) export PATH={wrapper}:"$PATH" ;; esac',
        "hash -r 2>/dev/null || true",
        "",
    ]
    return "\n".join(lines)


def quote(text: str) -> str:
    """``text`` as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
