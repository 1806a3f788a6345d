"""What of KServe's picker configuration reaches the picker of the laptop cloud."""

from __future__ import annotations

from typing import cast

import yaml

from localcloud.nodes.entrypoints.endpoint_picker import translate, uses_detector, without

TEXT = """apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins:
- parameters:
    lruCapacity: 10
  type: no-hit-lru-scorer
- parameters:
    hashBlockSize: 64
  type: prefix-cache-scorer
- type: max-score-picker
schedulingProfiles:
- name: default
  plugins:
  - pluginRef: no-hit-lru-scorer
    weight: 2
  - pluginRef: prefix-cache-scorer
    weight: 3
  - pluginRef: max-score-picker
"""


def test_plugins_of_llm_d_go_with_their_parameters_and_weights_and_the_rest_stays() -> None:
    text, dropped = without(TEXT)
    expected = cast("dict[str, list[dict[str, object]]]", yaml.safe_load(TEXT))
    expected["plugins"] = expected["plugins"][1:]
    profile = cast("dict[str, list[object]]", expected["schedulingProfiles"][0])
    profile["plugins"] = profile["plugins"][1:]
    assert yaml.safe_load(text) == expected
    assert dropped == ["no-hit-lru-scorer"]


def test_a_configuration_of_known_plugins_stays_as_it_is() -> None:
    text, dropped = without(TEXT.replace("no-hit-lru-scorer", "queue-scorer"))
    assert yaml.safe_load(text) == yaml.safe_load(TEXT.replace("no-hit-lru-scorer", "queue-scorer"))
    assert dropped == []


def test_an_argument_that_only_llm_d_has_goes_with_its_value() -> None:
    others = ["--pool-name=pool", "--zap-encoder", "json"]
    for form in (["--grpc-max-recv-msg-size=33554432"], ["--grpc-max-recv-msg-size", "33554432"]):
        assert translate([*others, *form, "--tracing=false"]) == (
            [*others, "--tracing=false"],
            ["--grpc-max-recv-msg-size"],
        )


def test_a_configuration_is_translated_in_either_form() -> None:
    text, _ = without(TEXT)
    assert translate(["--config-text", TEXT]) == (["--config-text", text], ["no-hit-lru-scorer"])
    assert translate([f"--config-text={TEXT}"]) == ([f"--config-text={text}"], ["no-hit-lru-scorer"])


def test_a_detector_of_requests_in_flight_gets_the_counter_that_llm_ds_picker_adds_by_itself() -> None:
    limited = TEXT.replace("- type: max-score-picker\n", "- type: max-score-picker\n- type: concurrency-detector\n")
    assert uses_detector(limited)
    assert not uses_detector(TEXT)
    (_, text), _ = translate(["--config-text", limited])
    config = yaml.safe_load(text)
    declared = [plugin["type"] for plugin in config["plugins"]]
    sources = config["dataLayer"]["sources"]
    read = {source["pluginRef"]: [one["pluginRef"] for one in source["extractors"]] for source in sources}
    assert read == {
        "metrics-data-source": ["core-metrics-extractor"],
        "endpoint-notification-source": ["endpoint-inflight-load-producer"],
    }
    assert {*read, *(name for names in read.values() for name in names), "concurrency-detector"} <= set(declared)
    assert config["schedulingProfiles"] == yaml.safe_load(without(TEXT)[0])["schedulingProfiles"]
