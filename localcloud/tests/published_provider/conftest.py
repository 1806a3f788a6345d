"""The published Google provider on the emulator, with the real engine: needs the plugin, which is built on request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localcloud.binaries import resolve
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve as engine_resolve
from tests.real_engine.harness import Rehearsal

HERE = Path(__file__).parent
PLUGIN = "pulumi-resource-gcp"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are marked, and skipped where the plugin is not there.

    A test run must not build the plugin by the way.
    """
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.google)
            if resolve.ready(PLUGIN, cache_folder()) is None:
                reason = f"{PLUGIN} is not built: {resolve.COMMAND} {PLUGIN}"
                item.add_marker(pytest.mark.skip(reason=reason))


class Published(Rehearsal):
    """A rehearsal whose Google half is the published provider and the emulator."""

    def kept(self, name: str = "google-api") -> dict[str, Any]:
        """What the emulator keeps."""
        file = self.workdir.cloud / f"{name}.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def emulator_faults(self, *faults: dict[str, object]) -> None:
        """Faults for the emulator to show, see ``localcloud.google_api.core.faults``."""
        self.workdir.cloud.mkdir(parents=True, exist_ok=True)
        (self.workdir.cloud / "google-api.json").write_text(json.dumps({**self.kept(), "faults": list(faults)}))


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    """The product's program in a new project: no API is enabled."""
    if engine_resolve.ready(cache_folder()) is None:
        pytest.fail("The Pulumi engine is not set up. Run: .venv/bin/python -m localcloud setup")
    made = Published(tmp_path, environ={"LLMD_GKE_GOOGLE": "published"})
    made.copy_project()
    made.faults({"timeScale": 0.001})
    yield made
    made.stop_everything()
