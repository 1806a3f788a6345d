"""Facts of one accelerator and of one gateway implementation are behind their seams, and what lies outside is counted.

A file counts where its code names them: identifiers, and texts without a space such as labels, keys and names of kinds.
Sentences in messages and docstrings do not: they are true of what they speak of.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke.catalog import accelerators
from llmd_gke.gateways import gke

ROOT = Path(__file__).parents[1]
MOST_FILES_OF_AN_ACCELERATOR = 18
MOST_FILES_OF_A_GATEWAY = 14
PACKAGES = ("llmd_gke", "components", "policies", "localcloud", "operations")

ACCELERATOR = re.compile(r"(?<!ou)(?<!in)tpu(?!t)", re.IGNORECASE)
GATEWAY = re.compile(
    rf"{gke.CLASS_PREFIX}|GWCER\d|{gke.PROXY_SUBNET_PURPOSE}|\bGKE_POLICIES\b|llmd_gke\.gateways\.gke|"
    + "|".join(re.escape(block) for block in gke.HEALTH_CHECK_RANGES)
    + "|"
    + "|".join(f"{kind.kind}|{kind.plural}" for kind in gke.POLICIES)
)

TPU = {
    "components/tpu_pool.py": "the node pool; another accelerator has a component beside it",
    "llmd_gke/catalog/accelerators/tpu.py": "the data",
    "llmd_gke/rules/tpu.py": "rules about slices and zones",
    "llmd_gke/rules/tpu_pods.py": "rules about pods",
    "llmd_gke/rules/tpu_pools.py": "rules about node pools",
    "policies/rules/tpu_pods.py": "policies about pods",
    "policies/rules/tpu_pools.py": "policies about node pools",
}
"""What is TPU's own: another accelerator has a file beside each."""

OPENED_BY_AN_ACCELERATOR = {
    "__main__.py": "makes the pools",
    "llmd_gke/catalog/accelerators/__init__.py": "lists the kinds",
    "llmd_gke/settings/__init__.py": "exports the section of the pools",
    "llmd_gke/settings/partial_check.py": "which keys each rule about pools depends on",
    "llmd_gke/settings/schema.py": "machine types and topologies of the pools",
    "llmd_gke/settings/sections/__init__.py": "exports the section of the pools",
    "llmd_gke/settings/sections/pools.py": "the section of the pools",
    "llmd_gke/settings/sections/stack.py": "the field of the pools",
    "llmd_gke/settings/validation/pools.py": "which rules apply to the pools",
    "policies/rules/__init__.py": "lists the policies",
}
NOT_OPENED_BY_AN_ACCELERATOR = {
    "llmd_gke/manifests/alerts/page.py": "the example stack of the page",
    "llmd_gke/rules/cluster.py": "fields of the retired TPU-node product in GKE's cluster",
    "localcloud/providers/google/container.py": "the same fields, in the stand-in",
    "operations/symptoms.py": "the name of a symptom of libtpu",
}
SENTENCES_ABOUT_AN_ACCELERATOR = {
    "localcloud/providers/google/nodepools.py": "GKE's rules for TPU hosts, and their texts"
}
"""Opened although its code names none: what GKE refuses of another accelerator's pools belongs beside."""

GKE_GATEWAY = {
    "llmd_gke/gateways/gke.py": "classes, address, policies, conditions",
    "llmd_gke/gateways/gke_routes.py": "features of routes",
    "llmd_gke/rules/gateway.py": "rules about classes and targets",
    "llmd_gke/rules/health.py": "rules about GKE's policies",
    "llmd_gke/rules/open_gateway.py": "which classes face the Internet",
    "llmd_gke/rules/routes.py": "rules about features of routes",
    "policies/rules/backends.py": "which Gateways are GKE's",
    "policies/rules/gateway.py": "policies about classes",
    "policies/rules/health.py": "policies about GKE's policies",
    "policies/rules/routes.py": "policies about features of routes",
    "policies/rules/rule.py": "names GKE's kinds for these",
}
"""What is GKE's own. These judge its Gateways only; another implementation has rules and policies of its own."""

NAME_GKES_GATEWAY = {
    "components/network.py": "the proxy-only subnet",
    "llmd_gke/gateways/__init__.py": "lists the implementations",
    "llmd_gke/settings/validation/cluster.py": "asks for the proxy-only subnet of an existing VPC",
    "operations/doctor/network.py": "looks for the proxy-only subnet",
    "operations/status/gather.py": "asks for the policies",
}
USE_THE_DEFAULT_GATEWAY = {
    "llmd_gke/manifests/firewall.py": "its health-check ranges",
    "llmd_gke/manifests/routing.py": "its class, address and policies",
}
"""They ask :data:`llmd_gke.gateways.DEFAULT`, which a second implementation makes a choice."""

