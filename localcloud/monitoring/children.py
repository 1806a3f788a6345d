"""Programs that the daemon keeps running: restarted when they exit, and stopped with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from localcloud.common import daemon

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
RESTART_SECONDS = 2.0


async def keep(command: Sequence[str], log_file: Path) -> None:
    """Runs a program until cancelled; its output goes into that file. The file of the run before is overwritten."""
    while True:
        with log_file.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            code = await process.wait()
        finally:
            await daemon.end(process, STOP_SECONDS)
        log.warning("%s exited with status %s; its log: %s", Path(command[0]).name, code, log_file)
        await asyncio.sleep(RESTART_SECONDS)
