"""Pods' networks: real ones, in namespaces of their own."""

from __future__ import annotations

import sys

from llmd_common import child_process
from llmd_gke.repository import CLONE
from localcloud.linux_namespaces import rights

ADDRESS = "10.244.0.9"

PROGRAM = f"""
import asyncio, socket
from concurrent.futures import ThreadPoolExecutor
from localcloud.linux_namespaces import network
from localcloud.linux_namespaces.addresses import BRIDGE_ADDRESS
from localcloud.nodes import sandbox
from localcloud.nodes.launcher import CLONE_NEWNET, join

def answers(address):
    with socket.socket() as client:
        client.settimeout(5)
        return client.connect_ex((address, 80))

async def main():
    await asyncio.to_thread(network.set_up)
    caller = await sandbox.open_sandbox("caller", "caller", "10.244.0.8")
    with ThreadPoolExecutor(1) as thread:
        await asyncio.wrap_future(thread.submit(join, caller.pid, CLONE_NEWNET))
        for uid in "abcdefgh":
            pod = await sandbox.open_sandbox(uid, "pod", "{ADDRESS}")
            for address in ("{ADDRESS}", BRIDGE_ADDRESS):
                print(await asyncio.wrap_future(thread.submit(answers, address)))
            await pod.close()
    await caller.close()

asyncio.run(main())
"""
"""A pod calls one pod after the other, all with the same address, and the node; prints the errors' numbers."""


def test_a_pod_that_has_the_address_of_an_ended_one_and_the_node_answer_at_once() -> None:
    command = ["unshare", *rights.options(), sys.executable, "-c", PROGRAM]
    done = child_process.run(command, folder=CLONE)
    refused = "111"  # ECONNREFUSED: the answer of a machine on which nothing listens
    assert done.stdout.split() == [refused] * 16, done.stderr
