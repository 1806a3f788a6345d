"""What the deploying identity may do is what the program needs: the types come from the program, not from a list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llmd_gke.catalog import deployer, permissions

ROOT = Path(__file__).parents[3]
MODULES = ("artifactregistry", "compute", "container", "dns", "monitoring", "projects", "serviceaccount", "storage")
PAGE = "".join((ROOT / "docs" / name).read_text() for name in ("pull-requests.md", "figures.md"))


def made_types() -> set[str]:
    """The type tokens of every Google resource that a component makes, whatever the settings."""
    pattern = re.compile(rf"\b({'|'.join(MODULES)})\.([A-Z]\w*)\(")
    result: set[str] = set()
    for file in ROOT.glob("components/**/*.py"):
        for module, name in pattern.findall(file.read_text()):
            if not name.endswith(("Args", "ArgsDict")):
                result.add(f"gcp:{module}/{name[0].lower()}{name[1:]}:{name}")
    return result


def test_every_type_that_the_program_makes_has_its_permissions_and_no_other_has() -> None:
    types = made_types()
    assert len(types) >= 19
    assert types == deployer.BY_TYPE.keys() | deployer.BY_ROLE.keys()


def test_permissions_follow_from_the_types() -> None:
    small = deployer.permissions(["gcp:compute/address:Address", "gcp:container/cluster:Cluster"])
    assert "compute.addresses.create" in small
    assert "compute.networks.create" not in small
    assert set(deployer.ALWAYS) < set(small)
    with pytest.raises(KeyError):
        deployer.permissions(["gcp:sql/databaseInstance:DatabaseInstance"])


def test_no_permission_lets_the_identity_give_itself_more() -> None:
    given = set(deployer.permissions(deployer.BY_TYPE))
    wrong = {one for one in given if one.endswith(".setIamPolicy") and not one.startswith("storage.buckets.")}
    assert wrong == set()
    assert not given & {"iam.serviceAccountKeys.create", "iam.serviceAccounts.getAccessToken", "iam.roles.update"}
    assert not {"roles/owner", "roles/editor"} & set(deployer.PREDEFINED)


def test_what_the_doctor_asks_for_is_given() -> None:
    by_role = {
        "container.": "roles/container.admin",
        "serviceusage.": "roles/serviceusage.serviceUsageAdmin",
        "resourcemanager.projects.setIamPolicy": "roles/resourcemanager.projectIamAdmin",
    }
    asked = permissions.needed(deployer.BY_TYPE)
    given = set(deployer.permissions(deployer.BY_TYPE))
    assert [one for one in asked if one not in given and not one.startswith(tuple(by_role))] == []
    assert {role for role in by_role.values() if role not in deployer.commands()} == set()


def test_the_page_trusts_by_number_environment_and_branch() -> None:
    assert deployer.commands().strip() in PAGE
    assert "assertion.repository_id == '$REPO_ID'" in PAGE
    assert "assertion.repository_owner_id == '$OWNER_ID'" in PAGE
    assert "has(assertion.environment)" in PAGE
    assert "attribute.deploy=assertion.environment + ':' + assertion.ref" in PAGE
    assert "attribute.deploy/$STACK:refs/heads/main" in PAGE
    assert "assertion.repository ==" not in PAGE
    assert re.search(r"cryptoKeyDecrypter|--role roles/viewer", PAGE) is None
