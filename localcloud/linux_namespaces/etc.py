"""Files of /etc as processes inside the namespaces see them: names resolve from them, without a name server."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from localcloud.linux_namespaces.addresses import API_SERVICE, CONTROL_PLANE, DNS_ENDPOINT

MS_BIND = 0x1000
"""linux/mount.h."""

HOSTS = f"""127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
{CONTROL_PLANE} {DNS_ENDPOINT}
{API_SERVICE} kubernetes.default.svc kubernetes.default.svc.cluster.local kubernetes.default kubernetes
"""

CONTENTS = {
    "/etc/hosts": HOSTS,
    # Nothing listens there: a name that is not in /etc/hosts fails at once.
    "/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    # Without this, glibc asks the machine's systemd-resolved through its socket file.
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n",
}


def set_up(folder: Path) -> None:
    """Writes the files to ``folder`` and shows them in place of the machine's, in this mount namespace only.

    A file that does not exist on the machine is skipped: there is no target for the mount.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in CONTENTS.items():
        own = folder / Path(path).name
        own.write_text(content)
        if Path(path).exists():
            bind(str(own), path)


def bind(source: str, target: str) -> None:
    """Shows ``source`` at the place of ``target`` in this mount namespace. Raises ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(MS_BIND), None):
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}: {os.strerror(ctypes.get_errno())}")
