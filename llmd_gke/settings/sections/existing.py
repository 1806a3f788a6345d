"""What exists before the stack, and belongs to others."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.settings.sections.base import Section, Word
from llmd_gke.settings.sections.formats import IPV4, OBJECT_IN_NAMESPACE

Controller = Annotated[str, Field(pattern=OBJECT_IN_NAMESPACE)]
"""A controller's Deployment, as ``NAMESPACE/NAME``."""


class ControllersSettings(Section):
    """Controllers that the cluster has already, each by its Deployment, ``NAMESPACE/NAME``. The program installs the
    others. What a preview finds in a cluster never decides this: the stack would remove a controller that it has
    installed itself.
    """

    cert_manager: Controller | None = None
    """cert-manager, e.g. ``cert-manager/cert-manager`` (default: the program installs it)."""
    leader_worker_set: Controller | None = None
    """LeaderWorkerSet (default: the program installs it)."""
    kserve: Controller | None = None
    """KServe's controller for LLMInferenceService, with its CRDs and presets (default: the program installs it)."""
    keda: Controller | None = None
    """KEDA's operator (default: the program installs it where a model needs it)."""


class ExistingClusterSettings(Section):
    """A cluster that the program reads and never changes. It adds node pools, and what the models need."""

    name: Word | None = None
    """Name of the cluster (default: ``cluster.name``, which then only begins the names of what the stack creates)."""
    location: Word | None = None
    """Region or zone of the cluster (default: as ``cluster.controlPlane`` says)."""
    project: Word | None = None
    """Project of the cluster (default: the stack's). It cannot be another one: the load balancer, its address and the
    identities of pods are those of the cluster's project."""
    controllers: ControllersSettings = Field(default_factory=ControllersSettings)
    """Controllers that the cluster has already (default: none)."""
    namespaces: tuple[Word, ...] = Field(default=(), strict=False)
    """Namespaces of models that exist already: the program adds to them, without labels or a NetworkPolicy for all pods
    (default: none)."""


class ExistingGatewaySettings(Section):
    """A Gateway that exists already. The program attaches routes to it, and changes nothing about it."""

    name: Word
    """Name of the Gateway."""
    namespace: Word
    """Its namespace."""
    listener: Word
    """Name of the listener for the models' routes; it must admit their namespaces."""
    address: Annotated[str, Field(pattern=IPV4)]
    """Its IPv4 address, which clients use unless ``domain`` is set."""
    https: bool = False
    """Whether the listener serves HTTPS (default: false)."""
