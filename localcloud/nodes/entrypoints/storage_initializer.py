#!/opt/bin/python3
"""KServe's storage initializer in the laptop cloud: downloads nothing. The simulator needs no weights; the real server
gets the tiny model (``cluster/tiny_model.py``) and its adapter, whatever the address.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

MODEL, ADAPTER = Path("/opt/model"), Path("/opt/adapter")

if __name__ == "__main__":
    # Each source is followed by its target: first the model's, then those of adapters.
    for source, target in zip(sys.argv[1::2], sys.argv[2::2], strict=False):
        made = ADAPTER if target.startswith("/mnt/lora/") else MODEL
        if made.is_dir():
            shutil.copytree(made, target, dirs_exist_ok=True)
            print(f"laptop cloud: {source} is not downloaded; in {target} is a tiny one, for real servers", flush=True)
        else:
            print(f"laptop cloud: {source} is not downloaded to {target}; the model server is a simulator", flush=True)
