"""A model whose weights a Job copies, in the whole stack: order, mount, and which pods have the token.

The image's stand-in downloads nothing here; ``test_pods_weights`` runs KServe's own.
"""

from __future__ import annotations

import json
from typing import Any

from llmd_gke.manifests import naming, weights, weights_copy
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.harness import Laptop

BUCKET = "weights-of-the-test"
FOLDER = "Qwen/Qwen2.5-0.5B-Instruct/main"


def copied(config: dict[str, Any]) -> None:
    """A second model, gated, whose weights are copied."""
    models.add_second(config)
    config["llmd-gke:models"][1].update(gated=True, weightsCache=f"gs://{BUCKET}")
    config["llmd-gke:storage"] = {"buckets": [BUCKET]}


def test_the_server_starts_after_the_job_and_only_the_jobs_pod_has_the_token(laptop: Laptop) -> None:
    with models.changed(laptop):
        laptop.pulumi("config", "set", "--stack", "local", "--secret", "llmd-gke:hfToken", "hf_of_a_test")
        laptop.edit("local", copied)
        laptop.up()
        (server,) = models.ready_servers(laptop, 1, "small")

        (job,) = objects.every(laptop, "jobs.batch", namespace=objects.MODELS)
        assert job["status"]["succeeded"] == 1
        assert job["status"]["completionTime"] <= server["metadata"]["creationTimestamp"]

        pods = objects.every(laptop, "pods", namespace=objects.MODELS)
        with_token = [pod for pod in pods if naming.TOKEN_SECRET in json.dumps(pod["spec"])]
        owners = {owner["uid"] for pod in with_token for owner in pod["metadata"]["ownerReferences"]}
        assert owners == {job["metadata"]["uid"]}
        others = objects.names(pods) - objects.names(with_token)
        assert objects.names([server]) < others, "the endpoint pickers and the first model's servers are there, too"

        (volume,) = [one for one in server["spec"]["volumes"] if one["name"] == "weights"]
        assert volume["csi"]["readOnly"] is True
        attributes = volume["csi"]["volumeAttributes"]
        assert attributes["bucketName"] == BUCKET
        assert f"only-dir={FOLDER}" in attributes["mountOptions"].split(",")
        (mount,) = [one for one in server["spec"]["containers"][0]["volumeMounts"] if one["name"] == "weights"]
        assert mount["mountPath"] == weights.MODEL_PATH
        marker = laptop.layout.root / "volumes" / "buckets" / BUCKET / FOLDER / weights_copy.MARKER
        assert marker.read_text() == "hf://Qwen/Qwen2.5-0.5B-Instruct\n"
