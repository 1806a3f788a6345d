"""``llmd-gke alerts``."""

from __future__ import annotations

from typing import Annotated

import typer

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    faster: Annotated[
        float, typer.Option(min=1, max=1000, help="Divide every wait and range by this factor, for trials.")
    ] = 1,
) -> None:
    """Print the alerts of a stack as a Prometheus rules file, generated from the settings: the stack need not be up.

    `--output json` prints the policies that `pulumi up` creates in Cloud Monitoring, in the format of its API v3.
    """
    with working(f"reading the settings of stack {stack}", quiet_seconds=0):
        from llmd_gke.manifests.alerts import alert_policy, alerts
        from llmd_gke.manifests.alerts.policy import EVALUATION_SECONDS
        from llmd_gke.manifests.alerts.rules_file import rules_yaml

        settings = Target.choose(stack, cloud).settings
        stack_alerts = [alert.faster(faster) if faster > 1 else alert for alert in alerts(settings)]
    interval = max(1, round(EVALUATION_SECONDS / faster))
    policies = [alert_policy(alert, settings) for alert in stack_alerts]
    show(output, {"stack": stack, "policies": policies}, rules_yaml(stack_alerts, interval).rstrip("\n"))