FURTHER_FOR_A_GATEWAY = {
    "components/platform.py": "installs its chart",
    "llmd_gke/manifests/charts.py": "the chart's values",
    "llmd_gke/settings/sections/gateway.py": "the setting that chooses it",
    "policies/rules/__init__.py": "lists its policies",
}
"""An implementation that does not come with GKE has to be installed and chosen."""

NEW_FOR_A_GATEWAY = 3
"""``llmd_gke/gateways/X.py``, ``llmd_gke/rules/X.py``, ``policies/rules/X.py``."""

NOT_OPENED_BY_A_GATEWAY = {
    "llmd_gke/rules/cluster.py": "judges a proxy-only subnet where there is one",
    "policies/rules/cluster.py": "the same; GKE's classes only",
    "localcloud/providers/google/network.py": "Google's network has proxy-only subnets whoever uses them",
}


def sources() -> Iterator[Path]:
    yield ROOT / "__main__.py"
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def names(source: str) -> Iterator[str]:
    """Identifiers, modules, and texts without a space that are neither docstrings nor addresses of pages."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose and not re.search(r"\s|^https?:", text.strip()):
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield name
            case ast.ImportFrom(module=str(module), names=imported):
                yield from (f"{module}.{one.name}" for one in imported)
            case _:
                pass


def naming(pattern: re.Pattern[str]) -> set[str]:
    return {
        str(file.relative_to(ROOT))
        for file in sources()
        if any(pattern.search(name) for name in names(file.read_text(encoding="utf-8")))
    }


def test_only_the_files_of_the_list_name_an_accelerator() -> None:
    assert naming(ACCELERATOR) == {*TPU, *OPENED_BY_AN_ACCELERATOR, *NOT_OPENED_BY_AN_ACCELERATOR}


def test_only_the_files_of_the_list_and_the_local_gateway_name_gkes() -> None:
    seam = ("localcloud/gke_gateway/", "llmd_gke/gateways/gke")
    listed = {*GKE_GATEWAY, *NAME_GKES_GATEWAY, *NOT_OPENED_BY_A_GATEWAY}
    assert {file for file in naming(GATEWAY) if not file.startswith(seam)} == {
        file for file in listed if not file.startswith(seam)
    }


def test_contributing_says_how_many_files_a_further_accelerator_and_gateway_open() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    opened = {**OPENED_BY_AN_ACCELERATOR, **SENTENCES_ABOUT_AN_ACCELERATOR}
    assert f"{len(TPU)} new Python files and {len(opened)} existing ones" in text
    for_gateway = {**NAME_GKES_GATEWAY, **USE_THE_DEFAULT_GATEWAY, **FURTHER_FOR_A_GATEWAY}
    assert f"{NEW_FOR_A_GATEWAY} new Python files and {len(for_gateway)} existing ones" in text
    assert len(TPU) + len(opened) <= MOST_FILES_OF_AN_ACCELERATOR
    assert NEW_FOR_A_GATEWAY + len(for_gateway) <= MOST_FILES_OF_A_GATEWAY
    assert all((ROOT / file).is_file() for file in (*TPU, *opened, *GKE_GATEWAY, *for_gateway))


def test_only_the_files_of_the_list_use_the_default_gateway() -> None:
    users = {
        str(file.relative_to(ROOT)) for file in sources() if "gateways.DEFAULT" in file.read_text(encoding="utf-8")
    }
    assert users == set(USE_THE_DEFAULT_GATEWAY)


@pytest.mark.parametrize(
    ("pattern", "source", "seen"),
    [
        (ACCELERATOR, f'KEY = "{accelerators.TPU.resource}"', True),
        (ACCELERATOR, "from a import tpu_pools", True),
        (ACCELERATOR, "def output(input): return input", False),
        (ACCELERATOR, '"""TPUs."""\nX = "a TPU node"', False),
        (GATEWAY, f'NAME = "{gke.REGIONAL_INTERNAL}"', True),
        (GATEWAY, "from llmd_gke.gateways import gke", True),
        (GATEWAY, "from llmd_gke import gateways", False),
        (GATEWAY, 'FLOOR = gke_floor("llmd-gke")', False),
    ],
)
def test_a_name_outside_its_seam_is_seen(pattern: re.Pattern[str], source: str, seen: bool) -> None:
    assert any(pattern.search(name) for name in names(source)) is seen
