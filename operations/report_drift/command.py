"""``llmd-gke report-drift``."""

from __future__ import annotations

from typing import Annotated

import typer

from operations.exits import BadInput, SetUpFailed, Unreachable
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

ROLE = "roles/monitoring.metricWriter"


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    differs: Annotated[
        bool | None, typer.Option("--differs/--same", help="What the comparison found.", show_default=False)
    ] = None,
) -> None:
    """Write to Cloud Monitoring whether a stack's resources differ from its state, for the alert ConfigurationDrift.

    The workflow `drift` calls it after `pulumi preview --refresh --expect-no-changes`. It writes one point of the
    custom metric `llmd_gke/drift` (1: something differs, 0: nothing does) with the name of the stack's cluster.
    """
    if differs is None:
        raise BadInput("Neither --differs nor --same is set.\nFix: --differs or --same, as the comparison found")
    with working(f"reporting to Cloud Monitoring for stack {stack}", quiet_seconds=0):
        target = Target.choose(stack, cloud)
        if target.cloud is not Cloud.GOOGLE:
            raise BadInput(
                f"Stack {stack} is in a local cloud ({target.cloud}), which has no Cloud Monitoring.\n"
                "Fix: use a stack on Google Cloud, such as --stack prod"
            )
        _write(target, int(differs))
    summary = "something differs" if differs else "nothing differs"
    show(output, {"stack": stack, "differs": differs}, f"Reported for stack {stack}: {summary}")


def _write(target: Target, value: int) -> None:
    from datetime import UTC, datetime

    from llmd_gke.catalog.metrics import DRIFT_METRIC, DRIFT_RESOURCE
    from operations.doctor.google import ApiOff, Denied, GoogleClient, GoogleRequestError, login

    project = target.settings.project
    series = {
        "metric": {"type": DRIFT_METRIC, "labels": {"cluster": target.settings.cluster.name}},
        "resource": {"type": DRIFT_RESOURCE, "labels": {"project_id": project}},
        "metricKind": "GAUGE",
        "valueType": "INT64",
        "points": [{"interval": {"endTime": datetime.now(UTC).isoformat()}, "value": {"int64Value": str(value)}}],
    }
    try:
        google = GoogleClient(project, login())
        google.ask("monitoring.projects.timeSeries.create", name=f"projects/{project}", body={"timeSeries": [series]})
    except ApiOff:
        raise SetUpFailed(
            f"The API monitoring.googleapis.com is disabled in project {project}.\n"
            f"Fix: gcloud services enable monitoring.googleapis.com --project {project}"
        ) from None
    except Denied as error:
        raise SetUpFailed(
            f"Cloud Monitoring rejects the point: {error}.\nFix: grant the caller {ROLE} in project {project}"
        ) from None
    except GoogleRequestError as error:
        raise Unreachable(f"Cloud Monitoring did not accept the point: {error}.\nFix: run the command again") from None
