"""Copies of weights in a bucket in the graph: order, access, and where the token is."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.manifests import naming
from tests.components import kinds
from tests.components.conftest import Record

JOB = "kubernetes:batch/v1:Job"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
FQDN = "kubernetes:networking.gke.io/v1alpha1:FQDNNetworkPolicy"
LLAMA = "hf://meta-llama/Llama-3.1-8B-Instruct"
MODEL = {"name": "llama", "uri": LLAMA, "pool": "v6e4", "weightsCache": "gs://my-weights/hf", "parallelDownload": True}
FOLDER = "hf/meta-llama/Llama-3.1-8B-Instruct/main"
NEEDED_BY_JOB = r"llmd-gke:models:Model(Namespace|Storage|Weights)\$"
BUCKETS = {"llmd-gke:storage": {"buckets": ["my-weights"]}}


TOKEN = {"llmd-gke:hfToken": "hf_secret"}


def copied(record: Record, **changes: object) -> Graph:
    network = {"llmd-gke:network": {"egress": {"mode": "names"}}}
    return record({"llmd-gke:models": [{**MODEL, **changes}], **BUCKETS, **TOKEN, **network})


def job_of(graph: Graph) -> ResourceNode:
    (job,) = kinds.of(JOB)(graph)
    return job


def pod(graph: Graph) -> dict[str, Any]:
    return cast("dict[str, Any]", kinds.spec(job_of(graph))["template"])


def test_the_job_comes_before_the_service_and_waits_for_neither_kserve_nor_hosts(record: Record) -> None:
    graph = copied(record)
    job, (service,) = job_of(graph), kinds.of(kinds.SERVICE)(graph)
    assert job.urn in graph.before(service)
    not_needed = {node.urn for node in [*kinds.of(kinds.RELEASE)(graph), *kinds.tpu_pool(graph)]}
    assert not graph.before(job) & not_needed, "it would run after what it can run beside"


def test_what_the_job_needs_comes_before_it(record: Record) -> None:
    graph = copied(record)
    job = job_of(graph)
    for type_ in (BUCKET_MEMBER, "gcp:storage/bucket:Bucket", kinds.NAMESPACE, kinds.SECRET, SERVICE_ACCOUNT):
        needed = [node for node in kinds.of(type_)(graph) if re.search(NEEDED_BY_JOB, node.urn)]
        assert needed, type_
        assert [node.name for node in needed if node.urn not in graph.before(job)] == []


def test_the_job_is_let_out_before_it_starts(record: Record) -> None:
    graph = copied(record)
    policies = [node for node in kinds.of(kinds.NETWORK_POLICY)(graph) if kinds.metadata(node, "name") == "llama-copy"]
    (policy,) = policies
    assert policy.urn in graph.before(job_of(graph))
    selected = cast("dict[str, Any]", kinds.spec(policy)["podSelector"])["matchLabels"]
    assert selected == pod(graph)["metadata"]["labels"]


def test_only_the_job_gets_the_token(record: Record) -> None:
    graph = copied(record)
    names = [node.name for node in graph.nodes.values() if naming.TOKEN_SECRET in json.dumps(node.inputs, default=str)]
    assert sorted(names) == ["llama-weights-job", "models-hugging-face-token"]


def test_the_server_reads_the_folder_that_the_job_writes(record: Record) -> None:
    graph = copied(record)
    (service,) = kinds.of(kinds.SERVICE)(graph)
    assert cast("dict[str, Any]", kinds.spec(service)["model"])["uri"] == f"gs://my-weights/{FOLDER}"
    assert kinds.spec(service)["storageInitializer"] == {"enabled": False}
    (config,) = kinds.of(kinds.CONFIG)(graph)
    server = cast("dict[str, Any]", kinds.spec(config)["template"])["volumes"]
    read, written = (
        next(volume["csi"] for volume in volumes if volume["name"] == "weights")
        for volumes in (server, pod(graph)["spec"]["volumes"])
    )
    for mount in (read, written):
        assert mount["volumeAttributes"]["bucketName"] == "my-weights"
        assert f"only-dir={FOLDER}" in mount["volumeAttributes"]["mountOptions"].split(",")
    assert (read["readOnly"], written["readOnly"]) == (True, False)
    assert "file-cache:enable-parallel-downloads:true" in read["volumeAttributes"]["mountOptions"]


def test_the_job_alone_writes_and_only_into_its_folder(record: Record) -> None:
    graph = copied(record)
    members = kinds.of(BUCKET_MEMBER)(graph)
    account = pod(graph)["spec"]["serviceAccountName"]
    roles = {
        (str(node.inputs["member"]).rpartition("/")[2], str(node.inputs["role"]).rpartition(".")[2]) for node in members
    }
    assert roles == {("llmd-eu4a-llama", "objectViewer"), (account, "objectViewer"), (account, "objectUser")}
    (write,) = (node for node in members if node.inputs["role"] == "roles/storage.objectUser")
    condition = cast("dict[str, str]", write.inputs["condition"])
    assert condition["expression"] == f'resource.name.startsWith("projects/_/buckets/my-weights/objects/{FOLDER}/")'
    assert account in {kinds.metadata(node, "name") for node in kinds.of(SERVICE_ACCOUNT)(graph)}


def test_another_revision_is_another_job_and_folder(record: Record) -> None:
    main, fixed = copied(record), copied(record, uri=f"{LLAMA}:0a1b2c3")
    assert kinds.metadata(job_of(main), "name") != kinds.metadata(job_of(fixed), "name")
    (service,) = kinds.of(kinds.SERVICE)(fixed)
    assert cast("dict[str, str]", kinds.spec(service)["model"])["uri"].endswith("/Llama-3.1-8B-Instruct/0a1b2c3")


def test_stopping_a_model_keeps_its_job(record: Record) -> None:
    assert job_of(copied(record, stopped=True)).inputs == job_of(copied(record)).inputs


def test_the_pod_is_allowed_where_pods_are_restricted(record: Record) -> None:
    spec = pod(copied(record))["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    (container,) = spec["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_by_names_the_job_reaches_hugging_face_and_the_server_does_not(record: Record) -> None:
    graph = copied(record)
    reach = {str(kinds.metadata(node, "name")): json.dumps(kinds.spec(node)) for node in kinds.of(FQDN)(graph)}
    assert "huggingface.co" in reach["llama-copy-downloads"]
    assert "storage.googleapis.com" in reach["llama-copy-downloads"]
    assert "huggingface.co" not in reach["llama-downloads"]
