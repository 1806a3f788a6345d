"""What the settings of models allow: weights, buckets, scheduler."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"


@pytest.mark.parametrize("uri", ["gs://my-bucket/qwen", "pvc://claim/path", "oci://registry.example.com/qwen:v1"])
def test_weights_come_from_where_kserve_or_a_mount_can_bring_them(
    config: Config, accepted: Callable[..., Checked], uri: str
) -> None:
    config["llmd-gke:models"][0]["uri"] = uri
    assert accepted(config).settings.models[0].uri == uri


def test_a_private_image_needs_the_pull_secret(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["privateImage"] = True
    assert refused(config, secrets=[]) == (
        HEAD + "  llmd-gke:pullSecret\n"
        "    privateImage of qwen requires it  [missing-secret]\n"
        "    fix:     pulumi config set --secret llmd-gke:pullSecret (then paste the contents of a .dockerconfigjson)"
    )


PLUGINS = "  llmd-gke:models[0].scheduler.plugins = "


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"uri": "gs://B/x"},
            '  llmd-gke:models[0].uri = "gs://B/x"\n'
            "    'B' is not the name of a bucket  [bucket-name]\n"
            "    allowed: 3 to 63 lower-case letters, digits, dashes, underscores and dots; a letter or digit at both "
            "ends\n"
            "    fix:     for example my-project-weights",
        ),
        (
            {"compileCache": "/var/cache"},
            '  llmd-gke:models[0].compileCache = "/var/cache"\n'
            "    '/var/cache' names no bucket  [bucket-uri]\n"
            "    allowed: gs://BUCKET or gs://BUCKET/PATH\n"
            "    fix:     gs://my-bucket",
        ),
        (
            {"compileCache": "gs://my-bucket/../../../etc"},
            '  llmd-gke:models[0].compileCache = "gs://my-bucket/../../../etc"\n'
            "    'gs://my-bucket/../../../etc' contains `..`, which Cloud Storage does not resolve  [bucket-uri]\n"
            "    allowed: gs://BUCKET/PATH\n"
            "    fix:     remove `..` from the path",
        ),
        (
            {"uri": "gs://my-bucket/a,b"},
            '  llmd-gke:models[0].uri = "gs://my-bucket/a,b"\n'
            "    'gs://my-bucket/a,b' contains a comma, which separates mount options  [bucket-uri]\n"
            "    fix:     use a folder whose name has no comma",
        ),
        (
            {"uri": "https://host/x"},
            '  llmd-gke:models[0].uri = "https://host/x"\n'
            "    'https://host/x' is not a model URI that KServe can load  [model-uri]\n"
            "    allowed: hf://, oci://, pvc://, s3://, gs://\n"
            "    fix:     hf://OWNER/NAME",
        ),
        (
            {"uri": "hf://Qwen/Qwen3-32B"},
            '  llmd-gke:models[0].uri = "hf://Qwen/Qwen3-32B"\n'
            "    the weights of hf://Qwen/Qwen3-32B take about 66 GB, the system and the image about 40 GB, but "
            "the pool's disks have only 100 GB  [model-disk]\n"
            "    allowed: diskGb of at least 106\n"
            "    fix:     increase diskGb of the pool, or serve the weights from a bucket (gs://)",
        ),
        (
            {"scheduler": {"plugins": [{"type": "queue-scorer"}]}},
            PLUGINS + '["queue-scorer"]\n'
            "    queue-scorer has no weight  [scheduler-plugin]\n"
            "    allowed: a weight for each scorer\n"
            "    fix:     weight: 2 for queue-scorer",
        ),
        (
            {"scheduler": {"plugins": [{"type": "max-score-picker"}]}},
            PLUGINS + '["max-score-picker"]\n'
            "    the list has no scorer  [scheduler-plugin]\n"
            "    allowed: at least one scorer\n"
            "    fix:     add queue-scorer with weight: 2",
        ),
        (
            {"scheduler": {"plugins": [{"type": "queue-scorer", "weight": 1}, {"type": "random-picker", "weight": 1}]}},
            PLUGINS + '["queue-scorer", "random-picker"]\n'
            "    random-picker has a weight but is not a scorer  [scheduler-plugin]\n"
            "    allowed: weights for scorers only\n"
            "    fix:     remove its weight",
        ),
        (
            {"scheduler": {"plugins": [{"type": "queue-scorer", "weight": 1}] * 2}},
            PLUGINS + '["queue-scorer", "queue-scorer"]\n'
            "    queue-scorer is listed twice  [scheduler-plugin]\n"
            "    allowed: each plugin at most once\n"
            "    fix:     keep one entry for queue-scorer",
        ),
        (
            {
                "scheduler": {
                    "plugins": [
                        {"type": "queue-scorer", "weight": 1},
                        {"type": "random-picker"},
                        {"type": "max-score-picker"},
                    ]
                }
            },
            PLUGINS + '["queue-scorer", "random-picker", "max-score-picker"]\n'
            "    random-picker and max-score-picker are both pickers  [scheduler-plugin]\n"
            "    allowed: at most one picker\n"
            "    fix:     keep random-picker",
        ),
        (
            {"prefixCaching": False, "scheduler": {"plugins": [{"type": "prefix-cache-scorer", "weight": 3}]}},
            PLUGINS + '["prefix-cache-scorer"]\n'
            "    prefix-cache-scorer needs prefix caching in the server  [scheduler-plugin]\n"
            "    allowed: prefixCaching: true\n"
            "    fix:     remove prefix-cache-scorer",
        ),
        (
            {"scheduler": {"plugins": [{"type": "Queue Scorer", "weight": 1}, {"type": "queue-scorer", "weight": 1}]}},
            PLUGINS + '["Queue Scorer", "queue-scorer"]\n'
            "    'Queue Scorer' is not a plugin type  [scheduler-plugin]\n"
            "    allowed: lower-case letters, digits and dashes\n"
            "    fix:     queue-scorer",
        ),
        (
            {
                "scheduler": {
                    "plugins": [{"type": "queue-scorer", "weight": 1}, {"type": "utilization-detector"}],
                    "saturation": {"headroom": 0},
                }
            },
            PLUGINS + '["queue-scorer", "utilization-detector"]\n'
            "    utilization-detector is in the list of plugins, but saturation also configures it  "
            "[scheduler-plugin]\n"
            "    allowed: one of the two\n"
            "    fix:     remove utilization-detector from plugins",
        ),
        (
            {
                "scheduler": {
                    "plugins": [{"type": "queue-scorer", "weight": 1}, {"type": "concurrency-detector"}],
                    "saturation": {"maxConcurrency": 8},
                }
            },
            PLUGINS + '["queue-scorer", "concurrency-detector"]\n'
            "    concurrency-detector is in the list of plugins, but saturation also configures it  "
            "[scheduler-plugin]\n"
            "    allowed: one of the two\n"
            "    fix:     remove concurrency-detector from plugins",
        ),
        (
            {"scheduler": {"saturation": {"maxConcurrency": 8, "queueDepthThreshold": 3, "headroom": 0.2}}},
            "  llmd-gke:models[0].scheduler.saturation.maxConcurrency = 8\n"
            "    requests in flight and thresholds on metrics (queueDepthThreshold, headroom) are both set, but the "
            "picker uses one of them  [scheduler-plugin]\n"
            "    allowed: maxConcurrency alone, or only thresholds\n"
            "    fix:     remove queueDepthThreshold, headroom, or remove maxConcurrency",
        ),
        (
            {"kvCacheOffloading": {"cpu": "8Gi"}},
            '  llmd-gke:models[0].kvCacheOffloading = {"cpu": "8Gi"}\n'
            "    KServe turns this into a GPU-only KV connector, which the TPU backend does not support  "
            "[not-offered]\n"
            "    fix:     remove it",
        ),
        (
            {"scheduler": {"image": "ghcr.io/llm-d/llm-d-inference-scheduler:v0.6.0"}},
            '  llmd-gke:models[0].scheduler.image = "ghcr.io/llm-d/llm-d-inference-scheduler:v0.6.0"\n'
            "    containers[0].image: the TLS of endpoint picker v0.6.0 does not offer h2 (No ALPN negotiated)  "
            "[endpoint-picker]\n"
            "    allowed: 0.7.0 or newer\n"
            "    fix:     use 0.7.0 or newer",
        ),
    ],
)
def test_what_does_not_fit_is_refused(config: Config, refused: Refuse, model: dict[str, object], message: str) -> None:
    config["llmd-gke:models"][0].update(model)
    assert refused(config) == HEAD + message


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("queueDepthThreshold", 0),
        ("kvCacheUtilThreshold", 0),
        ("kvCacheUtilThreshold", 1.1),
        ("metricsStalenessMilliseconds", 0),
        ("headroom", -0.1),
        ("maxConcurrency", 0),
    ],
)
def test_a_threshold_that_the_picker_would_refuse_is_refused(
    config: Config, refused: Refuse, limit: str, value: float
) -> None:
    config["llmd-gke:models"][0]["scheduler"] = {"saturation": {limit: value}}
    assert f"llmd-gke:models[0].scheduler.saturation.{limit} = {value}\n" in refused(config)


def test_a_bucket_that_no_model_uses_is_a_warning(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:storage"] = {"buckets": ["my-bucket"]}
    assert [one.finding.problem for one in accepted(config).warnings if one.finding.rule == "unused-bucket"] == [
        "no model uses this bucket"
    ]


def test_two_wrong_things_give_two_messages(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0].update({"compileCache": "x", "scheduler": {"plugins": [{"type": "queue-scorer"}]}})
    assert refused(config).startswith("Pulumi.eu4a.yaml has 2 problems:")


@pytest.mark.parametrize(
    ("uri", "minutes"),
    [
        ("hf://Qwen/Qwen3-4B", 20),
        ("hf://meta-llama/Llama-3.3-70B-Instruct", 53),
        ("hf://some/unknown", 30),
        ("gs://my-bucket/x", 30),
    ],
)
def test_the_startup_budget_follows_the_size_of_the_weights(
    config: Config, accepted: Callable[..., Checked], uri: str, minutes: int
) -> None:
    model = config["llmd-gke:models"][0]
    config["llmd-gke:tpuPools"][0] |= {"machineType": "ct6e-standard-8t", "topology": "2x4", "diskGb": 500}
    model["uri"] = uri
    assert accepted(config).settings.models[0].startup_budget == minutes
    model["startupMinutes"] = 60
    assert accepted(config).settings.models[0].startup_budget == 60


@pytest.mark.parametrize(
    "path",
    ["/", "", "v1/score", "/v1/score/", "/v1//score", "/v1/../metrics", "/.", "/v1/%2e", "/a b", "/a?b=c"],
)
def test_what_is_no_plain_path_is_refused(config: Config, refused: Refuse, path: str) -> None:
    config["llmd-gke:models"][0]["paths"] = [path]
    assert "is not a path that can be routed  [route-path]" in refused(config)


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions/render", "/health"])
def test_a_path_that_every_route_has_is_refused(config: Config, refused: Refuse, path: str) -> None:
    config["llmd-gke:models"][0]["paths"] = [path]
    assert "and everything below it is already routed  [route-path]" in refused(config)


def test_a_path_below_another_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["paths"] = ["/v1/audio", "/v1/audio/speech"]
    assert "/v1/audio/speech is already covered by /v1/audio  [route-path]" in refused(config)


def test_more_paths_than_a_route_holds_are_refused_with_the_number(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0].update(paths=[f"/v1/more{number}" for number in range(9)], atRoot=True)
    message = refused(config)
    assert "9 more paths need 17 rules, one per path; an HTTPRoute has at most 16" in message
    assert "allowed: at most 8 more paths for a model at the root" in message


@pytest.mark.parametrize(
    ("path", "internal"), [("/metrics", "/metrics"), ("/v1", "/v1/load_lora_adapter"), ("/invocations", "/invocations")]
)
def test_opening_an_internal_path_is_a_warning(
    config: Config, accepted: Callable[..., Checked], path: str, internal: str
) -> None:
    config["llmd-gke:models"][0]["paths"] = [path]
    (warning,) = [one for one in accepted(config).warnings if one.finding.rule == "route-path-internal"]
    assert warning.key == "llmd-gke:models[0].paths[0]"
    assert internal in warning.finding.problem


def test_further_paths_are_accepted(config: Config, accepted: Callable[..., Checked]) -> None:
    before = accepted(config).warnings
    config["llmd-gke:models"][0]["paths"] = ["/v1/score", "/v1/audio", "/tokenize"]
    assert accepted(config).warnings == before


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("gs://cache/a", "gs://cache/a/", True),
        ("gs://cache", "gs://cache/a", True),
        ("gs://cache/a", "gs://cache/ab", False),
    ],
)
def test_namespaces_that_write_one_compile_cache_are_a_warning(
    config: Config, accepted: Callable[..., Checked], first: str, second: str, shared: bool
) -> None:
    model = config["llmd-gke:models"][0]
    model.update(replicas=1, compileCache=first)
    config["llmd-gke:models"] = [model, {**model, "name": "other", "namespace": "team", "compileCache": second}]
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 8
    assert ("shared-cache" in [one.finding.rule for one in accepted(config).warnings]) is shared
    config["llmd-gke:models"][1]["namespace"] = "models"
    assert "shared-cache" not in [one.finding.rule for one in accepted(config).warnings], "one namespace, one owner"
