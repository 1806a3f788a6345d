"""Buckets, pull secrets and stopped models in the graph."""

from __future__ import annotations

import json

import pytest

from components.model_updates import hint
from llmd_common.pulumi_signatures import UNKNOWN
from llmd_gke.graph.resources import Graph
from llmd_gke.settings import StackSettings
from tests.components import kinds
from tests.components.conftest import Record

QWEN = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "replicas": 3}
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"


ACROSS_HOSTS = {
    "llmd-gke:pools": [
        {"name": name, "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4, "diskGb": 200}
        for name in ("one", "two")
    ],
    "llmd-gke:models": [
        {"name": name, "uri": "hf://Qwen/Qwen3-32B", "pool": name, "experimentalMultiHost": True}
        for name in ("one", "two")
    ],
}


def test_models_across_hosts_share_one_preset_that_comes_before_them(record: Record) -> None:
    graph = record(ACROSS_HOSTS)
    presets = [node for node in kinds.of(kinds.CONFIG)(graph) if "worker-pipeline" in str(kinds.metadata(node, "name"))]
    assert [kinds.metadata(node, "namespace") for node in presets] == ["models"]
    (preset,) = presets
    services = kinds.of(kinds.SERVICE)(graph)
    assert len(services) == 2
    assert [service.name for service in services if preset.urn not in graph.before(service)] == []
    (controller,) = kinds.chart("kserve-llmisvc-resources")(graph)
    assert controller.urn in graph.before(preset)


def test_models_on_single_hosts_have_no_preset(record: Record) -> None:
    names = {str(kinds.metadata(node, "name")) for node in kinds.of(kinds.CONFIG)(record())}
    assert names == {"qwen-tpu"}


def with_buckets(record: Record) -> Graph:
    model = {**QWEN, "uri": "gs://my-weights/qwen", "compileCache": "gs://my-cache"}
    return record({"llmd-gke:models": [model], "llmd-gke:storage": {"buckets": ["my-cache"]}})


def test_only_the_buckets_of_the_settings_are_made(record: Record) -> None:
    (bucket,) = kinds.of(BUCKET)(with_buckets(record))
    assert bucket.inputs["name"] == "my-cache"
    assert bucket.inputs["location"] == "EUROPE-WEST4"
    assert bucket.inputs["publicAccessPrevention"] == "enforced"
    assert bucket.inputs["uniformBucketLevelAccess"] is True
    assert bucket.inputs["forceDestroy"] is True, "a cache can be filled again"


def test_a_bucket_of_weights_is_never_deleted_with_something_in_it(record: Record) -> None:
    changes = {
        "llmd-gke:models": [{**QWEN, "uri": "gs://my-weights/qwen"}],
        "llmd-gke:storage": {"buckets": ["my-weights"]},
    }
    (bucket,) = kinds.of(BUCKET)(record(changes))
    assert bucket.inputs["forceDestroy"] is False


def roles(graph: Graph) -> dict[tuple[str, str], object]:
    """Condition by bucket and role."""
    return {
        (str(node.inputs["bucket"]), str(node.inputs["role"]).removeprefix("roles/storage.")): node.inputs.get(
            "condition"
        )
        for node in kinds.of(BUCKET_MEMBER)(graph)
    }


def test_pods_may_read_weights_and_write_the_cache(record: Record) -> None:
    assert roles(with_buckets(record)) == {
        ("my-weights", "objectViewer"): None,
        ("my-cache", "objectViewer"): None,
        ("my-cache", "objectUser"): None,
    }


def test_a_cache_with_a_path_is_written_below_it_only(record: Record) -> None:
    cache = {**QWEN, "compileCache": "gs://my-cache/v6e/qwen/"}
    assert roles(record({"llmd-gke:models": [cache]})) == {
        ("my-cache", "objectViewer"): None,
        ("my-cache", "objectUser"): {
            "title": "compile cache of qwen",
            "expression": 'resource.name.startsWith("projects/_/buckets/my-cache/objects/v6e/qwen/")',
        },
    }


def test_each_model_has_an_identity_of_its_own_for_its_own_buckets(record: Record) -> None:
    models = [
        {**QWEN, "replicas": 1, "uri": "gs://my-weights/qwen"},
        {**QWEN, "replicas": 1, "name": "other", "namespace": "team", "uri": "gs://their-weights/qwen"},
    ]
    graph = record({"llmd-gke:models": models})
    pool = "projects/123456789012/locations/global/workloadIdentityPools/my-project.svc.id.goog"
    subject = f"principal://iam.googleapis.com/{pool}/subject/ns"
    assert {str(node.inputs["bucket"]): node.inputs["member"] for node in kinds.of(BUCKET_MEMBER)(graph)} == {
        "my-weights": f"{subject}/models/sa/llmd-eu4a-qwen",
        "their-weights": f"{subject}/team/sa/llmd-eu4a-other",
    }
    made = kinds.without_scraping(SERVICE_ACCOUNT)(graph)
    accounts = {(kinds.metadata(node, "namespace"), kinds.metadata(node, "name")) for node in made}
    assert accounts == {("models", "llmd-eu4a-qwen"), ("team", "llmd-eu4a-other")}


def test_the_first_preview_knows_no_member_yet_and_asks_nothing(record: Record) -> None:
    graph = record({"llmd-gke:models": [{**QWEN, "compileCache": "gs://my-cache"}]}, preview=True)
    assert {node.inputs["member"] for node in kinds.of(BUCKET_MEMBER)(graph)} == {UNKNOWN}


def test_pods_start_after_their_account_and_their_grants_which_come_after_the_cluster(record: Record) -> None:
    graph = with_buckets(record)
    service, account = graph.find(kinds.SERVICE), graph.find(SERVICE_ACCOUNT, "qwen-account")
    assert account.inputs["automountServiceAccountToken"] is False
    assert graph.comes_before(account, service)
    for grant in kinds.of(BUCKET_MEMBER)(graph):
        assert graph.comes_before(graph.find(kinds.CLUSTER), grant), "the identity pool comes with the cluster"
        assert graph.comes_before(grant, service)


def test_without_buckets_there_is_no_identity_for_them(record: Record) -> None:
    graph = record()
    assert not [node for node in graph.nodes.values() if node.type in {BUCKET, BUCKET_MEMBER}]


def test_a_private_image_brings_its_pull_secret_first(record: Record) -> None:
    secret = json.dumps({"auths": {"registry.example.com": {"auth": "c2VjcmV0"}}})
    graph = record({"llmd-gke:models": [{**QWEN, "privateImage": True}], "llmd-gke:pullSecret": secret})
    pull = graph.find(kinds.SECRET, "models-pull-secret")
    assert pull.inputs["type"] == "kubernetes.io/dockerconfigjson"
    assert kinds.metadata(pull, "name") == "image-pull-secret"
    assert graph.comes_before(pull, graph.find(kinds.SERVICE))
    assert "c2VjcmV0" not in str(graph.find(kinds.CONFIG).inputs)
    account = graph.find(SERVICE_ACCOUNT, "qwen-account")
    assert account.inputs["imagePullSecrets"] == [{"name": "image-pull-secret"}], "KServe gives them to the picker"


def test_a_stopped_model_keeps_its_service_and_loses_what_leads_to_it(record: Record) -> None:
    graph = record({"llmd-gke:models": [{**QWEN, "stopped": True}]})
    service = graph.find(kinds.SERVICE)
    assert kinds.metadata(service, "annotations") == {"serving.kserve.io/stop": "true"}, "and nobody waits for Ready"
    assert [kinds.of(kind)(graph) for kind in (kinds.ROUTE, kinds.HEALTH, kinds.BACKEND)] == [[], [], []]
    assert graph.find(kinds.CONFIG)


def test_the_output_says_that_nothing_answers_at_the_url_of_a_stopped_model(record: Record) -> None:
    asleep, awake = {**QWEN, "stopped": True}, {**QWEN, "name": "awake"}
    outputs = record({"llmd-gke:models": [asleep, awake]}).outputs
    models = outputs["models"]
    assert isinstance(models, dict)
    assert models["qwen"]["stopped"] is True
    assert "stopped" not in models["awake"]
    (command,) = str(outputs["curl"]).splitlines()
    assert "/models/awake/v1/chat/completions" in command


def test_a_stopped_model_costs_no_chips(record: Record) -> None:
    assert record({"llmd-gke:models": [{**QWEN, "stopped": True}]}).outputs["chips"] == 0
    assert record({"llmd-gke:models": [QWEN]}).outputs["chips"] == 12


@pytest.mark.parametrize("error", ["timed out waiting for the condition", "Timeout: …", "context deadline exceeded"])
def test_a_service_that_was_not_ready_in_time_says_what_to_look_at(settings: StackSettings, error: str) -> None:
    message = hint(settings.models[0], [error])
    assert message is not None
    assert "waitFor: workloads" in message
    assert "llmd-gke smoke" in message


def test_other_failures_of_a_service_get_no_such_hint(settings: StackSettings) -> None:
    model = settings.models[0]
    assert hint(model, ["admission webhook denied the request", "timed out"]) is None
    assert hint(model.model_copy(update={"wait_for": "workloads"}), ["timed out"]) is None


def test_a_traced_stack_opens_the_way_out_before_the_service_comes(record: Record) -> None:
    traced = record({"llmd-gke:monitoring": {"traces": {"cloudTrace": True}}}, preview=True)
    policy = next(node for node in traced.nodes.values() if node.name == "qwen-allow-traces")
    (service,) = kinds.of(kinds.SERVICE)(traced)
    assert traced.comes_before(policy, service)
    scope = traced.find(kinds.CLUSTER).inputs["managedOpentelemetryConfig"]
    assert scope == {"scope": "COLLECTION_AND_INSTRUMENTATION_COMPONENTS"}


def test_without_traces_neither_cluster_nor_models_know_of_them(record: Record) -> None:
    graph = record(preview=True)
    assert "managedOpentelemetryConfig" not in graph.find(kinds.CLUSTER).inputs
    assert not any("traces" in node.name for node in graph.nodes.values())
