"""Questions to the Prometheus of a laptop cloud, and to the daemon that tells it whom to scrape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from localcloud.monitoring.prometheus import URL
from localcloud.tests.real_kubernetes.harness import Laptop, until

FASTER = 30
"""What every interval, wait and range is divided by in tests."""

_ASK = """
import sys, httpx
answers = []
with httpx.Client(trust_env=False, base_url=sys.argv[1], timeout=30) as client:
    for expression in sys.argv[3:]:
        answers.append(client.get(sys.argv[2], params={"query": expression} if expression else None).text)
print("[" + ",".join(answers) + "]")
"""

Sample = dict[str, Any]
"""A series of an answer: ``metric`` (labels) and ``value`` (time, text)."""


@dataclass(frozen=True)
class Prometheus:
    """That of one laptop cloud."""

    laptop: Laptop

    def _get(self, path: str, *expressions: str) -> list[dict[str, Any]]:
        return json.loads(self.laptop.python(_ASK, URL, path, *(expressions or ("",))).stdout)

    def samples(self, *expressions: str) -> list[list[Sample]]:
        """The series of each expression now. Fails the test where one cannot be evaluated."""
        answers = self._get("/api/v1/query", *expressions)
        for expression, answer in zip(expressions, answers, strict=True):
            assert answer["status"] == "success", f"{expression}: {answer.get('error')}"
        return [answer["data"]["result"] for answer in answers]

    def labels(self, expression: str, *names: str) -> list[tuple[str, ...]]:
        """Those labels of every series of an expression, sorted."""
        return sorted(tuple(one["metric"].get(name, "") for name in names) for one in self.samples(expression)[0])

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        return {name for (name,) in self.labels('ALERTS{alertstate="firing"}', "alertname")}

    def rules(self) -> list[dict[str, Any]]:
        """Every rule that is loaded."""
        (answer,) = self._get("/api/v1/rules")
        return [rule for group in answer["data"]["groups"] for rule in group["rules"]]

    def errors(self, job: str) -> set[str]:
        """What the last scrapes of a job failed of."""
        (answer,) = self._get("/api/v1/targets")
        return {one["lastError"] for one in answer["data"]["activeTargets"] if one["labels"]["job"] == job} - {""}

    def refused(self, monitoring: str) -> set[str]:
        """Why targets of a PodMonitoring are not scraped; empty for one that is."""
        file = self.laptop.layout.root / "monitoring" / "targets.json"
        selected = [one for one in json.loads(file.read_text()) if f"/{monitoring}/" in one["job"]]
        return {target["refused"] for one in selected for target in one["targets"]}

    def load_rules(self, *rules: dict[str, Any]) -> None:
        """Replaces what is evaluated, and waits until it is."""
        content = {"groups": [{"name": "tests", "interval": "1s", "rules": list(rules)}]}
        file = self.laptop.layout.root / "monitoring" / "rules" / "rules.json"
        file.write_text(json.dumps(content))
        until(lambda: len(self.rules()) == len(rules) or None, f"{len(rules)} rules", 60)
