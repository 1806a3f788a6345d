from __future__ import annotations

import pytest

from components.model_updates import hint
from llmd_common.pulumi_signatures import UNKNOWN
from llmd_gke.settings import StackSettings
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.variants import variant

BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"


def test_models_across_hosts_share_one_preset_that_comes_before_them() -> None:
    graph = variant("hosts")
    presets = [node for node in kinds.of(kinds.CONFIG)(graph) if "worker-pipeline" in str(kinds.metadata(node, "name"))]
    assert [kinds.metadata(node, "namespace") for node in presets] == ["models"]
    (preset,) = presets
    services = kinds.of(kinds.SERVICE)(graph)
    assert len(services) == 2
    assert [service.name for service in services if preset.urn not in graph.before(service)] == []
    (controller,) = kinds.chart("kserve-llmisvc-resources")(graph)
    assert controller.urn in graph.before(preset)


def test_a_model_on_single_hosts_has_neither_a_preset_nor_an_identity_for_buckets(record: Record) -> None:
    graph = record()
    assert {str(kinds.metadata(node, "name")) for node in kinds.of(kinds.CONFIG)(graph)} == {"qwen-tpu"}
    assert not [node for node in graph.nodes.values() if node.type in {BUCKET, BUCKET_MEMBER}]


def test_only_the_buckets_of_the_settings_are_made_and_weights_are_not_deleted_with_them() -> None:
    made = {node.inputs["name"]: node.inputs for node in kinds.of(BUCKET)(variant("storage"))}
    assert made.keys() == {"my-cache", "my-weights"}
    for bucket in made.values():
        assert bucket["location"] == "EUROPE-WEST4"
        assert bucket["publicAccessPrevention"] == "enforced"
        assert bucket["uniformBucketLevelAccess"] is True
    assert made["my-cache"]["forceDestroy"] is True, "a cache can be filled again"
    assert made["my-weights"]["forceDestroy"] is False


def test_each_model_has_an_identity_of_its_own_that_reads_weights_and_writes_its_cache_only() -> None:
    graph = variant("storage")
    pool = "projects/123456789012/locations/global/workloadIdentityPools/my-project.svc.id.goog"
    subject = f"principal://iam.googleapis.com/{pool}/subject/ns"
    qwen, claimed = f"{subject}/models/sa/llmd-eu4a-qwen", f"{subject}/others/sa/llmd-eu4a-claimed"
    below = {
        "title": "compile cache of qwen",
        "expression": 'resource.name.startsWith("projects/_/buckets/my-cache/objects/v6e/qwen/")',
    }
    roles = {
        (str(node.inputs["bucket"]), str(node.inputs["role"]).removeprefix("roles/storage.")): (
            node.inputs["member"],
            node.inputs.get("condition"),
        )
        for node in kinds.of(BUCKET_MEMBER)(graph)
    }
    assert roles == {
        ("my-weights", "objectViewer"): (qwen, None),
        ("my-cache", "objectViewer"): (qwen, None),
        ("my-cache", "objectUser"): (qwen, below),
        ("other-cache", "objectViewer"): (claimed, None),
        ("other-cache", "objectUser"): (claimed, None),
    }
    made = kinds.without_scraping(SERVICE_ACCOUNT)(graph)
    accounts = {(kinds.metadata(node, "namespace"), kinds.metadata(node, "name")) for node in made}
    others = {("models", "llmd-eu4a-gated"), ("models", "llmd-eu4a-asleep")}  # for the pull secret of their namespace
    assert accounts == {("models", "llmd-eu4a-qwen"), ("others", "llmd-eu4a-claimed")} | others


def test_the_first_preview_knows_no_member_yet_and_asks_nothing() -> None:
    graph = variant("storage", preview=True)
    assert {node.inputs["member"] for node in kinds.of(BUCKET_MEMBER)(graph)} == {UNKNOWN}


def test_pods_start_after_their_account_and_their_grants_which_come_after_the_cluster() -> None:
    graph = variant("storage")
    service, account = graph.find(kinds.SERVICE, "qwen-service"), graph.find(SERVICE_ACCOUNT, "qwen-account")
    assert account.inputs["automountServiceAccountToken"] is False
    assert graph.comes_before(account, service)
    grants = [node for node in kinds.of(BUCKET_MEMBER)(graph) if "qwen" in str(node.inputs["member"])]
    assert len(grants) == 3
    for grant in grants:
        assert graph.comes_before(graph.find(kinds.CLUSTER), grant), "the identity pool comes with the cluster"
        assert graph.comes_before(grant, service)


def test_a_private_image_brings_its_pull_secret_first() -> None:
    graph = variant("storage")
    pull = graph.find(kinds.SECRET, "models-pull-secret")
    assert pull.inputs["type"] == "kubernetes.io/dockerconfigjson"
    assert kinds.metadata(pull, "name") == "image-pull-secret"
    assert graph.comes_before(pull, graph.find(kinds.SERVICE, "qwen-service"))
    assert [node.name for node in graph.nodes.values() if "c2VjcmV0" in str(node.inputs)] == [pull.name]
    account = graph.find(SERVICE_ACCOUNT, "qwen-account")
    assert account.inputs["imagePullSecrets"] == [{"name": "image-pull-secret"}], "KServe gives them to the picker"


def test_a_stopped_model_keeps_its_service_and_loses_what_leads_to_it() -> None:
    graph = variant("storage")
    service = graph.find(kinds.SERVICE, "asleep-service")
    assert kinds.metadata(service, "annotations") == {"serving.kserve.io/stop": "true"}, "and nobody waits for Ready"
    leading = [node for kind in (kinds.ROUTE, kinds.HEALTH, kinds.BACKEND) for node in kinds.of(kind)(graph)]
    assert not [node.name for node in leading if "asleep" in node.name]
    assert graph.find(kinds.CONFIG, "asleep-tpu")


def test_the_output_says_that_nothing_answers_at_the_url_of_a_stopped_model() -> None:
    outputs = variant("storage").outputs
    models = outputs["models"]
    assert isinstance(models, dict)
    assert models["asleep"]["stopped"] is True
    assert "stopped" not in models["qwen"]
    assert "asleep" not in str(outputs["curl"])
    assert "/models/qwen/v1/chat/completions" in str(outputs["curl"])


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


def test_a_traced_stack_opens_the_way_out_before_the_service_comes_and_others_do_not(record: Record) -> None:
    traced = variant("storage")
    policy = next(node for node in traced.nodes.values() if node.name == "qwen-allow-traces")
    assert traced.comes_before(policy, traced.find(kinds.SERVICE, "qwen-service"))
    scope = traced.find(kinds.CLUSTER).inputs["managedOpentelemetryConfig"]
    assert scope == {"scope": "COLLECTION_AND_INSTRUMENTATION_COMPONENTS"}
    graph = record()
    assert "managedOpentelemetryConfig" not in graph.find(kinds.CLUSTER).inputs
    assert not any("traces" in node.name for node in graph.nodes.values())
