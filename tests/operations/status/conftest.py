"""No test of `status` looks for credentials of this machine."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/there/is/no/such/file.json")
