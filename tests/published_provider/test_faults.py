"""What a user sees when Google fails, and that the next `up` completes."""

from __future__ import annotations

from tests.published_provider.conftest import Published


def test_bursts_of_429_and_503_are_sat_out_and_a_failed_operation_is_mended_by_the_next_up(
    published: Published,
) -> None:
    published.emulator_faults(
        {"fault": "error", "method": "compute.subnetworks.get", "code": 503, "times": 2, "message": "backend error"},
        {"fault": "error", "method": "compute.routers.get", "code": 429, "times": 2, "message": "rate limit exceeded"},
        {"fault": "operation", "method": "compute.addresses.insert", "message": "address pool is empty", "times": 1},
    )
    failed = published.up("dev", check=False)
    assert failed.returncode != 0
    assert "address pool is empty" in failed.stdout
    assert "backend error" not in failed.stdout
    assert "rate limit" not in failed.stdout
    assert "created" in published.up("dev").stdout
    assert "Nothing is left" in published.down("--stack", "dev").stdout
