"""The files that Envoy reads, and reads again whenever one is replaced."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection
from pathlib import Path

from localcloud.gke_gateway.envoy.clusters import nowhere
from localcloud.gke_gateway.envoy.common import NOWHERE, from_file, typed
from localcloud.providers.protocol.values import JsonObject, JsonValue


class EnvoyFiles:
    """Envoy's folder: readable by its owner only, since certificates' keys are in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bootstrap = root / "bootstrap.json"
        """Envoy's bootstrap configuration."""
        self.listeners = root / "lds" / "listeners.json"
        """The file with all listeners."""
        self.clusters = root / "cds" / "clusters.json"
        """The file with all clusters."""
        self.endpoints = root / "eds"
        """A folder with the endpoints of each cluster: Envoy takes one resource from such a file."""
        self.certificates = root / "sds"
        """A folder with a file for each certificate and its key."""
        self.access_log = root / "access.log"
        """A line of JSON for each request."""

    def routes(self, name: str) -> Path:
        """The routes of a port."""
        return self.root / "rds" / f"{name}.json"

    def prepare(self) -> None:
        """Makes the folders."""
        for folder in (self.root, self.listeners.parent, self.clusters.parent, self.endpoints, self.certificates):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.routes("any").parent.mkdir(mode=0o700, exist_ok=True)


def write(file: Path, content: JsonValue) -> bool:
    """Replaces a file in one step if its content differs; returns whether it did."""
    text = json.dumps(content, indent=1, sort_keys=True)
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return False
    # Beside the folder that Envoy watches: it would look at every file that appears there.
    handle, temporary = tempfile.mkstemp(dir=file.parent.parent, prefix=f".{file.name}-")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    Path(temporary).replace(file)
    return True


def write_resources(file: Path, resources: Collection[JsonObject]) -> bool:
    """Replaces a file of resources; returns whether that changed anything."""
    return write(file, {"resources": list(resources)})


def write_folder(folder: Path, resources: dict[str, JsonObject]) -> bool:
    """Writes a file for each resource, by name, and removes those of former ones; returns whether anything changed."""
    changed = [write_resources(folder / f"{name}.json", [resource]) for name, resource in resources.items()]
    for file in folder.glob("*.json"):
        if file.stem not in resources:
            file.unlink()
    return any(changed)


def bootstrap(files: EnvoyFiles, admin_port: int) -> JsonObject:
    """Envoy's bootstrap configuration: the paths of the files, and its admin interface on loopback."""
    return {
        "node": {"id": "gateway", "cluster": "gateway"},
        "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": admin_port}}},
        "dynamic_resources": {
            "lds_config": from_file(files.listeners),
            "cds_config": from_file(files.clusters),
        },
        "static_resources": {"clusters": [nowhere(NOWHERE)]},
        "layered_runtime": {"layers": [{"name": "static", "static_layer": {}}]},
        "overload_manager": {
            "refresh_interval": "1s",
            "resource_monitors": [
                {
                    "name": "envoy.resource_monitors.global_downstream_max_connections",
                    "typed_config": typed(
                        "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
                        max_active_downstream_connections=20000,
                    ),
                }
            ],
        },
    }
