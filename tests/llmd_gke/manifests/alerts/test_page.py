"""``docs/alerts.md``."""

from __future__ import annotations

import re

from llmd_gke.manifests.alerts import alerts, page


def test_every_alert_has_the_heading_that_its_runbook_link_names() -> None:
    headings = {heading.lower() for heading in re.findall(r"^## (\w+)$", page.page(), re.M)}
    listed = alerts(page.example())
    assert headings == {alert.runbook.rpartition("#")[2] for alert in listed}
    assert len(listed) == 20
