"""The table of programs agrees with the wrapper modules and the catalogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from llmd_gke.catalog import versions
from localcloud.binaries import table
from localcloud.binaries.table import BY_NAME
from localcloud.go_builds import build
from localcloud.go_builds.wrapper import GOMOD, ModuleChanges

MODULES = {
    "cert-manager": (table.CERT_MANAGER, versions.chart("cert-manager").version),
    "lws-manager": (table.LWS, versions.program(table.LWS)),
    "endpoint-picker": (table.ENDPOINT_PICKER, versions.program(table.ENDPOINT_PICKER)),
    "vllm-simulator": (table.SIMULATOR, versions.program(table.SIMULATOR)),
    "ai-gateway-controller": (table.AI_GATEWAY, versions.program(table.AI_GATEWAY)),
    "ai-gateway-extproc": (table.AI_GATEWAY, versions.program(table.AI_GATEWAY)),
    "echo-basic": (table.CONFORMANCE, versions.program("sigs.k8s.io/gateway-api")),
    "kube-state-metrics": (table.KUBE_STATE_METRICS, versions.program(table.KUBE_STATE_METRICS)),
}
"""Modules of those programs that share the wrapper of another one."""


@pytest.mark.parametrize("name", BY_NAME)
def test_a_wrapper_pins_the_version_of_the_catalogue_with_hashes(name: str) -> None:
    program = BY_NAME[name]
    go_mod, go_sum = (read(program.wrapper.name, file) for file in ("go.mod", "go.sum"))
    path, version = MODULES.get(name, program.wrapper.pins)
    assert re.search(rf"^(?:require )?\s*{re.escape(path)} {re.escape(version)}(?: //.*)?$", go_mod, re.M)
    assert f"{path} {version} h1:" in go_sum
    assert f"{path} {version}/go.mod h1:" in go_sum


def test_what_goes_into_a_build_changes_its_key_and_what_does_not_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kubernetes"
    (folder / "cert-manager").mkdir(parents=True)
    (folder / "go.mod").write_text("module a\n")
    wrapper = replace(BY_NAME["kubectl"].wrapper, folder=tmp_path)
    program, own = (replace(BY_NAME[name], wrapper=wrapper) for name in ("kubectl", "cert-manager"))
    key, own_key = program.key, own.key
    assert key.startswith(f"kubectl-{program.version}-")
    assert replace(program, stamps={"a.b": "c"}).key != key
    assert replace(program, package="other").key != key
    assert replace(program, version="v9.9.9").key != key
    changes = ModuleChanges(lambda _: {}, "changed")
    assert replace(program, wrapper=replace(wrapper, changes=changes)).key != key
    monkeypatch.setattr(build, "NO_DEBUGGER", "-dwarf=true")  # the linker discards it: no reason to build again
    (folder / "notes.md").write_text("nothing to do with it")
    assert (program.key, own.key) == (key, own_key)
    (folder / "cert-manager" / "main.go").write_text("package main\n")
    assert program.key == key
    assert (second := own.key) != own_key
    (folder / "go.sum").write_text("another hash\n")
    assert program.key != key
    assert own.key not in {own_key, second}


def read(wrapper: str, file: str) -> str:
    return (GOMOD / wrapper / file).read_text()
