"""Pods of the tests on the laptop cloud's kubelet: making them and looking at them."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.objects import condition

HELLO = """
import http.server, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ok = self.path != "/ready" or os.path.exists("/tmp/ready")
        self.send_response(200 if ok else 503); self.end_headers()
        self.wfile.write(os.environ["HOSTNAME"].encode())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("", 8000), Hello).serve_forever()
"""
SERVER: dict[str, Any] = {"command": ["python3", "-c", HELLO], "ports": [{"name": "http", "containerPort": 8000}]}


def run(laptop: Laptop, obj: dict[str, Any]) -> str:
    """Makes a pod; its name."""
    laptop.apply(obj)
    return obj["metadata"]["name"]


def content(kind: str, name: str, **data: str) -> dict[str, Any]:
    """A Secret or ConfigMap."""
    key = "stringData" if kind == "Secret" else "data"
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, key: data}


def see(laptop: Laptop, name: str) -> dict[str, Any]:
    """The pod as it is, empty when there is none."""
    return laptop.get("pod", name) or {}


def is_ready(laptop: Laptop, name: str) -> dict[str, Any] | None:
    """The pod, once it is Ready."""
    pod = see(laptop, name)
    return pod if condition(pod, "Ready") == "True" else None


def ended(laptop: Laptop, name: str) -> dict[str, Any] | None:
    """The pod, once it has run to its end."""
    pod = see(laptop, name)
    return pod if pod.get("status", {}).get("phase") in ("Succeeded", "Failed") else None


def output(laptop: Laptop, name: str, *arguments: str) -> str:
    """What its containers have printed."""
    return laptop.kubectl("logs", name, *arguments)


def get(laptop: Laptop, url: str) -> str:
    """The answer to a GET from inside the cluster's network."""
    return laptop.python(
        "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).read().decode(), end='')", url
    ).stdout


def touch(path: str) -> dict[str, Any]:
    """A handler that makes an empty file."""
    return {"exec": {"command": ["touch", path]}}
