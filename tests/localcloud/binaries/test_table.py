"""The table of programs agrees with the wrapper modules and the catalogue."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from llmd_gke.catalog import versions
from localcloud.binaries import cache_key, table
from localcloud.binaries.table import BY_NAME, PROGRAMS, PROVIDER, PROVIDER_NAME, provider_files
from localcloud.go_builds import wrapper
from localcloud.go_builds.wrapper import GOMOD

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

WRAPPERS = {program.wrapper.name: program.wrapper for program in PROGRAMS}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_wrapper_pins_the_version_of_the_catalogue_with_hashes(name: str) -> None:
    program = BY_NAME[name]
    go_mod, go_sum = (read(program.wrapper.name, file) for file in ("go.mod", "go.sum"))
    path, version = MODULES.get(name, program.wrapper.pins)
    assert re.search(rf"^(?:require )?\s*{re.escape(path)} {re.escape(version)}(?: //.*)?$", go_mod, re.M)
    assert f"{path} {version} h1:" in go_sum
    assert f"{path} {version}/go.mod h1:" in go_sum


@pytest.mark.parametrize("name", [*WRAPPERS, "engine"])
def test_a_wrapper_does_not_ask_for_a_newer_go_than_the_oldest_that_is_allowed(name: str) -> None:
    text = read(name, "go.mod")
    asked = re.search(r"^go 1\.(\d+)", text, re.M)
    assert asked is not None
    assert int(asked[1]) <= 26
    assert "\ntoolchain " not in text


def test_every_wrapper_module_is_used() -> None:
    assert {folder.name for folder in GOMOD.iterdir() if folder.is_dir()} == {*WRAPPERS, "engine"}


def test_a_program_is_a_tool_of_its_wrapper_or_the_wrappers_own_code() -> None:
    assert BY_NAME
    for program in BY_NAME.values():
        package, go_mod = program.target.package, read(program.wrapper.name, "go.mod")
        if own := re.match(rf"(?:\.|{re.escape(go_mod.split()[1])})(?:/|$)", package):
            assert (program.wrapper.source / package[own.end() :] / "main.go").exists()
        else:
            assert re.search(rf"^(?:tool )?\s*{re.escape(package)}$", go_mod, re.M)


def test_programs_of_one_wrapper_follow_each_other() -> None:
    order = [program.wrapper.name for program in PROGRAMS]
    assert [name for at, name in enumerate(order) if at == 0 or order[at - 1] != name] == list(WRAPPERS)


def test_kubernetes_says_its_version_in_both_packages_that_clients_read() -> None:
    stamps = BY_NAME["kube-apiserver"].target.stamps
    assert stamps["k8s.io/component-base/version.gitVersion"] == versions.program("k8s.io/kubernetes")
    assert stamps["k8s.io/client-go/pkg/version.gitVersion"] == versions.program("k8s.io/kubernetes")
    assert stamps["k8s.io/component-base/version.gitMinor"] == versions.program("k8s.io/kubernetes").split(".")[1]


def test_cert_manager_and_lws_are_those_of_the_charts() -> None:
    assert BY_NAME["cert-manager"].version == versions.chart("cert-manager").version
    assert BY_NAME["lws-manager"].version == f"v{versions.chart('lws').version}"
    assert BY_NAME["llmisvc-controller"].version == versions.chart("kserve-llmisvc-resources").version


def test_envoy_gateway_says_its_version_so_that_it_asks_for_released_images() -> None:
    stamps = BY_NAME["envoy-gateway"].target.stamps
    assert stamps == {
        f"{table.ENVOY_GATEWAY}/internal/cmd/version.envoyGatewayVersion": versions.program(table.ENVOY_GATEWAY)
    }


def test_the_version_of_prometheus_module_is_the_release_that_it_says() -> None:
    assert table.prometheus_release("v0.305.0") == "3.5.0"
    assert table.prometheus_release("v0.312.4") == "3.12.4"
    assert BY_NAME["promtool"].target.stamps["github.com/prometheus/common/version.Version"] == "3.5.0"


def test_what_the_provider_embeds_carries_the_version_it_says(tmp_path: Path) -> None:
    folder = tmp_path / "cmd" / PROVIDER_NAME
    folder.mkdir(parents=True)
    (folder / "schema.json").write_text('{\n  "name": "kubernetes", "version": "0.0.1"\n}')
    (folder / "terraform-mapping.json").write_text('{ "version": 3 }')
    files = provider_files(tmp_path)
    assert json.loads(files["schema.json"]) == {"name": "kubernetes", "version": BY_NAME[PROVIDER_NAME].version}
    assert json.loads(files["terraform-mapping.json"]) == {"version": 3}
    assert PROVIDER in BY_NAME[PROVIDER_NAME].wrapper.pins


def test_a_program_with_other_changes_to_its_module_is_another_program() -> None:
    program = BY_NAME["keda-operator"]
    changes = program.wrapper.changes
    assert changes is not None
    other = replace(program.wrapper, changes=replace(changes, what="triggers: kafka"))
    assert cache_key.key(replace(program, wrapper=other)) != cache_key.key(program)


def test_keda_is_the_version_of_its_chart_and_its_dependencies_are_replaced_as_in_its_own_module() -> None:
    assert BY_NAME["keda-operator"].version == f"v{versions.archive('keda').version}"
    replaced = re.search(r"^replace \((.*?)^\)", read("autoscaling", "go.mod"), re.M | re.S)
    assert replaced is not None
    assert "k8s.io/client-go => k8s.io/client-go v0.33.5" in replaced[1]


def test_what_goes_into_a_build_changes_its_place_and_what_does_not_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kubernetes").mkdir()
    (tmp_path / "kubernetes" / "go.mod").write_text("module a\n")
    first = BY_NAME["kubectl"]
    program = replace(first, wrapper=replace(first.wrapper, folder=tmp_path))
    key = cache_key.key(program)
    assert key.startswith(f"kubectl-{program.version}-")
    assert cache_key.key(replace(program, target=replace(program.target, stamps={"a.b": "c"}))) != key
    assert cache_key.key(replace(program, target=replace(program.target, package="other"))) != key
    assert cache_key.key(replace(program, version="v9.9.9")) != key
    assert cache_key.key(replace(program, target=replace(program.target, cpu_seconds=1.0))) == key
    monkeypatch.setattr(wrapper, "NO_DEBUGGER", "-dwarf=true")  # the linker discards it: no reason to build again
    (tmp_path / "kubernetes" / "notes.md").write_text("nothing to do with it")
    assert cache_key.key(program) == key
    (tmp_path / "kubernetes" / "go.sum").write_text("another hash\n")
    assert (second := cache_key.key(program)) != key
    (tmp_path / "kubernetes" / "cert-manager").mkdir()
    (tmp_path / "kubernetes" / "cert-manager" / "main.go").write_text("package main\n")
    assert cache_key.key(program) not in {key, second}


def read(wrapper: str, file: str) -> str:
    return (GOMOD / wrapper / file).read_text()
