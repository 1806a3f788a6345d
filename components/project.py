"""Prerequisites in the project: APIs and the identity of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
from pulumi_gcp import projects, serviceaccount

from components.fresh_apis import patient
from llmd_gke.catalog.deployer import NODE_ROLES
from llmd_gke.settings import StackSettings


@dataclass(frozen=True, kw_only=True)
class ProjectArgs:
    """``project`` is the project ID, ``apis`` the Google APIs to enable (without ``.googleapis.com``), ``prefix`` the
    prefix of the node identity's name: the cluster's name.
    """

    project: str
    apis: Sequence[str]
    prefix: str

    @classmethod
    def of(cls, settings: StackSettings) -> Self:
        """Those of a stack."""
        return cls(project=settings.project, apis=settings.apis, prefix=settings.cluster.name)


class Project(pulumi.ComponentResource):
    """``llmd-gke:project:Project``: enabled APIs and the identity that nodes run as.

    Creates one ``projects.Service`` for each of ``apis`` (which stay enabled after a destroy, because others may use
    them), a service account and a project role binding for each of ``NODE_ROLES``. Outputs: ``node_service_account``
    (e-mail).
    """

    node_service_account: pulumi.Output[str]

    def __init__(self, name: str, args: ProjectArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:project:Project", name, None, opts)
        apis = [
            projects.Service(
                f"{name}-{api}",
                service=f"{api}.googleapis.com",
                disable_on_destroy=False,
                # The provider reads the project through the Resource Manager API after it has enabled another API.
                opts=pulumi.ResourceOptions(parent=self, hooks=patient(f"{name}-{api}")),
            )
            for api in args.apis
        ]
        account = serviceaccount.Account(
            f"{name}-nodes",
            account_id=f"{args.prefix}-nodes",
            display_name=f"Nodes of GKE cluster {args.prefix}",
            opts=pulumi.ResourceOptions(parent=self, depends_on=apis, hooks=patient(f"{name}-nodes")),
        )
        roles = {f"{name}-nodes-{role.rsplit('.', 1)[-1].rsplit('/', 1)[-1]}": role for role in NODE_ROLES}
        bindings = [
            projects.IAMMember(
                binding,
                project=args.project,
                role=role,
                member=account.member,
                opts=pulumi.ResourceOptions(parent=self, hooks=patient(binding)),
            )
            for binding, role in roles.items()
        ]
        # Nodes that start before the roles are granted cannot pull images: everything that uses the e-mail address
        # waits for the bindings. By URN, which previews know: a new binding has no id there, and an unknown e-mail
        # address would replace every node pool of a running stack.
        self.node_service_account = pulumi.Output.all(account.email, *[binding.urn for binding in bindings]).apply(
            lambda values: str(values[0])
        )
        self.register_outputs({"nodeServiceAccount": self.node_service_account})
