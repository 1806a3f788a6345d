"""The configuration of each Gateway: the last translation that was accepted, kept across restarts, written for Envoy.

While a Gateway is rejected, its configuration stays unchanged; endpoints still follow the pods, since another of GKE's
controllers maintains the endpoint groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from llmd_common.kubernetes.fields import Key
from localcloud.gke_gateway.envoy.clusters import load_assignment
from localcloud.gke_gateway.envoy.files import EnvoyFiles, write, write_folder, write_resources
from localcloud.gke_gateway.resources.endpoints import EndpointSource, PodEndpoint, endpoints
from localcloud.gke_gateway.resources.objects import ClusterSnapshot
from localcloud.gke_gateway.translate import GatewayProgram
from localcloud.providers.protocol.values import JsonObject


@dataclass(frozen=True)
class Store:
    """Programs as files of a folder, one for each Gateway. Of certificates there are only the names: what Envoy reads
    stays in its folder alone.
    """

    folder: Path

    def load(self) -> dict[Key, GatewayProgram]:
        """Every program, by namespace and name of its Gateway."""
        return {_key(file): _read(file) for file in sorted(self.folder.glob("*/*.json"))}

    def save(self, gateway: Key, program: GatewayProgram) -> None:
        """Keeps a program in place of the former one."""
        file = self._file(gateway)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(file, {**asdict(program), "secrets": {name: {} for name in program.secrets}})

    def drop(self, gateway: Key) -> None:
        """Removes the program of a deleted Gateway."""
        self._file(gateway).unlink(missing_ok=True)

    def _file(self, gateway: Key) -> Path:
        return self.folder / gateway[0] / f"{gateway[1]}.json"


def _key(file: Path) -> Key:
    return file.parent.name, file.stem


def _read(file: Path) -> GatewayProgram:
    content = json.loads(file.read_text(encoding="utf-8"))
    content["sources"] = {name: EndpointSource(**source) for name, source in content["sources"].items()}
    return GatewayProgram(**content)


def write_programs(programs: Mapping[Key, GatewayProgram], snapshot: ClusterSnapshot, files: EnvoyFiles) -> bool:
    """Writes Envoy's files for all Gateways; returns whether anything changed.

    The order avoids dangling references: endpoints, certificates and clusters before routes and listeners that use
    them (https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations).
    """
    files.prepare()
    every = _merged(programs)
    assignments = {name: _assignment(name, source, snapshot) for name, source in every.sources.items()}
    changed = [
        write_folder(files.endpoints, assignments),
        _write_secrets(every, files),
        write_resources(files.clusters, every.clusters.values()),
    ]
    changed += [write_resources(files.routes(name), [routes]) for name, routes in every.routes.items()]
    changed.append(write_resources(files.listeners, every.listeners.values()))
    for file in files.routes("any").parent.glob("*.json"):
        if file.stem not in every.routes:
            file.unlink()
    return any(changed)


def drained_endpoints(programs: Mapping[Key, GatewayProgram], snapshot: ClusterSnapshot) -> Mapping[PodEndpoint, int]:
    """The endpoints of backends that a policy drains, each with the seconds of that."""
    sources = [source for source in _merged(programs).sources.values() if source.drain_seconds]
    return {endpoint: source.drain_seconds for source in sources for endpoint in endpoints(source, snapshot)}


def _merged(programs: Mapping[Key, GatewayProgram]) -> GatewayProgram:
    merged = GatewayProgram()
    for program in programs.values():
        merged.listeners.update(program.listeners)
        merged.routes.update(program.routes)
        merged.clusters.update(program.clusters)
        for name, secret in program.secrets.items():
            # One that was read back is empty, and must not stand in for the certificate itself.
            merged.secrets[name] = secret or merged.secrets.get(name, {})
        merged.sources.update(program.sources)
    return merged


def _assignment(cluster: str, source: EndpointSource, snapshot: ClusterSnapshot) -> JsonObject:
    return load_assignment(cluster, endpoints(source, snapshot), source.health_port)


def _write_secrets(program: GatewayProgram, files: EnvoyFiles) -> bool:
    changed = [
        write_resources(files.certificates / f"{name}.json", [secret])
        for name, secret in program.secrets.items()
        if secret
    ]
    for file in files.certificates.glob("*.json"):
        if file.stem not in program.secrets:
            file.unlink()
    return any(changed)
