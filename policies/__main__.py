"""Where the engine starts the pack: serves the rules, and prints the port as the engine expects."""

from __future__ import annotations

import sys
from pathlib import Path

# The engine puts this folder on the path, the packages are one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.serve import serve

if __name__ == "__main__":
    serve()
