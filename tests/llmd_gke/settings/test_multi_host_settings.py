"""Models on slices of several hosts: each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]
HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"


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


def test_a_model_on_a_slice_of_several_hosts_must_say_so(config: Config, refused: Refuse) -> None:
    across(config)
    del config["llmd-gke:models"][0]["experimentalMultiHost"]
    assert refused(config) == (
        HEAD + '  llmd-gke:models[0].pool = "v6e4"\n'
        "    pool v6e4 is a multi-host slice of 4 nodes; models on several hosts are experimental and have not "
        "been run on TPUs yet  [model-multi-host]\n"
        "    allowed: a single-host pool, or experimentalMultiHost: true on the model\n"
        "    fix:     use a single-host pool, or set experimentalMultiHost: true (see docs/models.md)"
    )


def test_on_a_single_host_there_is_nothing_to_span(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["experimentalMultiHost"] = True
    assert refused(config) == (
        HEAD + '  llmd-gke:models[0].pool = "v6e4"\n'
        "    experimentalMultiHost is set, but pool v6e4 has single-host slices  [model-multi-host]\n"
        "    allowed: a pool whose topology has several hosts, such as 4x4 of ct6e-standard-4t\n"
        "    fix:     remove experimentalMultiHost"
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"tensorParallel": 4},
            "tensorParallel = 4\n    tensorParallel 4 x pipelineParallel 1 does not use the 16 chips of 4x4 (4 x "
            "ct6e-standard-4t)  [tensor-parallel]\n    allowed: 16\n"
            "    fix:     remove tensorParallel: the default follows the pool",
        ),
        (
            {"tensorParallel": 16, "pipelineParallel": 4},
            "tensorParallel = 16\n    tensorParallel 16 x pipelineParallel 4 does not use the 16 chips of 4x4 (4 x "
            "ct6e-standard-4t)  [tensor-parallel]\n    allowed: 4\n"
            "    fix:     remove tensorParallel: the default follows the pool",
        ),
        (
            {"pipelineParallel": 3},
            "pipelineParallel = 3\n    pipelineParallel 3 does not divide the 16 chips of 4x4  [pipeline-parallel]\n"
            "    allowed: 1, 2, 4, 8, 16\n    fix:     pipelineParallel: 4, or remove it",
        ),
        (
            {"compileCache": "gs://my-cache"},
            'compileCache = "gs://my-cache"\n'
            "    the 4 hosts of 4x4 would write the same compiled graphs to one bucket at the same time  "
            "[multi-host-cache]\n"
            "    allowed: no compileCache: each host keeps its compiled graphs for the lifetime of its pod\n"
            "    fix:     remove compileCache",
        ),
    ],
)
def test_what_does_not_go_across_hosts_is_refused(
    config: Config, refused: Refuse, model: dict[str, object], message: str
) -> None:
    assert refused(across(config, **model)) == f"{HEAD}  llmd-gke:models[0].{message}"


@pytest.mark.parametrize("model", [{"tensorParallel": 16}, {"tensorParallel": 4, "pipelineParallel": 4}])
def test_what_uses_every_chip_is_accepted(config: Config, accepted: Accept, model: dict[str, object]) -> None:
    assert accepted(across(config, **model))


def test_stages_on_one_host_are_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["pipelineParallel"] = 2
    assert refused(config) == (
        HEAD + "  llmd-gke:models[0].pipelineParallel = 2\n"
        "    pipelineParallel 2 on one host: pipeline stages are for slices with several hosts  [pipeline-parallel]\n"
        "    allowed: a pool whose slice has several hosts\n"
        "    fix:     remove pipelineParallel"
    )


def test_a_slice_holds_one_replica_of_one_model(config: Config, refused: Refuse, accepted: Accept) -> None:
    across(config)
    config["llmd-gke:models"][0]["replicas"] = 2
    message = (
        HEAD + "  llmd-gke:tpuPools[0].maxNodes = 4\n"
        "    the models on pool v6e4 need 2 slices (8 hosts), but it has 1 slice of 4 hosts  [tpu-pool-size]\n"
        "    allowed: 1 replica in all: a multi-host node pool is one slice\n"
        "    fix:     use one replica, and a separate pool for each further model"
    )
    assert refused(config) == message
    config["llmd-gke:models"][0]["replicas"] = 1
    config["llmd-gke:models"].append({**config["llmd-gke:models"][0], "name": "second"})
    assert refused(config) == message
    config["llmd-gke:models"][1]["stopped"] = True
    assert accepted(config), "a stopped model has no pods"


def test_an_update_across_hosts_needs_no_spare_slice(config: Config, accepted: Accept) -> None:
    assert accepted(across(config)).settings.tpu_pools[0].max_nodes == 4


# --- stopped models and room ---------------------------------------------------------------------------------------


def test_a_stopped_model_needs_no_host(config: Config, refused: Refuse, accepted: Accept) -> None:
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 4
    config["llmd-gke:models"].append({**config["llmd-gke:models"][0], "name": "asleep"})
    assert "the models on pool v6e4 need 6 hosts, but it has at most 4  [tpu-pool-size]" in refused(config)
    config["llmd-gke:models"][1]["stopped"] = True
    assert accepted(config)


def test_a_pool_whose_models_all_sleep_may_be_as_small_as_it_likes(config: Config, accepted: Accept) -> None:
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 1
    config["llmd-gke:models"][0]["stopped"] = True
    assert accepted(config)


def test_the_room_for_an_update_is_that_of_the_models_that_run(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 2
    config["llmd-gke:models"][0].update(replicas=40, stopped=True)
    config["llmd-gke:models"].append({**config["llmd-gke:models"][0], "name": "awake", "replicas": 1, "stopped": False})
    assert accepted(config)
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 1
    assert "pool v6e4 has 1 host for 1 replica: an update starts 1 more pod" in refused(config)
