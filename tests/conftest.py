"""What all tests start from."""

from __future__ import annotations

import signal

# A shell lets a command in the background ignore Ctrl-C, and so does everything that the command starts: tests that
# send it would wait for an answer that never comes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
