"""Where the token of a PodMonitoring lies; ``real_kubernetes/test_monitoring.py`` shows who is scraped."""

from __future__ import annotations

import json
from pathlib import Path

from localcloud.monitoring.files import PrometheusFiles
from localcloud.monitoring.targets import ScrapeEndpoint, ScrapeTarget, SecretKey, Where

TOKEN = SecretKey("models", "reader", "token")
PICKERS = ScrapeEndpoint(
    job="PodMonitoring/models/pickers/9090",
    path="/metrics",
    scheme="http",
    interval="1m",
    timeout="10s",
    targets=(ScrapeTarget("10.0.0.1:8000", {"pod": "a", "job": "servers"}),),
    token=TOKEN,
)


def test_the_token_is_in_a_file_of_the_owners_and_nowhere_else(tmp_path: Path) -> None:
    files = PrometheusFiles(tmp_path / "monitoring", faster=30)
    files.prepare()
    files.write([PICKERS], {}, {TOKEN: "abc.def"}, Where("demo", "europe-west4", "serving"))
    authorization = json.loads(files.configuration.read_text())["scrape_configs"][0]["authorization"]
    path = Path(authorization["credentials_file"])
    assert (authorization["type"], path.read_text(), path.stat().st_mode & 0o777) == ("Bearer", "abc.def", 0o600)
    others = [one for one in files.root.rglob("*") if one.is_file() and one != path]
    assert others
    assert not [one for one in others if "abc.def" in one.read_text()]
