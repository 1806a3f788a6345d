"""``python -m localcloud``: the commands behind the Makefile."""

import sys

from llmd_common.early_interrupt import ends_at_once

with ends_at_once():
    from localcloud.cli import main

if __name__ == "__main__":
    sys.exit(main())
