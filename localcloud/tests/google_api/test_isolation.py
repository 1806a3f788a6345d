"""Google's provider is told of nothing but the emulator, by Google's own configuration."""

from __future__ import annotations

from urllib.parse import urlsplit

from localcloud.google_api import isolation

URL = "http://127.0.0.1:8040"
BEFORE = {
    "GOOGLE_CREDENTIALS": "{}", "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": "https://compute.googleapis.com/compute/v1/",
    "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "a@b", "NO_PROXY": "googleapis.com", "no_proxy": "*",
    "https_proxy": "http://proxy:3128", "ALL_PROXY": "socks5://proxy:1080", "HOME": "/home/user",
    "PULUMI_GCP_SKIP_REGION_VALIDATION": "false",
}  # fmt: skip


def test_every_api_is_at_the_emulator_and_there_are_no_credentials() -> None:
    environment = isolation.environment(BEFORE, URL)
    assert environment["HOME"] == "/home/user"
    given = {
        name: value for name, value in environment.items() if name.startswith("GOOGLE_") and "ENDPOINT" not in name
    }
    assert given == {"GOOGLE_APPLICATION_CREDENTIALS": "/dev/null", "GOOGLE_OAUTH_ACCESS_TOKEN": "emulator"}
    endpoints = {name: value for name, value in environment.items() if name.endswith("_CUSTOM_ENDPOINT")}
    assert len(endpoints) > 190
    assert endpoints["GOOGLE_MONITORING_CUSTOM_ENDPOINT"] == f"{URL}/monitoring.googleapis.com/"
    proxies = {value for name, value in environment.items() if "PROXY" in name.upper()}
    assert {urlsplit(address).hostname for address in {*endpoints.values(), *proxies}} == {"127.0.0.1"}
    assert "NO_PROXY" not in {name.upper() for name in environment}
    assert "ALL_PROXY" not in environment
    assert environment["PULUMI_GCP_SKIP_REGION_VALIDATION"] == "true"
