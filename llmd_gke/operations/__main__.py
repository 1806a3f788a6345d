"""``python -m llmd_gke.operations``, the same as ``llmd-gke``."""

import sys

from llmd_gke.operations.cli import main

sys.exit(main())
