"""The end of the stack that the other tests used: the last of them (``conftest.py``)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from localcloud.cluster import pending_creates
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.workflow import cloud_files


def of_the_program(laptop: Laptop, stack: str = "local") -> dict[tuple[str, str], str]:
    """The objects that the program makes one by one, by kind and identity; and the kind as kubectl takes it.

    Without the charts and the policies of their namespaces: they are forgotten with the cluster (``deletedWith``).
    """
    exported = json.loads(laptop.runner().ask("stack", "export", "--stack", stack))
    result: dict[tuple[str, str], str] = {}
    for resource in exported["deployment"]["resources"]:
        type_ = str(resource["type"])
        kind = type_.rpartition(":")[2]
        # A patch is of an object that is somebody else's.
        if (
            type_.startswith(cloud_files.KUBERNETES)
            and type_ != pending_creates.RELEASE
            and not kind.endswith("Patch")
            and not resource.get("deletedWith")
        ):
            result[kind, str(resource["id"])] = pending_creates.kind(type_)
    return result


def in_the_cluster(laptop: Laptop, kinds: Iterable[str]) -> dict[tuple[str, str], objects.Object]:
    """What the API server has of these kinds, in every namespace."""

    def identity(thing: objects.Object) -> str:
        namespace = thing["metadata"].get("namespace")
        return f"{namespace}/{objects.name(thing)}" if namespace else objects.name(thing)

    obj = objects.every(laptop, ",".join(sorted(set(kinds))))
    return {(thing["kind"], identity(thing)): thing for thing in obj}


def test_destroy_leaves_no_object_waiting_for_a_finalizer(laptop: Laptop) -> None:
    ours = of_the_program(laptop)
    assert {"LLMInferenceService", "Gateway", "HTTPRoute", "NetworkPolicy", "Namespace"} <= {kind for kind, _ in ours}
    before = in_the_cluster(laptop, ours.values())
    assert ours.keys() <= before.keys(), "what is not there cannot be seen to go"

    steps = laptop.steps("destroy", "--yes", "--skip-preview")
    assert set(steps.values()) == {"delete"}
    assert laptop.state() is None or not laptop.state().urns  # pyright: ignore[reportOptionalMemberAccess]
    assert laptop.cloud() == {}

    left = in_the_cluster(laptop, ours.values())
    assert left, "the API server shows others of these kinds, so it was asked rightly"
    assert ours.keys() & left.keys() == set()
    assert [key for key, thing in left.items() if "deletionTimestamp" in thing["metadata"]] == []
