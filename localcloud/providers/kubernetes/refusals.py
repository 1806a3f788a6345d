"""Refusals with the texts of ``pulumi-resource-kubernetes`` (``provider/pkg/provider/provider.go``)."""

from __future__ import annotations

from localcloud.providers.kubernetes.objects import KubernetesType
from localcloud.providers.protocol.rules import ProviderRefusal, ResourceSubject

REMOVE_FROM_STATE = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)


def unnamed(subject: ResourceSubject) -> ProviderRefusal:
    """An object without a name, for which the real provider would make one up. The program names all of its objects."""
    return ProviderRefusal(f'the stand-in makes up no names: give resource "{subject.urn}" one')


def no_such_kind(subject: ResourceSubject, kind: KubernetesType) -> ProviderRefusal:
    """A kind whose CRD is not installed."""
    return ProviderRefusal(
        f'creation of resource "{subject.urn}" with kind {kind.key} failed because the Kubernetes API server reported '
        "that the apiVersion for this resource does not exist. Verify that any required CRDs have been created: no "
        f'matches for kind "{kind.kind}" in version "{kind.api_version}"'
    )


def not_created(subject: ResourceSubject, why: str) -> ProviderRefusal:
    """An object that the API server rejects, with the server's reason."""
    return ProviderRefusal(f'resource "{subject.urn}" was not successfully created by the Kubernetes API server: {why}')


def not_updated(subject: ResourceSubject) -> ProviderRefusal:
    """The refusal of an update of a deleted object."""
    return ProviderRefusal(f'resource "{subject.urn}" was not successfully updated: "{subject.id}" not found')


def unreachable_to_read() -> ProviderRefusal:
    """A refresh without a cluster."""
    return ProviderRefusal(f"failed to read resource state due to unreachable cluster. {REMOVE_FROM_STATE}")


def unreachable_to_uninstall(error: ProviderRefusal) -> ProviderRefusal:
    """The deletion of a release without a cluster."""
    return ProviderRefusal(f"can't delete Helm Release with unreachable cluster. Reason: {str(error)!r}")


def unreachable_to_delete() -> ProviderRefusal:
    """The deletion of an object without a cluster."""
    return ProviderRefusal(f"configured Kubernetes cluster is unreachable. {REMOVE_FROM_STATE}")
