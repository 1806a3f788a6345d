#!/opt/bin/python3
"""cert-manager's API check: a dry run of a Certificate, again and again until its webhook lets it pass.

As ``cmctl check api --wait=…`` (https://cert-manager.io/docs/reference/cmctl/#check-api), with the pod's own rights.
"""

from __future__ import annotations

import json
import os
import pathlib
import ssl
import sys
import time
import urllib.error
import urllib.request

ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(arguments: list[str]) -> float:
    """The value of ``--wait``; 0 where it is not given."""
    text = next((word.partition("=")[2] for word in arguments if word.startswith("--wait=")), "0s")
    return float(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else float(text or 0)


def check(host: str, port: str) -> str:
    """Empty when a Certificate would be accepted, else why not."""
    namespace = (ACCOUNT / "namespace").read_text()
    certificate = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"generateName": "startupapicheck-"},
        "spec": {"dnsNames": ["example.com"], "issuerRef": {"name": "startupapicheck"}, "secretName": "check"},
    }
    request = urllib.request.Request(
        f"https://{host}:{port}/apis/cert-manager.io/v1/namespaces/{namespace}/certificates?dryRun=All",
        json.dumps(certificate).encode(),
        {"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}", "Content-Type": "application/json"},
    )
    trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    try:
        with urllib.request.urlopen(request, timeout=10, context=trust):  # noqa: S310
            return ""
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()[:300]}"
    except OSError as error:
        return str(error)


def main(arguments: list[str]) -> int:
    """0 once it works, 1 when the time is over."""
    ends = time.monotonic() + seconds(arguments)
    while problem := check(os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]):
        print(f"Not ready: {problem}", flush=True)
        if time.monotonic() >= ends:
            return 1
        time.sleep(1)
    print("The cert-manager API is ready", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
