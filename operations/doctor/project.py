"""Credentials, project, billing, APIs, permissions."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_common.kubernetes.fields import each, texts
from llmd_gke.catalog import permissions as catalogue
from operations.doctor.context import Context
from operations.doctor.google import ApiOff, Denied, MissingResource
from operations.doctor.result import Result, failed, ok, warning

LOGIN = "gcloud auth login --update-adc"
"""The command that signs in both halves: gcloud's account, which the kubeconfig's plugin uses, and the application
default credentials, which the Google provider uses."""


def credentials(context: Context) -> Iterator[Result]:
    """Application Default Credentials are available and accepted."""
    try:
        _ = context.google
    except Denied as error:
        yield failed("credentials", f"no usable Application Default Credentials: {error}", LOGIN)
    else:
        yield ok("credentials", "Application Default Credentials are available")


def project(context: Context) -> Iterator[Result]:
    """The project exists, is active, and the caller may read it."""
    name = context.settings.project
    try:
        answer = context.google.ask("cloudresourcemanager.projects.get", name=f"projects/{name}")
    except (MissingResource, Denied):
        # Google also answers 403 for a project that does not exist, so that nobody can find out which exist.
        yield failed(
            "project",
            f"gcp:project {name}: the project does not exist, or the caller may not see it",
            f"gcloud projects list; pulumi config set gcp:project YOUR-PROJECT --stack {context.stack}",
        )
        return
    state = str(answer.get("state"))
    if state == "ACTIVE":
        yield ok("project", f"{name} is active")
    else:
        yield failed("project", f"{name} is {state}", f"gcloud projects undelete {name}, or choose another project")


def billing(context: Context) -> Iterator[Result]:
    """The project has a billing account. The query needs the Cloud Billing API, which the stack itself does not
    need.
    """
    name = context.settings.project
    try:
        answer = context.google.ask("cloudbilling.projects.getBillingInfo", name=f"projects/{name}")
    except (ApiOff, Denied) as error:
        yield warning("billing", f"cannot be seen: {error}", f"gcloud billing projects describe {name}")
        return
    if answer.get("billingEnabled"):
        yield ok("billing", "is on")
    else:
        yield failed(
            "billing", f"{name} has no billing account", f"gcloud billing projects link {name} --billing-account ID"
        )


def services(context: Context) -> Iterator[Result]:
    """Every API that the stack needs is enabled. The program enables them itself, which takes a minute the first
    time.
    """
    name = context.settings.project
    wanted = [f"{api}.googleapis.com" for api in context.settings.apis]
    answer = context.google.ask(
        "serviceusage.services.batchGet",
        parent=f"projects/{name}",
        names=[f"projects/{name}/services/{api}" for api in wanted],
    )
    states = {str(service["name"]).rsplit("/", 1)[-1]: service.get("state") for service in each(answer, "services")}
    off = [api for api in wanted if states.get(api) != "ENABLED"]
    fix = f"gcloud services enable {' '.join(off)} --project {name}"
    if not off:
        yield ok("APIs", f"all {len(wanted)} are enabled")
    elif "compute.googleapis.com" in off or "container.googleapis.com" in off:
        # Without these the other checks cannot run.
        yield failed("APIs", f"disabled: {', '.join(off)}", fix)
    else:
        yield warning("APIs", f"disabled: {', '.join(off)}; `pulumi up` enables them", fix)


AT_ONCE = 100
"""Maximum number of permissions in one request (``testIamPermissions``)."""


def permissions(context: Context) -> Iterator[Result]:
    """The caller has the permissions for ``pulumi up`` and ``pulumi destroy``, in the project and in the Shared VPC's
    host project.

    The types of the resources in the stack's graph determine these permissions.
    """
    asked: dict[str, tuple[str, ...]] = {context.settings.project: catalogue.needed(context.types)}
    if context.settings.network.existing is not None:
        more = {*asked.get(context.network_project, ()), *catalogue.SHARED_NETWORK}
        asked[context.network_project] = tuple(sorted(more))
    for name, wanted in asked.items():
        granted = _granted(context, name, wanted)
        lacking = [permission for permission in wanted if permission not in granted]
        if lacking:
            yield failed(
                "permissions",
                f"the caller lacks permissions in {name}: {', '.join(lacking)}",
                "ask an owner of the project for roles/container.admin, roles/compute.networkAdmin, "
                "roles/iam.serviceAccountAdmin, roles/iam.serviceAccountUser, roles/monitoring.editor, "
                "roles/resourcemanager.projectIamAdmin and roles/serviceusage.serviceUsageAdmin, or a role with these "
                "permissions",
            )
        else:
            yield ok("permissions", f"all {len(wanted)} permissions that up and destroy need in {name} are granted")


def _granted(context: Context, name: str, wanted: tuple[str, ...]) -> set[str]:
    granted: set[str] = set()
    for first in range(0, len(wanted), AT_ONCE):
        answer = context.google.ask(
            "cloudresourcemanager.projects.testIamPermissions",
            resource=f"projects/{name}",
            body={"permissions": list(wanted[first : first + AT_ONCE])},
        )
        granted |= {*texts(answer, "permissions")}
    return granted
