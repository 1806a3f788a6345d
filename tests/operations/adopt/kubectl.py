#!/usr/bin/env python3
"""`kubectl [--context C] get --raw PATH` for the objects of the JSON file $CLUSTER, which also says what is denied."""

import json
import os
import sys
from pathlib import Path

cluster = json.loads(Path(os.environ["CLUSTER"]).read_text())
options, path = sys.argv[1:-3], sys.argv[-1]
if options not in ([], ["--context", cluster["context"]]):
    sys.exit(f'error: context "{options[1]}" does not exist')
kinds: dict[str, dict[str, list[object]]] = {}
for one in [*cluster["objects"], {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool"}]:
    kinds.setdefault(one["apiVersion"], {}).setdefault(one["kind"], []).append(one)


def plural(kind: str) -> str:
    return (
        kind.lower() + ("es" if kind.endswith("s") else "s")
        if not kind.endswith("Policy")
        else kind.lower()[:-1] + "ies"
    )


def answer(parts: list[str]) -> object:
    if parts == ["version"]:
        return {}
    if parts == ["apis"]:
        return {"groups": [{"name": version.rpartition("/")[0]} for version in kinds if "/" in version]}
    version, rest = ("v1", parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
    if version not in kinds:
        sys.exit("Error from server (NotFound): the server could not find the requested resource")
    if not rest:
        return {"resources": [{"name": plural(kind), "kind": kind} for kind in kinds[version]]}
    if rest[0] in cluster["denied"]:
        sys.exit(f'Error from server (Forbidden): {rest[0]} is forbidden: User "ann" cannot list resource "{rest[0]}"')
    for kind, objects in kinds[version].items():
        if plural(kind) == rest[0]:
            return {"items": [one for one in objects if "metadata" in one]}
    sys.exit("Error from server (NotFound): the server could not find the requested resource")


assert "secrets" not in path, path
print(json.dumps(answer(path.strip("/").split("/"))))
