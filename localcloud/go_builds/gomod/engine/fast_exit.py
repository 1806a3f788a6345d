"""Runs the official executor, then leaves without tearing the interpreter down.

Importing the large cloud SDKs makes some million objects. Collecting garbage while they load, and freeing them one by
one at exit, takes about a second of every preview and changes nothing: the operating system takes the memory back.
What a program may rely on at its end still happens: non-daemon threads are joined, `atexit` functions run, output is
flushed, and the exit status is the executor's own.

The SDK also sends the engine debug messages, in a call that the event loop waits for, of every property of every
resource (pulumi.log). The engine drops them unless it is run with `--debug`. They are left out.
`LLMD_GKE_SDK_DEBUG=1` switches this launcher off.
"""

import atexit
import gc
import os
import runpy
import sys
import threading
import traceback


def status_of(end: SystemExit) -> int:
    """The status that the interpreter would leave with, after printing what it would print."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def drop(*message: object, **options: object) -> None:
    """In place of `pulumi.log.debug`."""


def leave_out_debug_messages() -> None:
    """Keeps the SDK from sending debug messages."""
    try:
        import pulumi.log
    except ImportError:  # the executor says what is missing
        return
    pulumi.log.debug = drop


def main() -> int:
    """The exit status that the executor would leave with."""
    gc.disable()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(sys.argv[0])
    leave_out_debug_messages()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        return status_of(end)
    except BaseException:  # what the interpreter would do with it
        traceback.print_exc()
        return 1
    return 0


status = main()
try:
    threading._shutdown()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue] # joins non-daemon threads, as the interpreter does before atexit
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
finally:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed by the program or by its reader
            pass
    os._exit(status)
