"""``python -m operations``, the same as ``llmd-gke``."""

import sys

from llmd_common.early_interrupt import ends_at_once

with ends_at_once():
    from operations.cli import main

if __name__ == "__main__":
    sys.exit(main())
