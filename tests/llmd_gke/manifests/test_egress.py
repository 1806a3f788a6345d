"""What model pods may reach outside: open, by name, through a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from llmd_gke.manifests import egress, firewall, naming, serving
from llmd_gke.settings import EgressSettings, GatewaySettings, ModelSettings, NetworkSettings, PoolSettings
from tests.llmd_gke.manifests.conftest import MakeModel

NAMES = EgressSettings(mode="names", names=("mirror.example.com", "*.example.org"))
PROXY = EgressSettings(mode="proxy", proxy="http://10.1.2.3:3128", no_proxy=("mirror.internal",))

PRIVATE = {(cidr, 443) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")}


POLICIES = pytest.mark.parametrize("policy", ["allow-workload", "allow-picker", "allow-group"])


def peers(model: ModelSettings, how: EgressSettings, policy: str) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """The address ranges that a NetworkPolicy opens, and their ports."""
    made: Any = firewall.model_policies(model, NetworkSettings(egress=how), GatewaySettings(), spans_hosts=True)
    for rule in made[policy]["spec"]["egress"]:
        ports = [port["port"] for port in rule.get("ports", ())]
        yield from ((peer["ipBlock"], ports) for peer in rule.get("to", ()) if "ipBlock" in peer)


def outside(model: ModelSettings, how: EgressSettings, policy: str = "allow-workload") -> set[tuple[str, int]]:
    """Addresses and ports that a NetworkPolicy opens, but for the metadata server."""
    opened = {(block["cidr"], port) for block, ports in peers(model, how, policy) for port in ports}
    return {one for one in opened if not one[0].startswith("169.254.")}


@POLICIES
def test_port_443_is_open_to_all_unless_settings_say_otherwise(model: ModelSettings, policy: str) -> None:
    control_plane = PRIVATE if policy == "allow-picker" else set[tuple[str, int]]()
    assert outside(model, EgressSettings(), policy) == {("0.0.0.0/0", 443), *control_plane}
    assert egress.fqdn_policy(model, EgressSettings()) is None


@POLICIES
def test_every_address_is_every_public_one(model: ModelSettings, policy: str) -> None:
    (everybody,) = [block for block, _ in peers(model, EgressSettings(), policy) if block["cidr"] == "0.0.0.0/0"]
    assert everybody["except"] == ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"]


@pytest.mark.parametrize("mode", ["open", "names"])
@POLICIES
def test_ranges_of_the_settings_are_open_in_every_mode(model: ModelSettings, mode: str, policy: str) -> None:
    how = EgressSettings.model_validate({"mode": mode, "ranges": ["10.20.0.0/24"]})
    assert ("10.20.0.0/24", 443) in outside(model, how, policy)


@POLICIES
@pytest.mark.parametrize("cache", [None, "gs://cache/qwen"])
def test_only_servers_that_mount_buckets_reach_the_metadata_server(
    make_model: MakeModel, policy: str, cache: str | None
) -> None:
    opened = list(peers(make_model(compile_cache=cache), EgressSettings(), policy))
    reached = {(one["cidr"], port) for one, ports in opened for port in ports if one["cidr"].startswith("169.254.")}
    wanted = {("169.254.169.252/32", 987), ("169.254.169.252/32", 988), ("169.254.169.254/32", 80)}
    assert reached == (wanted if cache and policy != "allow-picker" else set())


@pytest.mark.parametrize("policy", ["allow-workload", "allow-group"])
def test_model_pods_reach_the_proxy_only_or_names_only(model: ModelSettings, policy: str) -> None:
    assert outside(model, PROXY, policy) == {("10.1.2.3/32", 3128)}
    assert outside(model, NAMES, policy) == set()


def test_the_picker_still_reaches_the_control_plane(model: ModelSettings) -> None:
    assert outside(model, NAMES, "allow-picker") == PRIVATE
    assert outside(model, PROXY, "allow-picker") == {*PRIVATE, ("10.1.2.3/32", 3128)}


def test_names_are_those_of_the_weights_and_the_settings_own(model: ModelSettings) -> None:
    policy = cast("Any", egress.fqdn_policy(model, NAMES))
    assert policy["apiVersion"] == "networking.gke.io/v1alpha1"
    (rule,) = policy["spec"]["egress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 443}]
    assert rule["matches"] == [
        {"name": "huggingface.co"},
        {"pattern": "*.huggingface.co"},
        {"pattern": "*.hf.co"},
        {"pattern": "*.xethub.hf.co"},
        {"pattern": "*.xethub-eu.hf.co"},
        {"pattern": "*.aws.cdn.hf.co"},
        {"pattern": "*.gcp.cdn.hf.co"},
        {"pattern": "*.us.gcp.cdn.hf.co"},
        {"name": "mirror.example.com"},
        {"pattern": "*.example.org"},
    ]


def test_the_policy_of_names_selects_servers_workers_and_picker(model: ModelSettings) -> None:
    selector = cast("Any", egress.fqdn_policy(model, NAMES))["spec"]["podSelector"]["matchLabels"]
    for labels in (naming.workload_labels("qwen"), naming.picker_labels("qwen")):
        assert selector.items() <= labels.items()
    assert selector == naming.group_selector("qwen")["matchLabels"]
    assert selector["app.kubernetes.io/name"] == "qwen", "not another model's pods"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ({"uri": "gs://weights/qwen"}, ["storage.googleapis.com"]),
        ({"uri": "pvc://claim/qwen"}, None),
        ({"uri": "oci://registry.example.com/qwen:v1"}, None),
        ({"uri": "pvc://claim/qwen", "compile_cache": "gs://cache"}, ["storage.googleapis.com"]),
        ({"uri": "s3://bucket/qwen"}, ["s3.amazonaws.com", "*.s3.amazonaws.com"]),
    ],
)
def test_a_model_reaches_no_more_names_than_it_downloads_from(
    make_model: MakeModel, model: dict[str, str], names: list[str] | None
) -> None:
    policy = cast("Any", egress.fqdn_policy(make_model(**model), EgressSettings(mode="names")))
    result = policy and [*policy["spec"]["egress"][0]["matches"]]
    assert (result and [next(iter(match.values())) for match in result]) == names


def downloaders(model: ModelSettings, pool: PoolSettings, how: EgressSettings) -> list[Any]:
    config, service = (
        cast("Any", serving.runtime_config(model, pool, how)),
        cast("Any", serving.service(model, pool, how)),
    )
    pods = [config["spec"]["template"], service["spec"]["router"]["scheduler"]["template"]]
    pods += [config["spec"]["worker"]] if "worker" in config["spec"] else []
    return [pod.get("initContainers") for pod in pods]


@pytest.mark.parametrize("uri", ["hf://Qwen/Qwen3-4B", "s3://bucket/qwen"])
def test_the_container_that_downloads_is_told_the_proxy_in_every_pod(
    make_model: MakeModel, pool: PoolSettings, uri: str
) -> None:
    model = make_model(uri=uri)
    pods = list(downloaders(model, pool, PROXY))
    assert pods
    for pod in pods:
        (container,) = pod
        assert container["name"] == "storage-initializer"
        variables = {variable["name"]: variable["value"] for variable in container["env"]}
        assert variables["HTTPS_PROXY"] == variables["HTTP_PROXY"] == "http://10.1.2.3:3128"
        exempt = variables["NO_PROXY"].split(",")
        assert {"mirror.internal", "metadata.google.internal", ".svc", "localhost"} <= set(exempt)


def test_workers_of_a_group_download_through_the_proxy_too(make_model: MakeModel, pool: PoolSettings) -> None:
    slice_ = pool.model_copy(update={"topology": "4x4"})
    result = downloaders(make_model(experimental_multi_host=True), slice_, PROXY)
    assert len(result) == 3
    assert all(result)


@pytest.mark.parametrize(
    ("uri", "how"),
    [
        ("hf://Qwen/Qwen3-4B", EgressSettings()),
        ("hf://Qwen/Qwen3-4B", NAMES),
        ("pvc://claim/qwen", PROXY),
        ("oci://registry.example.com/qwen:v1", PROXY),
    ],
)
def test_nothing_is_said_where_kserve_adds_no_such_container(
    make_model: MakeModel, pool: PoolSettings, uri: str, how: EgressSettings
) -> None:
    """Without KServe's part of it, the container would have no image, and the pod would be refused."""
    assert downloaders(make_model(uri=uri), pool, how) == [None, None]
