"""Volumes as folders. None leads out of its folder: the machine's own files are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from localcloud.nodes.volumes import Outside, Volumes


class Sources:
    """Knows no object: only variables written out in the pod are read here."""

    services = ()

    def __getattr__(self, name: str) -> Any:
        return lambda *_: {}


def volumes(tmp_path: Path, volume: dict[str, Any]) -> Volumes:
    pod = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"volumes": [{"name": "v", **volume}], "containers": []},
    }
    for folder in ("pod", "memory", "shared"):
        (tmp_path / folder).mkdir(exist_ok=True)
    sources = cast("Any", Sources())
    return Volumes(
        pod=pod,
        folder=tmp_path / "pod",
        memory=tmp_path / "memory",
        shared=tmp_path / "shared",
        sources=sources,
        kube=cast("Any", None),
    )


def container(**mount: Any) -> dict[str, Any]:
    where = {"name": "v", "mountPath": "/data", **mount}
    return {"name": "c", "env": [{"name": "UP", "value": "../../.."}], "volumeMounts": [where]}


def bucket(name: str, options: str = "") -> dict[str, Any]:
    attributes = {"bucketName": name, "mountOptions": options}
    return {"csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": attributes}}


CLAIM = {"persistentVolumeClaim": {"claimName": "weights"}}


@pytest.mark.parametrize(
    ("volume", "mount", "text"),
    [
        ({"emptyDir": {}}, {"subPath": "../.."}, "subPath"),
        ({"emptyDir": {}}, {"subPath": "a/../../.."}, "subPath"),
        ({"emptyDir": {}}, {"subPathExpr": "$(UP)/etc"}, "subPath"),
        ({"emptyDir": {}}, {"subPath": "a\0b"}, "subPath"),
        (CLAIM, {"subPathExpr": "$(UP)"}, "subPath"),
        ({"persistentVolumeClaim": {"claimName": "../../../../etc"}}, {}, "claimName"),
        ({"persistentVolumeClaim": {"claimName": "a/b"}}, {}, "claimName"),
        (bucket(".."), {}, "bucketName"),
        (bucket("../claims"), {}, "bucketName"),
        (bucket("/etc"), {}, ""),
        (bucket("weights", "implicit-dirs,only-dir=../../../etc"), {}, "only-dir"),
        (bucket("weights", "only-dir=a/../../other"), {}, "only-dir"),
    ],
)
def test_a_path_that_leaves_its_folder_is_refused(
    tmp_path: Path, volume: dict[str, Any], mount: dict[str, Any], text: str
) -> None:
    made = volumes(tmp_path, volume)
    if text:
        with pytest.raises(Outside, match=text):
            made.mounts(container(**mount))
    else:  # read as a name below the folder
        [made_mount] = made.mounts(container(**mount))
        assert Path(made_mount.source).is_relative_to(tmp_path)


def test_a_link_that_a_container_made_is_not_followed_out_of_the_volume(tmp_path: Path) -> None:
    made = volumes(tmp_path, {"emptyDir": {}})
    folder = tmp_path / "pod" / "volumes" / "v"
    folder.mkdir(parents=True)
    (folder / "out").symlink_to("/etc")
    (folder / "in").symlink_to("there")
    (folder / "there").mkdir()
    with pytest.raises(Outside, match="subPath"):
        made.mounts(container(subPath="out"))
    [mount] = made.mounts(container(subPath="in"))
    assert Path(mount.source) == (folder / "there").resolve()


def test_a_folder_can_be_mounted_inside_a_volume_that_is_read_only(tmp_path: Path) -> None:
    made = volumes(tmp_path, {"configMap": {"name": "certificates"}})
    made.pod["spec"]["volumes"].append({"name": "inner", "emptyDir": {}})
    (tmp_path / "memory" / "v").mkdir()
    (tmp_path / "pod" / "volumes" / "inner").mkdir(parents=True)
    both = container()
    both["volumeMounts"].insert(0, {"name": "inner", "mountPath": "/data/more/lists"})
    outer, inner = made.mounts(both)
    assert (outer.target, outer.read_only, inner.target) == ("/data", True, "/data/more/lists")
    assert (Path(outer.source) / "more" / "lists").is_dir()  # where the kernel can mount the second
