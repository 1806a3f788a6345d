"""What all tests start from."""

from __future__ import annotations

import signal

from hypothesis import settings

# Speed is for benchmarks: an example may take any time on a busy machine.
settings.register_profile("without time limits", deadline=None)
settings.load_profile("without time limits")

# A shell lets a command in the background ignore Ctrl-C, and so does everything that the command starts: tests that
# send it would wait for an answer that never comes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
