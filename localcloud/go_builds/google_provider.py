"""Google's provider without the pauses that it makes for Google's own delays.

Google's IAM shows a new service account, or a new role, only after some seconds. Upstream therefore looks three times
and waits on; the emulator shows them at once. The provider has no setting for these pauses, and no plan or request
depends on them. Source: hashicorp/terraform-provider-google v7.39.0, the files named below.
"""

from __future__ import annotations

from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.wrapper import ModuleChanges

ACCOUNT, ROLE = "google/services/resourcemanager/resource_google_service_account.go", "google/tpgiamresource/iam.go"
PAUSES = (
    (ACCOUNT, "time.Sleep(10 * time.Second)", "time.Sleep(0 * time.Second)"),
    (ACCOUNT, "time.Sleep(time.Second * 5)", "time.Sleep(time.Second * 0)"),
    (ACCOUNT, "3, // Number of consecutive occurences", "1, // Number of consecutive occurences"),
    (ROLE, "fetchBackoff := 1 * time.Second", "fetchBackoff := 1 * time.Millisecond"),
)
"""File, what upstream has there, and what takes its place."""


def without_pauses(module: Path) -> dict[str, str]:
    """Files of the module that change, with their text.

    Raises ``SetUpFailed`` for a version whose pauses look different.
    """
    files = {name: (module / name).read_text() for name, _, _ in PAUSES}
    for name, pause, instead in PAUSES:
        if pause not in files[name]:
            raise SetUpFailed(
                f"{name} of this version of Google's provider has no `{pause}`.\nFix: correct "
                "localcloud/go_builds/google_provider.py, or choose another version in llmd_gke/catalog/versions.toml."
            )
        files[name] = files[name].replace(pause, instead)
    return files


WITHOUT_PAUSES = ModuleChanges(without_pauses, " ".join(instead for _, _, instead in PAUSES))
