from __future__ import annotations

from llmd_gke.settings import StackSettings
from llmd_gke.settings.sections.network import ExistingNetworkSettings
from operations.doctor import network
from operations.doctor.context import Context
from operations.doctor.result import CheckStatus, Result
from tests.operations.doctor.asking import only
from tests.operations.doctor.emulated import Body, Google

NETWORK = "https://www.googleapis.com/compute/v1/projects/host/global/networks/shared"
SUBNET = {
    "name": "tpus",
    "network": NETWORK,
    "ipCidrRange": "10.0.0.0/20",
    "purpose": "PRIVATE",
    "secondaryIpRanges": [
        {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
        {"rangeName": "services", "ipCidrRange": "10.4.0.0/20"},
    ],
}
PROXY_ONLY = {
    "name": "proxies",
    "network": NETWORK,
    "ipCidrRange": "10.3.0.0/23",
    "purpose": network.PROXIES,
    "role": "ACTIVE",
}
ROUTER = {
    "name": "out",
    "network": NETWORK,
    "nats": [{"name": "all", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}],
}


def there(google: Google, *parts: Body) -> None:
    """The shared network, with these subnets and routers."""
    google.make_network("shared", "host")
    for part in parts:
        collection = "subnetworks" if "ipCidrRange" in part else "routers"
        google.make(f"regions/europe-west4/{collection}", part, "host")


def existing(eu4a: StackSettings, **changes: str) -> list[Result]:
    named = ExistingNetworkSettings.model_validate(
        {"network": "shared", "subnet": "tpus", "hostProject": "host", **changes}
    )
    ranges = eu4a.network.model_copy(update={"existing": named})
    return list(network.network(Context("eu4a", eu4a.model_copy(update={"network": ranges}))))


def test_an_existing_network_with_all_its_parts_is_sound(google: Google, eu4a: StackSettings) -> None:
    there(google, SUBNET, PROXY_ONLY, ROUTER)
    cloud = existing(eu4a)
    assert {one.check: one.status for one in cloud} == dict.fromkeys(
        ("subnet", "proxy-only subnet", "NAT"), CheckStatus.OK
    )
    assert all("/projects/host/" in path for path in google.calls)


def test_istios_gateway_needs_no_proxy_only_subnet(google: Google, eu4a: StackSettings) -> None:
    there(google, SUBNET, ROUTER)
    assert only(existing(eu4a), "proxy-only subnet").status is CheckStatus.FAILED
    gateway = eu4a.gateway.model_copy(update={"implementation": "istio"})
    cloud = existing(eu4a.model_copy(update={"gateway": gateway}))
    assert {one.check: one.status for one in cloud} == dict.fromkeys(("subnet", "NAT"), CheckStatus.OK)


def test_a_second_nat_or_proxy_only_subnet_is_found(google: Google, eu4a: StackSettings) -> None:
    there(google, SUBNET, PROXY_ONLY, ROUTER)
    cloud = existing(eu4a, proxies="create", nat="create")
    assert only(cloud, "NAT").status is CheckStatus.FAILED
    assert "out/all" in only(cloud, "NAT").message
    assert only(cloud, "proxy-only subnet").status is CheckStatus.FAILED


def test_a_nat_for_other_subnets_is_none_for_this_one(google: Google, eu4a: StackSettings) -> None:
    others = [{"name": ".../subnetworks/others"}]
    nat = {"name": "some", "sourceSubnetworkIpRangesToNat": "LIST_OF_SUBNETWORKS", "subnetworks": others}
    there(google, SUBNET, PROXY_ONLY, {**ROUTER, "nats": [nat]})
    assert only(existing(eu4a), "NAT").status is CheckStatus.FAILED
    assert only(existing(eu4a, nat="create"), "NAT").status is CheckStatus.OK


def test_missing_parts_of_an_existing_network_are_found(google: Google, eu4a: StackSettings) -> None:
    there(google, {**SUBNET, "secondaryIpRanges": []})
    cloud = existing(eu4a)
    assert {one.check: one.status for one in cloud} == dict.fromkeys(
        ("subnet", "proxy-only subnet", "NAT"), CheckStatus.FAILED
    )
    assert "no secondary range pods, services" in only(cloud, "subnet").message


def test_a_proxy_only_range_that_overlaps_a_subnet_is_found(google: Google, eu4a: StackSettings) -> None:
    taken = {"name": "old", "network": NETWORK, "ipCidrRange": eu4a.network.proxies}
    there(google, SUBNET, taken, ROUTER)
    cloud = only(existing(eu4a, proxies="create"), "ranges")
    assert cloud.status is CheckStatus.FAILED
    assert "of subnet old" in cloud.message
