"""The example in docs/figures.md: ``python -m operations.cost.example`` (run by ``make docs``).

What ``llmd-gke cost`` prints for a stack whose pool has capacities in order of preference, and a budget per hour.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from operations import cli

STACK = """\
config:
  gcp:project: some-project
  llmd-gke:cluster: {name: example, zone: us-east5-a}
  llmd-gke:pools:
    - name: v6e4
      machineType: ct6e-standard-4t
      topology: 2x2
      maxNodes: 4
      diskGb: 150
      capacity:
        - kind: reservation
          reservation: {name: mine}
          maxNodes: 2
        - kind: on-demand
        - kind: on-demand
          zone: us-east5-b
        - kind: spot
  llmd-gke:budget: {usdPerHour: 50}
  llmd-gke:gateway: {exposure: internal}
  llmd-gke:models:
    - {name: qwen, uri: hf://Qwen/Qwen3-32B, pool: v6e4, replicas: 3, maxModelLen: 4096}
"""
"""The pool is the one of the page."""


def main() -> int:
    """Prints the command's output; returns its exit status."""
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
        Path(folder, "Pulumi.yaml").write_text("name: llmd-gke\nruntime: python\n", encoding="utf-8")
        Path(folder, "Pulumi.example.yaml").write_text(STACK, encoding="utf-8")
        os.environ |= {"LLMD_GKE_ROOT": folder, "COLUMNS": "124"}
        return cli.main(["cost", "--stack", "example"])


if __name__ == "__main__":
    sys.exit(main())
