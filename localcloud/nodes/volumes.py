"""Volumes of a pod as folders, and their mounts in its containers.

Secrets, ConfigMaps, tokens and ``medium: Memory`` lie in memory only; the rest in the pod's folder. A claim and a
bucket are folders of the laptop cloud that outlive the pod. Fields:
https://kubernetes.io/docs/concepts/storage/volumes/.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from llmd_common.kubernetes.client import SERVICE_ACCOUNTS, Kube
from llmd_common.kubernetes.fields import Object, each, part, text
from localcloud.nodes import environment, projected
from localcloud.nodes.environment import MissingObject, Sources
from localcloud.nodes.projected import File
from localcloud.nodes.runtime import Mount

FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"
DEFAULT_MODE = 0o644
TOKEN_SECONDS = 3600


class NotImitated(Exception):
    """The laptop cloud does not support that kind of volume."""


class Outside(NotImitated):
    """A path of a volume that leads out of the volume: the machine's own files are there."""


@dataclass
class Token:
    """A token of a service account, bound to the pod, and when to fetch another (seconds since 1970)."""

    value: str
    renew_at: float


@dataclass
class Volumes:
    """The volumes of one pod. ``folder``: on disk; ``memory``: a folder in memory; ``shared``: claims and buckets."""

    pod: Object
    folder: Path
    memory: Path
    shared: Path
    sources: Sources
    kube: Kube
    allocatable: Mapping[str, str] = field(default_factory=dict[str, str])
    _tokens: dict[tuple[str, str], Token] = field(default_factory=dict[tuple[str, str], Token])

    @property
    def namespace(self) -> str:
        """The namespace of the pod."""
        return str(self.pod["metadata"]["namespace"])

    async def write(self) -> None:
        """Creates the volumes, and updates those that contain other objects.

        Raises :class:`MissingObject` if an object does not exist yet, :class:`NotImitated` for unsupported kinds of
        volumes.
        """
        for volume in each(self.pod, "spec", "volumes"):
            if _is_files(volume):
                projected.write(self._folder_of(volume), await self._files(volume))
            else:
                self._folder_of(volume).mkdir(parents=True, exist_ok=True)

    def mounts(self, container: Object) -> list[Mount]:
        """The mounts of a container, outer folders first."""
        volumes = {volume["name"]: volume for volume in each(self.pod, "spec", "volumes")}
        mounts: list[Mount] = []
        for mount in each(container, "volumeMounts"):
            volume = volumes[mount["name"]]
            source = self._folder_of(volume)
            root = source
            below = text(mount, "subPath") or self._expanded(container, text(mount, "subPathExpr"))
            if below:
                source = _inside(root, below, f'volume "{volume["name"]}": subPath')
                if not source.exists():
                    source.mkdir(parents=True)
            read_only = bool(mount.get("readOnly")) or _is_files(volume) or _reads_only(volume)
            mounts.append(Mount(str(source), text(mount, "mountPath").rstrip("/") or "/", read_only))
        mounts.sort(key=lambda one: one.target.count("/"))
        for position, inner in enumerate(mounts):
            # MakeNestedMountpoints (k8s.io/kubernetes pkg/volume/util): what is mounted read-only gets no folder later.
            around = (one for one in reversed(mounts[:position]) if inner.target.startswith(f"{one.target}/"))
            if (outer := next(around, None)) and Path(inner.source).is_dir() and Path(outer.source).is_dir():
                below = inner.target.removeprefix(outer.target)
                _inside(Path(outer.source), below, f'mountPath "{inner.target}":').mkdir(parents=True, exist_ok=True)
        return mounts

    def remove(self) -> None:
        """Removes the volumes that belong only to the pod."""
        shutil.rmtree(self.memory, ignore_errors=True)
        shutil.rmtree(self.folder / "volumes", ignore_errors=True)

    def _expanded(self, container: Object, expression: str) -> str:
        if not expression:
            return ""
        variables = environment.environment(self.pod, container, self.sources, {}, self.allocatable)
        return environment.expand(expression, variables)

    def _folder_of(self, volume: Object) -> Path:
        name = str(volume["name"])
        if _is_files(volume) or text(volume, "emptyDir", "medium") == "Memory":
            return self.memory / name
        if "emptyDir" in volume or "ephemeral" in volume:
            return self.folder / "volumes" / name
        if claim := text(volume, "persistentVolumeClaim", "claimName"):
            folder = f"{self.namespace}_{claim}"
            return _inside(self.shared / "claims", folder, f'volume "{name}": claimName', levels=1)
        if text(volume, "csi", "driver") == FUSE_DRIVER:
            attributes = part(volume, "csi", "volumeAttributes")
            folder = text(attributes, "bucketName")
            bucket = _inside(self.shared / "buckets", folder, f'volume "{name}": bucketName', levels=1)
            options = text(attributes, "mountOptions").split(",")
            only = next((one.partition("=")[2] for one in options if one.startswith("only-dir=")), "")
            return _inside(bucket, only, f'volume "{name}": only-dir') if only else bucket
        kind = next((key for key in volume if key != "name"), "nothing")
        raise NotImitated(f'volume "{name}": {kind} is not imitated in the laptop cloud')

    async def _files(self, volume: Object) -> dict[str, File]:
        for kind, key in (("secret", "secretName"), ("configMap", "name")):
            if kind in volume:
                source = part(volume, kind)
                return self._object(kind, source, str(source[key]), _mode(source))
        if "downwardAPI" in volume:
            source = part(volume, "downwardAPI")
            return self._downward(source, _mode(source))
        files: dict[str, File] = {}
        mode = _mode(part(volume, "projected"))
        for source in each(volume, "projected", "sources"):
            for kind in ("secret", "configMap"):
                if kind in source:
                    files |= self._object(kind, part(source, kind), str(source[kind]["name"]), mode)
            if "downwardAPI" in source:
                files |= self._downward(part(source, "downwardAPI"), mode)
            if "serviceAccountToken" in source:
                asked = part(source, "serviceAccountToken")
                files[str(asked["path"])] = File((await self._token(asked)).encode(), 0o600)
        return files

    def _object(self, kind: str, source: Object, name: str, mode: int) -> dict[str, File]:
        try:
            data = self.sources.data(kind.lower(), name, self.namespace)
        except MissingObject:
            if source.get("optional"):
                return {}
            raise
        items = each(source, "items")
        if not items:
            return {key: File(content, mode) for key, content in data.items()}
        files: dict[str, File] = {}
        for item in items:
            if item["key"] in data:
                files[str(item["path"])] = File(data[item["key"]], int(item.get("mode") or mode))
            elif not source.get("optional"):
                raise MissingObject(f"references non-existent {kind.lower()} key: {item['key']}")
        return files

    def _downward(self, source: Object, mode: int) -> dict[str, File]:
        files: dict[str, File] = {}
        for item in each(source, "items"):
            if "fieldRef" in item:
                value = environment.field(self.pod, item["fieldRef"]["fieldPath"])
            else:
                value = environment.resource(self.pod, {}, part(item, "resourceFieldRef"), self.allocatable)
            files[str(item["path"])] = File(value.encode(), int(item.get("mode") or mode))
        return files

    async def _token(self, asked: Object) -> str:
        key = (text(asked, "audience"), text(asked, "path"))
        cached = self._tokens.get(key)
        if cached and time.time() < cached.renew_at:
            return cached.value
        meta = self.pod["metadata"]
        account = text(self.pod, "spec", "serviceAccountName") or "default"
        seconds = int(asked.get("expirationSeconds") or TOKEN_SECONDS)
        spec: dict[str, Any] = {
            "expirationSeconds": seconds,
            "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]},
        }
        if audience := text(asked, "audience"):
            spec["audiences"] = [audience]
        answer = await self.kube.request(
            "POST",
            SERVICE_ACCOUNTS.url(self.namespace, account, "token"),
            body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec},
        )
        ends = datetime.fromisoformat(answer["status"]["expirationTimestamp"].replace("Z", "+00:00")).timestamp()
        # As the kubelet does: after four fifths of its time.
        token = Token(str(answer["status"]["token"]), time.time() + 0.8 * (ends - time.time()))
        self._tokens[key] = token
        return token.value


def _inside(root: Path, below: str, what: str, levels: int | None = None) -> Path:
    """A place below a folder, links followed, as deep as ``levels``. Raises :class:`Outside` where it leaves it."""
    real = root.resolve()
    try:
        target = (real / below.lstrip("/")).resolve()
        steps = target.relative_to(real).parts
    except (ValueError, OSError, RuntimeError):  # also for a NUL in the name, and for circular links
        raise Outside(f"{what} {below!r} points outside its folder") from None
    if ".." in Path(below).parts or (levels is not None and len(steps) != levels):
        raise Outside(f"{what} {below!r} points outside its folder")
    return target


def _is_files(volume: Object) -> bool:
    return any(kind in volume for kind in ("secret", "configMap", "downwardAPI", "projected"))


def _reads_only(volume: Object) -> bool:
    return any(bool(part(volume, kind).get("readOnly")) for kind in ("csi", "persistentVolumeClaim"))


def _mode(source: Object) -> int:
    return int(source.get("defaultMode") or DEFAULT_MODE)
