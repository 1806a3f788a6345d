"""``llmd-gke audit``: the command of the pack's wheel, :mod:`policies.audit`, with the options of the others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class AuditOutput(StrEnum):
    """The format of an audit: a table for people, or SARIF for code scanning."""

    TABLE = "table"
    SARIF = "sarif"


def command(
    source: Annotated[list[str], typer.Argument(help="Sources, which are judged together, as one program.")],
    stack: Annotated[
        str, typer.Option("--stack", "-s", help="Name by which rules for production know production (prod*).")
    ] = "",
    output: Annotated[AuditOutput, typer.Option("--output", "-o", help="table, or sarif.")] = AuditOutput.TABLE,
    config: Annotated[
        Path | None, typer.Option(help="Levels and parameters of rules, as for --policy-pack-config.")
    ] = None,
) -> None:
    """Apply the policies to what runs already or another tool creates; no stack file and no engine is needed.

    A source is a file or folder of manifests (`-`: standard input), the folder of a chart (needs helm) or of a
    kustomization (kubectl), a context of the kubeconfig (kubectl; permissions get and list; Secrets are never read), or
    a plan in JSON: `terraform show -json`, `pulumi preview --json`.
    """
    from policies.audit.cli import print_audit

    if status := print_audit(source, stack, config, output):
        raise typer.Exit(status)
