"""Runs in every pod of a model that spans hosts, before the server: joins the hosts of the slice into one Ray cluster.

``python3 -c TEXT leader COMMAND …`` starts Ray's head, waits until every host of the group is there, and becomes the
command (the server). ``python3 -c TEXT worker`` waits for the leader and joins it for as long as Ray lives. Only the
standard library, and the ``ray`` of the server's image. LeaderWorkerSet says how large the group is and where its
leader (``LWS_GROUP_SIZE``, ``LWS_LEADER_ADDRESS``: kubernetes-sigs/lws ``api/leaderworkerset/v1``).

Nothing here gives up: a container that ends makes LeaderWorkerSet start the whole group again, and the leader's startup
probe is what bounds the wait.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

PORT = int(os.environ.get("RAY_PORT", "6379"))
PAUSE_SECONDS = float(os.environ.get("HOST_GROUP_PAUSE_SECONDS", "2"))

COUNT = "import ray; ray.init(address='auto', log_to_driver=False); print(sum(n['Alive'] for n in ray.nodes()))"
"""Prints how many hosts have joined; in a process of its own, so that the server starts in a clean one."""


def joined() -> int:
    """Hosts in the Ray cluster that this host is part of; 0 as long as Ray does not answer."""
    done = subprocess.run([sys.executable, "-c", COUNT], stdout=subprocess.PIPE, text=True, check=False)
    words = done.stdout.split()
    return int(words[-1]) if done.returncode == 0 and words and words[-1].isdigit() else 0


def leader(command: list[str]) -> None:
    """Does not return: becomes the command."""
    size = int(os.environ["LWS_GROUP_SIZE"])
    subprocess.run(["ray", "start", "--head", f"--port={PORT}", "--disable-usage-stats"], check=True)
    last = -1
    while (found := joined()) < size:
        if found != last:
            print(f"hosts in the group: {found} of {size}", flush=True)
        last = found
        time.sleep(PAUSE_SECONDS)
    print(f"hosts in the group: {found} of {size}; starting the server", flush=True)
    os.execvp(command[0], command)  # noqa: S606


def worker() -> None:
    """Does not return: becomes Ray's worker, which ends when the leader is gone."""
    address = os.environ["LWS_LEADER_ADDRESS"]
    last = ""
    while True:
        try:
            socket.create_connection((address, PORT), timeout=5).close()
            break
        except OSError as error:
            if str(error) != last:
                print(f"waiting for the leader {address}: {error}", flush=True)
            last = str(error)
            time.sleep(PAUSE_SECONDS)
    os.execvp("ray", ["ray", "start", f"--address={address}:{PORT}", "--block", "--disable-usage-stats"])  # noqa: S606


def end(signal_number: int, frame: object) -> None:
    """Ends the process."""
    del signal_number, frame
    sys.exit(0)


if __name__ == "__main__":
    # As the first process of a container it would ignore the signal.
    signal.signal(signal.SIGTERM, end)
    if sys.argv[1] == "leader":
        leader(sys.argv[2:])
    else:
        worker()
