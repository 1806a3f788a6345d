"""DNS records. The existence of zones is not checked: they are older than the stack."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.providers.google.resource_type import ResourceType, TargetResource
from localcloud.providers.protocol.rules import Failure

RECORD_SET = "gcp:dns/recordSet:RecordSet"


def _check(target: TargetResource) -> Iterator[Failure]:
    name = target.text("name")
    if name and not name.endswith("."):
        # upstream validateRecordNameTrailingDot
        yield Failure("name", f"Invalid \"name\": missing final period: {name!r}; should end with a '.'")


KINDS: dict[str, ResourceType] = {
    RECORD_SET: ResourceType(
        id="projects/{project}/managedZones/{managedZone}/rrsets/{name}/{type}",
        title="RecordSet",
        source="dns/resource_dns_record_set.go",
        api="dns.googleapis.com",
        autoname=None,
        check=_check,
    ),
}
