"""The launch specification of a container: image, command, environment, volumes, and the files of /etc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_common.kubernetes.fields import Object, each, part, text, texts
from localcloud.nodes import environment
from localcloud.nodes.environment import Sources
from localcloud.nodes.images import HOSTS_FILES, ImageTable
from localcloud.nodes.runtime import Launch, Mount
from localcloud.nodes.timings import Timings
from localcloud.nodes.volumes import Volumes
from localcloud.service_network import dns_records

CLUSTER_DOMAIN = "cluster.local"
DNS_SERVICE = ("kube-system", "kube-dns")


@dataclass(frozen=True)
class LaunchBuilder:
    """Builds the launches of one node's containers. ``simulator_arguments``: arguments for every model server."""

    table: ImageTable
    sources: Sources
    timings: Timings
    simulator_arguments: str = ""

    def launch(
        self,
        pod: Object,
        container: Object,
        volumes: Volumes,
        *,
        address: str,
        message_file: Path,
        allocatable: Mapping[str, str],
    ) -> Launch:
        """What a container runs and sees. ``message_file`` receives the termination message.

        Raises ``MissingObject``, ``NoImage``, ``NotImitated`` or ``ValueError``.
        """
        image = self.table.find(str(container["image"]))
        seen, links = self.table.sees(image)
        base = image.variables()
        if image.model_server:
            base["LLMD_GKE_MODEL_START_SECONDS"] = f"{self.timings.model_start_seconds:g}"
            base["LLMD_GKE_SIMULATOR_ARGS"] = self.simulator_arguments
        pod_now = {**pod, "status": {**part(pod, "status"), "podIP": address, "podIPs": [{"ip": address}]}}
        variables = environment.environment(pod_now, container, self.sources, base, allocatable)
        command = [environment.expand(word, variables) for word in texts(container, "command")]
        arguments = [environment.expand(word, variables) for word in texts(container, "args")]
        own = image.command(command, arguments)
        if not own:
            raise ValueError("no command specified")
        message = text(container, "terminationMessagePath") or "/dev/termination-log"
        return Launch(
            command=own,
            environment=variables,
            folder=text(container, "workingDir") or "/",
            image=seen,
            mounts=[*volumes.mounts(container), Mount(str(message_file), message)],
            files={**HOSTS_FILES, **self._etc(pod, address)},
            links=links,
            read_only_root=bool(part(container, "securityContext").get("readOnlyRootFilesystem")),
        )

    def _etc(self, pod: Object, address: str) -> dict[str, str]:
        spec = pod["spec"]
        name = (text(spec, "hostname") or str(pod["metadata"]["name"]))[:63]
        full = (
            f"{name}.{sub}.{pod['metadata']['namespace']}.svc.{CLUSTER_DOMAIN} "
            if (sub := text(spec, "subdomain"))
            else ""
        )
        lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback", f"{address} {full}{name}"]
        lines += [f"{alias['ip']} {' '.join(texts(alias, 'hostnames'))}" for alias in each(spec, "hostAliases")]
        return {
            "/etc/hosts": "\n".join(lines) + "\n",
            "/etc/resolv.conf": self._resolver(str(pod["metadata"]["namespace"])),
        }

    def _resolver(self, namespace: str) -> str:
        domains = (f"{namespace}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)
        dns = self.sources.services.get(DNS_SERVICE[1], DNS_SERVICE[0])
        server = text(dns, "spec", "clusterIP") if dns else dns_records.ADDRESS
        return f"search {' '.join(domains)}\nnameserver {server}\noptions ndots:5 timeout:1 attempts:1\n"
