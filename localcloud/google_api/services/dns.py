"""Cloud DNS: record sets. Zones are taken on trust: they are older than the stack."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.resource_type import digits
from localcloud.providers.protocol.values import JsonObject, JsonValue, objects, text

RECORD_SET = "gcp:dns/recordSet:RecordSet"


def _zone(request: Request) -> str:
    return f"projects/{request.at['project']}/managedZones/{request.at['managedZone']}"


def _key(zone: str, record: JsonObject) -> str:
    return f"{zone}/rrsets/{text(record, 'name')}:{text(record, 'type')}"


@answers("dns.managedZones.get")
def zone(request: Request) -> JsonObject:
    """Returns a zone. Every zone exists."""
    name = request.at["managedZone"]
    return {
        "kind": "dns#managedZone",
        "name": name,
        "id": digits(_zone(request), 19),
        "dnsName": f"{name.replace('-', '.')}.",
        "visibility": "public",
    }


@answers("dns.resourceRecordSets.list")
def list_(request: Request) -> JsonObject:
    """Lists the record sets of a zone, filtered by ``name`` and ``type`` if given."""
    wanted = {key: request.query[key] for key in ("name", "type") if key in request.query}
    records: list[JsonValue] = [
        record
        for record in request.cloud.below(f"{_zone(request)}/rrsets").values()
        if all(text(record, key) == value for key, value in wanted.items())
    ]
    return request.page("rrsets", records, kind="dns#resourceRecordSetsListResponse")


@answers("dns.changes.create")
def change(request: Request) -> JsonObject:
    """Applies deletions and additions, all of them or none."""
    resources, where = request.cloud.resources, _zone(request)
    gone = {_key(where, one): one for one in objects(request.body, "deletions")}
    new = {_key(where, one): one for one in objects(request.body, "additions")}
    for key, record in gone.items():
        if resources.get(key, {}).get("rrdatas") != record.get("rrdatas"):
            name = f"{text(record, 'name')}' type '{text(record, 'type')}"
            raise ApiError(404, f"The 'entity.change.deletions[0]' resource named '{name}' does not exist.")
    for key, record in new.items():
        if key in resources and key not in gone:
            name = f"{text(record, 'name')} ({text(record, 'type')})"
            raise ApiError(409, f"The resource 'entity.change.additions[0]' named '{name}' already exists")
    with request.cloud.state() as cloud_state:
        for key, record in gone.items():
            del resources[key]
            cloud_state.drop(RECORD_SET, _ident(where, record))
        for key, record in new.items():
            resources[key] = {"kind": "dns#resourceRecordSet", **record}
            cloud_state.put(RECORD_SET, _ident(where, record), {"inputs": record, "computed": {}, "status": "RUNNING"})
    return {"kind": "dns#change", **request.body, "id": str(request.cloud.number()), "status": "done"}


def _ident(where: str, record: JsonObject) -> str:
    return f"{where}/rrsets/{text(record, 'name')}/{text(record, 'type')}"


@answers("dns.changes.get")
def state(request: Request) -> JsonObject:
    """Returns a change, which is always done."""
    return {"kind": "dns#change", "id": request.at["changeId"], "status": "done"}
