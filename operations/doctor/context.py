"""Inputs of the checks: the stack's settings, Google's APIs, and other addresses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from llmd_gke.catalog.permissions import GOOGLE
from operations.doctor.google import GoogleClient, MissingResource, login

if TYPE_CHECKING:
    from llmd_gke.settings import StackSettings


@dataclass
class Context:
    """One run of ``doctor``. ``token`` reads the stack's Hugging Face token; it returns ``None`` if there is none.
    ``impersonate``: the service account of ``gcp:impersonateServiceAccount``. ``types``: those of the resources in the
    stack's graph, which determine the permissions that the caller needs.
    """

    stack: str
    settings: StackSettings
    token: Callable[[], str | None] = lambda: None
    impersonate: str | None = None
    types: Collection[str] = tuple(GOOGLE)

    @cached_property
    def google(self) -> GoogleClient:
        """A client of Google's APIs with the caller's credentials, for the stack's project. Raises ``Denied`` without
        credentials.
        """
        return GoogleClient(self.settings.project, login())

    @cached_property
    def up(self) -> bool:
        """Whether the stack's cluster exists: its own use of quotas and names is then not a conflict."""
        cluster = self.settings.cluster
        name = f"projects/{self.settings.project}/locations/{cluster.location}/clusters/{cluster.gke_name}"
        try:
            self.google.ask("container.projects.locations.clusters.get", name=name)
        except MissingResource:
            return False
        return True

    @property
    def network_project(self) -> str:
        """The project that owns the VPC."""
        existing = self.settings.network.existing
        return (existing.host_project if existing else None) or self.settings.project

    @staticmethod
    def registry(host: str) -> str:
        """The base URL of a container registry."""
        return f"https://{'registry-1.docker.io' if host == 'docker.io' else host}"
