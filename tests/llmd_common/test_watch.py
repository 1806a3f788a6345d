"""The watch, against a server on loopback that misbehaves as API servers do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from llmd_common.kubernetes import client, watch
from llmd_common.kubernetes.client import Kube
from llmd_common.kubernetes.fields import Object
from llmd_common.kubernetes.watch import Event
from llmd_common.problems import SetUpFailed

Answer = tuple[int, str]


def pod(name: str, version: int, uid: str = "") -> Object:
    return {"metadata": {"namespace": "n", "name": name, "resourceVersion": str(version), "uid": uid or name}}


def listing(version: int, *pods: Object) -> Answer:
    content = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}, "items": pods}
    return 200, json.dumps(content)


def changes(*events: tuple[str, Object]) -> Answer:
    return 200, "".join(json.dumps({"type": kind, "object": obj}) + "\n" for kind, obj in events)


class Server:
    """Answers lists and watches from two scripts; the last entry of a script is repeated."""

    def __init__(self, lists: list[Answer], watches: list[Answer]) -> None:
        self.lists, self.watches = lists, watches
        self.asked: list[str] = []
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server
        self._server.close()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        url = head.split()[1]
        if url.startswith("/version"):
            status, text = 200, '{"gitVersion": "v1.36.3"}'
        else:
            self.asked.append(url)
            script = self.watches if "watch=1" in url else self.lists
            status, text = script.pop(0) if len(script) > 1 else script[0]
        body = text.encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    async def kube(self, folder: Path) -> Kube:
        file = folder / "kubeconfig"
        file.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
                    "users": [{"name": "u", "user": {"token": "t"}}],
                }
            )
        )
        return await Kube.connect(file, patience_seconds=5)


async def take(events: AsyncGenerator[Event, None], count: int) -> list[str]:
    """The next events, as ``ADDED a@3``."""
    lines: list[str] = []
    async with asyncio.timeout(10):
        async for event in events:
            meta = event.object.get("metadata", {})
            lines.append(f"{event.type} {meta['name']}@{meta['resourceVersion']}" if meta else event.type)
            if len(lines) == count:
                break
    return lines


def play(
    folder: Path, server: Server, story: Callable[[Server, Kube], Awaitable[list[str]]], *, pause: float = 0.01
) -> list[str]:
    async def run() -> list[str]:
        await server.start()
        try:
            return await story(server, await server.kube(folder))
        finally:
            if server._server:
                await server.stop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "RELIST_PAUSE_SECONDS", pause)
        patch.setattr(watch, "ABSENT_PAUSE_SECONDS", pause)
        return asyncio.run(run())


def watched(count: int) -> Callable[[Server, Kube], Awaitable[list[str]]]:
    async def story(server: Server, cluster: Kube) -> list[str]:
        async with contextlib.aclosing(watch.watch(cluster, client.PODS)) as events:
            return await take(events, count)

    return story


QUIET = changes(("BOOKMARK", pod("", 9)))


def test_a_watch_that_the_server_closes_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = changes(("ADDED", pod("a", 6)), ("BOOKMARK", pod("", 8)))
    server = Server([listing(5)], [first, changes(("ADDED", pod("b", 9)))])
    assert play(tmp_path, server, watched(3)) == ["SYNCED", "ADDED a@6", "ADDED b@9"]
    assert len([url for url in server.asked if "watch=1" not in url]) == 1
    assert "resourceVersion=8" in server.asked[2]


@pytest.mark.parametrize("as_event", [True, False], ids=["told in the stream", "told as the status"])
def test_after_a_version_that_is_too_old_only_the_difference_is_told(tmp_path: Path, as_event: bool) -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    answer = changes(("ERROR", gone)) if as_event else (410, json.dumps(gone))
    before = listing(5, pod("kept", 1), pod("changed", 2), pod("removed", 3), pod("made anew", 4, "first"))
    after = listing(20, pod("kept", 1), pod("changed", 12), pod("made anew", 14, "second"), pod("new", 15))
    changed = play(tmp_path, Server([before, after], [answer, QUIET]), watched(10))
    assert changed[4] == "SYNCED"
    assert changed[5:] == [
        "DELETED removed@3",
        "DELETED made anew@4",
        "MODIFIED changed@12",
        "ADDED made anew@14",
        "ADDED new@15",
    ]


def test_a_kind_whose_definition_comes_later_is_empty_until_then(tmp_path: Path) -> None:
    absent: Answer = (404, "404 page not found")
    server = Server([absent, absent, listing(5, pod("a", 3)), absent], [(404, "404 page not found")])
    assert play(tmp_path, server, watched(3)) == ["SYNCED", "ADDED a@3", "DELETED a@3"]


def test_the_watch_survives_a_restart_of_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def story(server: Server, cluster: Kube) -> list[str]:
        lost = asyncio.Event()
        handler = logging.Handler()
        handler.emit = lambda record: lost.set()
        async with contextlib.aclosing(watch.watch(cluster, client.PODS)) as events:
            changed = await take(events, 2)
            await server.stop()
            server.lists[:] = [listing(9, pod("a", 3), pod("b", 8))]
            with caplog.at_level(logging.INFO, watch.log.name):
                watch.log.addHandler(handler)
                rest = asyncio.create_task(take(events, 1))
                await asyncio.wait_for(lost.wait(), 10)
                watch.log.removeHandler(handler)
            await server.start()
            return changed + await rest

    changed = play(tmp_path, Server([listing(5, pod("a", 3))], [QUIET]), story)
    assert changed == ["ADDED a@3", "SYNCED", "ADDED b@8"]


def test_a_refusal_has_the_servers_reason_and_words(tmp_path: Path) -> None:
    refusal = {"kind": "Status", "reason": "Forbidden", "message": "pods is forbidden: quota", "code": 403}

    async def story(server: Server, cluster: Kube) -> list[str]:
        with pytest.raises(client.KubeError, match="pods is forbidden: quota") as refused:
            await cluster.list(client.PODS)
        return [f"{refused.value.code} {refused.value.reason}", str(len(server.asked))]

    # Asked once: kr8s alone would ask four times, and end every other watch with its new session.
    assert play(tmp_path, Server([(403, json.dumps(refusal))], [QUIET]), story) == ["403 Forbidden", "1"]


def test_without_a_server_the_message_names_its_log(tmp_path: Path) -> None:
    with pytest.raises(SetUpFailed, match=r"does not answer(.|\n)*logs/kube-apiserver\.log\.\nFix: "):
        asyncio.run(Kube.connect(tmp_path / "kubeconfig", patience_seconds=0))
