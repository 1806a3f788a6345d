"""What GitHub updates by itself."""

from __future__ import annotations

from fnmatch import fnmatch

import yaml

from llmd_common import bootstrap
from tests.workflows.conftest import ROOT

UPDATES = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]


def folders(update: dict[str, object]) -> list[str]:
    result = update.get("directories") or [update["directory"]]
    assert isinstance(result, list)
    return [str(one) for one in result]


def test_every_go_module_and_every_set_of_requirements_is_in_a_folder_that_is_updated() -> None:
    go = [pattern for update in UPDATES if update["package-ecosystem"] == "gomod" for pattern in folders(update)]
    # The clone may hold caches, with modules of others, in hidden folders.
    modules = [path for folder in ROOT.glob("[!.]*") if folder.is_dir() for path in folder.rglob("go.mod")]
    assert len(modules) >= 6
    for module in modules:
        folder = f"/{module.parent.relative_to(ROOT)}"
        assert any(fnmatch(folder, pattern) for pattern in go), folder
    assert [folders(update) for update in UPDATES if update["package-ecosystem"] == "pip"] == [
        ["/requirements", "/localcloud/requirements", "/llmd_common/requirements"]
    ]
    assert all(list(folder.glob("*.in")) for folder in bootstrap.REQUIREMENTS)
