"""DNS records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

RECORD_SET = "gcp:dns/recordSet:RecordSet"
RECORD = {"managedZone": "example-com", "name": "llm.example.com.", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.9"]}


def test_a_record_of_the_same_name_and_type_is_not_adopted(google: Standin):
    google.create(RECORD_SET, RECORD)
    with pytest.raises(Exception, match="already exists"):
        google.create(RECORD_SET, RECORD, name="again")


def test_a_name_without_its_last_dot_is_refused(google: Standin):
    with pytest.raises(Exception, match="missing final period"):
        google.check(RECORD_SET, {**RECORD, "name": "llm.example.com"})
