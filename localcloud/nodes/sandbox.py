"""A pod's sandbox: a network, host name and message queues of its own, and its address on the bridge.

As with a container runtime, a process that only waits (``pause``) holds the namespaces while containers come and go.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from localcloud.linux_namespaces.addresses import BRIDGE, BRIDGE_ADDRESS, BRIDGE_PREFIX, hardware_address
from localcloud.linux_namespaces.network import index, netlink
from localcloud.nodes import mesh
from localcloud.nodes.launcher import CLONE_NEWNET, join

LAUNCHER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py"))]
_one_at_a_time = threading.Lock()


@dataclass
class Sandbox:
    """``pid``: the process that holds the namespaces. ``address``: the pod's."""

    process: asyncio.subprocess.Process
    address: str

    @property
    def pid(self) -> int:
        """The process whose namespaces are the pod's."""
        return self.process.pid

    async def close(self) -> None:
        """Ends the sandbox; the pair of interfaces is deleted with its network. Its containers must have ended."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


async def open_sandbox(uid: str, hostname: str, address: str, *, injected: bool = False) -> Sandbox:
    """Makes the sandbox of the pod with that uid; what comes to an ``injected`` one goes to its sidecar of Istio.

    Raises ``OSError`` if the kernel refuses.
    """
    process = await asyncio.create_subprocess_exec(
        *LAUNCHER,
        "pause",
        hostname[:63],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    sandbox = Sandbox(process, address)
    try:
        assert process.stdout is not None  # noqa: S101 - asked for above
        assert process.stderr is not None  # noqa: S101
        if not await process.stdout.readline():
            errors = (await process.stderr.read()).decode().strip()
            raise OSError(f"cannot create the pod's namespaces: {errors.splitlines()[-1] if errors else 'no answer'}")
        await asyncio.to_thread(_connect, process.pid, interface(uid), address, injected)
    except BaseException:
        await sandbox.close()
        raise
    return sandbox


def interface(uid: str) -> str:
    """The name of a pod's interface on the bridge: at most 15 characters."""
    return "veth" + hashlib.sha256(uid.encode()).hexdigest()[:10]


def _connect(pid: int, name: str, address: str, injected: bool) -> None:
    with _one_at_a_time, netlink() as ip:
        for stale in index(ip, name):
            ip.link("del", index=stale)
        ip.link("add", ifname=name, kind="veth", peer={"ifname": "eth0", "net_ns_pid": pid})
        ip.link("set", index=index(ip, name)[0], master=index(ip, BRIDGE)[0], state="up")
    # A thread can be in another network than its process. Pyroute2's own way, a forked process that it ends with
    # SIGTERM, tells the parent's asyncio of that signal as well.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_inside, pid, address, injected).result()


def _inside(pid: int, address: str, injected: bool) -> None:
    join(pid, CLONE_NEWNET)
    with netlink() as ip:
        ip.link("set", index=index(ip, "lo")[0], state="up")
        eth0 = index(ip, "eth0")[0]
        ip.addr("add", index=eth0, address=address, prefixlen=BRIDGE_PREFIX)
        ip.link("set", index=eth0, address=hardware_address(address), state="up")
        ip.route("add", dst="default", gateway=BRIDGE_ADDRESS)
    if injected:
        mesh.redirect()
