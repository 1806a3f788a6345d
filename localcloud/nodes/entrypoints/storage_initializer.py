#!/opt/bin/python3
"""KServe's storage initializer in the laptop cloud: downloads nothing, for the simulator needs no weights."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    source, target = [*sys.argv[1:], "?", "?"][:2]
    print(f"laptop cloud: {source} is not downloaded to {target}; the model server is a simulator", flush=True)
