"""DNS records. The existence of zones is not checked: they are older than the stack."""

from __future__ import annotations

RECORD_SET = "gcp:dns/recordSet:RecordSet"
