"""``python -m operations``, the same as ``llmd-gke``."""

import sys

from operations.cli import main

sys.exit(main())
