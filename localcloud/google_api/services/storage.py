"""Cloud Storage: buckets and who may read them. Objects are not kept: every bucket is empty."""

from __future__ import annotations

from localcloud.google_api.core.cloud import PROJECT_NUMBER
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services import policies
from localcloud.providers.protocol.values import JsonObject, merge, number, text

BUCKET = "gcp:storage/bucket:Bucket"
WEEK = "604800"
"""Seconds for which deleted objects are kept where a bucket says nothing."""


@answers("storage.buckets.get")
def _bucket(request: Request) -> JsonObject:
    name = request.at["bucket"]
    record = request.cloud.resources.get(f"b/{name}")
    if record is None and name in request.cloud.faults.conditions.listed("existingBuckets"):
        return _made({"name": name})
    if record is None:
        raise ApiError(404, "The specified bucket does not exist.")
    expected = request.query.get("ifMetagenerationMatch")
    if expected and expected != text(record, "metageneration"):
        raise ApiError(412, "At least one of the pre-conditions you specified did not hold.")
    return record


def _made(body: JsonObject) -> JsonObject:
    name, location = text(body, "name"), text(body, "location") or "US"
    policy: JsonObject = {"retentionDurationSeconds": WEEK, "effectiveTime": "2026-01-01T00:00:00.000Z"}
    added: JsonObject = {
        "kind": "storage#bucket",
        "id": name,
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
        "projectNumber": PROJECT_NUMBER,
        "storageClass": "STANDARD",
        "timeCreated": "2026-01-01T00:00:00.000Z",
        "updated": "2026-01-01T00:00:00.000Z",
        "locationType": "region" if location.count("-") == 1 else "multi-region",
        "metageneration": "1",
        "softDeletePolicy": policy,
        "rpo": "DEFAULT",
        "etag": "CAE=",
    }
    return merge(added, body) | {"location": location.upper()}


@answers("storage.buckets.insert")
def insert(request: Request) -> JsonObject:
    """Makes a bucket. Names are global."""
    cloud, name = request.cloud, text(request.body, "name")
    if f"b/{name}" in cloud.resources or name in cloud.faults.conditions.listed("existingBuckets"):
        raise ApiError(
            409, "The requested bucket name is not available. The bucket namespace is shared by all users.", "conflict"
        )
    cloud.resources[f"b/{name}"] = made = _made(request.body)
    cloud.keep(BUCKET, name, {"name": name, "location": text(made, "location")})
    return made


@answers("storage.buckets.patch", "storage.buckets.update")
def patch(request: Request) -> JsonObject:
    """Changes a bucket; ``null`` removes a property."""
    record = _bucket(request)
    changed: JsonObject = {key: value for key, value in merge(record, request.body).items() if value is not None}
    changed |= {"metageneration": str((number(record, "metageneration") or 1) + 1), "etag": request.cloud.etag()}
    request.cloud.resources[f"b/{request.at['bucket']}"] = changed
    return changed


@answers("storage.buckets.delete")
def delete(request: Request) -> JsonObject:
    """Deletes a bucket."""
    _bucket(request)
    name = request.at["bucket"]
    request.cloud.resources.pop(f"b/{name}", None)
    request.cloud.policies.pop(f"b/{name}", None)
    with request.cloud.state() as cloud_state:
        cloud_state.drop(BUCKET, name)
    return {}


@answers("storage.buckets.getIamPolicy")
def get_policy(request: Request) -> JsonObject:
    """Returns the IAM policy of a bucket."""
    _bucket(request)
    return {"kind": "storage#policy"} | policies.read(request.cloud, f"b/{request.at['bucket']}")


@answers("storage.buckets.setIamPolicy")
def set_policy(request: Request) -> JsonObject:
    """Replaces the IAM policy of a bucket."""
    _bucket(request)
    return {"kind": "storage#policy"} | policies.write(request.cloud, f"b/{request.at['bucket']}", request.body, "")


@answers("storage.objects.list", "storage.managedFolders.list")
def contents(request: Request) -> JsonObject:
    """Lists no objects and no folders: none are kept."""
    _bucket(request)
    return {"kind": f"storage#{request.method.id.split('.')[1]}"}
