"""The command ``llmd-gke-audit``, which the pack's wheel installs; ``llmd-gke audit`` is the same."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from llmd_common.problems import Problem
from policies.audit.judge import audit
from policies.audit.output import as_sarif, table

ABOUT = (
    "Apply the policies to what runs already or another tool creates; no stack file and no engine is needed. A source "
    "is a file or folder of manifests (- for standard input), the folder of a chart (needs helm) or of a kustomization "
    "(kubectl), a context of the kubeconfig (kubectl; permissions get and list; Secrets are never read), or a plan in "
    "JSON: terraform show -json, pulumi preview --json."
)


def print_audit(sources: Sequence[str], stack: str, config: Path | None, output: str) -> int:
    """Prints the audit of sources and returns the exit status: 1 if an object breaks a mandatory rule, otherwise that
    of what could not be read. Raises ``Problem``.
    """
    report = audit(sources, stack, config)
    print(table(report) if output == "table" else json.dumps(as_sarif(report), indent=2, ensure_ascii=False))
    return 1 if report.refused else report.status


def main(arguments: Sequence[str] | None = None, program: str = "llmd-gke-audit") -> int:
    """Runs the command, by default with the arguments of the process, and returns its exit status."""
    parser = argparse.ArgumentParser(program, description=ABOUT)
    parser.add_argument("source", nargs="+", help="several sources are judged together, as one program")
    parser.add_argument("--output", "-o", choices=("table", "sarif"), default="table")
    parser.add_argument("--stack", "-s", default="", help="name by which rules for production know production (prod*)")
    parser.add_argument("--config", type=Path, help="levels and parameters of rules, as for --policy-pack-config")
    options = parser.parse_args(arguments)
    try:
        return print_audit(options.source, options.stack, options.config, options.output)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
