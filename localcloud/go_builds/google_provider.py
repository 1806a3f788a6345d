"""Google's provider without the pauses that it makes for Google's own delays, and with Pulumi's label.

Google's IAM shows a new service account, or a new role, only after some seconds. Upstream therefore looks three times
and waits on; the emulator shows them at once. The provider has no setting for these pauses, and no plan or request
depends on them. Source: hashicorp/terraform-provider-google v7.39.0, the files named below.
"""

from __future__ import annotations

from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.wrapper import ModuleChanges

ACCOUNT, ROLE = "google/services/resourcemanager/resource_google_service_account.go", "google/tpgiamresource/iam.go"
CONFIG = "google/transport/config.go"
CHANGES = (
    (ACCOUNT, "time.Sleep(10 * time.Second)", "time.Sleep(0 * time.Second)"),
    (ACCOUNT, "time.Sleep(time.Second * 5)", "time.Sleep(time.Second * 0)"),
    (ACCOUNT, "3, // Number of consecutive occurences", "1, // Number of consecutive occurences"),
    (ROLE, "fetchBackoff := 1 * time.Second", "fetchBackoff := 1 * time.Millisecond"),
    # The official plugin has the same constant (pulumi/pulumi-gcp).
    (CONFIG, 'AttributionKey = "goog-terraform-provisioned"', 'AttributionKey = "goog-pulumi-provisioned"'),
)
"""File, what upstream has there, and what takes its place."""


def adapted(module: Path) -> dict[str, str]:
    """Files of the module that change, with their text.

    Raises ``SetUpFailed`` for a version whose code looks different.
    """
    files = {name: (module / name).read_text() for name, _, _ in CHANGES}
    for name, there, instead in CHANGES:
        if there not in files[name]:
            raise SetUpFailed(
                f"{name} of this version of Google's provider has no `{there}`.\nFix: correct "
                "localcloud/go_builds/google_provider.py, or choose another version in llmd_gke/catalog/versions.toml."
            )
        files[name] = files[name].replace(there, instead)
    return files


ADAPTED = ModuleChanges(adapted, " ".join(instead for _, _, instead in CHANGES))
