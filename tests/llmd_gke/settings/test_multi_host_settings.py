"""Models on slices of several hosts: each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config

Accept = Callable[..., Checked]


def across(config: Config, **model: object) -> Config:
    """The stack with its model on a 4x4 slice of four hosts."""
    config["llmd-gke:tpuPools"][0].update(topology="4x4", maxNodes=4, earlyHosts=0)
    config["llmd-gke:models"][0].update(replicas=1, experimentalMultiHost=True, **model)
    return config


def test_a_model_on_a_slice_of_several_hosts_is_accepted_when_it_says_so(config: Config, accepted: Accept) -> None:
    settings = accepted(across(config)).settings
    assert settings.spans_hosts(settings.models[0])
    assert settings.multi_host_namespaces == ("models",)
    assert settings.busy_nodes(settings.tpu_pools[0]) == 4
    assert settings.totals.chips == 16


# --- stopped models and room ---------------------------------------------------------------------------------------
