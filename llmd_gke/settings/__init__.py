"""Typed stack configuration."""

from typing import TYPE_CHECKING

from llmd_gke.settings.errors import SettingsError
from llmd_gke.settings.parse import Checked, parse
from llmd_gke.settings.sections import (
    AcceleratorPool,
    AccessSettings,
    CallerSettings,
    ChannelSettings,
    ClusterSettings,
    EgressSettings,
    FrontDoorSettings,
    GatewaySettings,
    IapSettings,
    ImageCacheSettings,
    MaintenanceSettings,
    ModelSettings,
    MonitoringSettings,
    NetworkSettings,
    ObjectivesSettings,
    PlatformSettings,
    PluginSettings,
    SaturationSettings,
    ScalingSettings,
    SchedulerSettings,
    StackSettings,
    StorageSettings,
    TlsSettings,
    TokenIssuerSettings,
    TpuPoolSettings,
    TracesSettings,
    VariableSettings,
)
from llmd_gke.settings.stack_secrets import required_secrets

if TYPE_CHECKING:
    from llmd_gke.settings.load import load_stack

__all__ = [
    "AcceleratorPool",
    "AccessSettings",
    "CallerSettings",
    "ChannelSettings",
    "Checked",
    "ClusterSettings",
    "EgressSettings",
    "FrontDoorSettings",
    "GatewaySettings",
    "IapSettings",
    "ImageCacheSettings",
    "MaintenanceSettings",
    "ModelSettings",
    "MonitoringSettings",
    "NetworkSettings",
    "ObjectivesSettings",
    "PlatformSettings",
    "PluginSettings",
    "SaturationSettings",
    "ScalingSettings",
    "SchedulerSettings",
    "SettingsError",
    "StackSettings",
    "StorageSettings",
    "TlsSettings",
    "TokenIssuerSettings",
    "TpuPoolSettings",
    "TracesSettings",
    "VariableSettings",
    "load_stack",
    "parse",
    "required_secrets",
]


def __getattr__(name: str) -> object:
    # Only tools read stack files themselves; the program gets its configuration from the engine and must not pay
    # for a YAML parser in every preview.
    if name == "load_stack":
        from llmd_gke.settings.load import load_stack

        return load_stack
    raise AttributeError(name)
