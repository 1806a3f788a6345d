"""Updates that commands run, and the change of a model in its stack file that goes before them."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from operations.exits import BadInput, Busy, Failed, Refused
from operations.options import Cloud
from operations.progress import working
from operations.target import Target

UP_SECONDS = 2 * 60 * 60
PREVIEW_SECONDS = 15 * 60
LAST_LINES = 40


@dataclass(frozen=True)
class Update:
    """An update of a stack. ``verb``: the command; ``again`` completes what was interrupted."""

    target: Target
    verb: str
    again: str

    def consent(self, question: str, unchanged: str, *, yes: bool) -> None:
        """Shows what the update does and asks. Raises ``Refused`` without consent or without a terminal. ``unchanged``:
        what is then as before.
        """
        target = self.target
        if target.cloud is not Cloud.GOOGLE or yes:
            return
        if not sys.stdin.isatty():
            raise Refused(f"There is no terminal to ask for confirmation.\nFix: {self.again} --yes")
        from operations.live import engine

        command = engine.preview(target)
        log = self._log("preview")
        with working(" ".join(command), quiet_seconds=0) as work:
            status = engine.run(command, target, log, PREVIEW_SECONDS, work.say)
        print(log.read_text(encoding="utf-8"), file=sys.stderr)
        if status:
            raise Failed(f"The preview failed (status {status}), and {unchanged}. Log: {log}")
        if not typer.confirm(f"{question} in project {target.settings.project} with this update?", err=True):
            raise Refused(f"Nothing was changed: {unchanged}.")

    def run(self, stands: str, ways: str, targets: Sequence[str] = ()) -> Path:
        """Runs ``up`` and returns its log. Raises ``Failed``, and on Ctrl-C says first how to go on. ``stands``: how
        things stand; ``ways``: how to go on; ``targets``: as of :func:`operations.live.engine.up`.
        """
        from operations.live import engine

        log = self._log()
        command = engine.up(self.target, targets=targets)
        try:
            with working(" ".join(command), quiet_seconds=0) as work:
                status = engine.run(command, self.target, log, UP_SECONDS, work.say)
        except KeyboardInterrupt:
            print(f"\n{stands}, and the update is not complete. Log: {log}\nFix: {ways}.", file=sys.stderr)
            raise
        if status:
            last = "".join(f"\n  {line}" for line in log.read_text(encoding="utf-8").splitlines()[-LAST_LINES:])
            raise Failed(
                f"{stands}, but the update failed (status {status}). Log: {log}{last}\n"
                f"Fix: correct what the log names; {ways}"
            )
        return log

    @contextmanager
    def alone(self) -> Generator[None]:
        """While another process of this clone changes the stack with the same command, raises ``Busy``. The lock ends
        with its process.
        """
        stack = self.target.stack
        with (self._folder() / f"{self.verb}-{stack}.lock").open("a+", encoding="utf-8") as holder:
            try:
                fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder.seek(0)
                raise Busy(
                    f"Another {self.verb} of stack {stack} is under way: process {holder.read()}.\n"
                    f"Fix: wait until it ends, or end it with Ctrl-C; then {self.again}"
                ) from None
            holder.truncate(0)
            holder.write(str(os.getpid()))
            holder.flush()
            yield

    def _folder(self) -> Path:
        folder = self.target.root / "live"
        folder.mkdir(exist_ok=True)
        return folder

    def _log(self, step: str = "") -> Path:
        what = f"{self.verb}-{step}" if step else self.verb
        return self._folder() / f"{what}-{self.target.stack}-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"


@dataclass(frozen=True)
class StackChange(Update):
    """A change of ``model``, its name in the settings. ``back`` undoes it."""

    model: str
    back: str

    @property
    def name(self) -> str:
        """The name of the stack file."""
        return f"Pulumi.{self.target.stack}.yaml"

    @property
    def file(self) -> Path:
        """The stack file."""
        return self.target.root / self.name

    def written(self, edit: Callable[[str], str], what: str) -> bytes:
        """The stack file after the edit. Raises ``BadInput`` where it would not be valid then."""
        from llmd_gke.settings.errors import SettingsError
        from llmd_gke.settings.load import load_stack
        from llmd_gke.settings.stack_files import Unusable

        try:
            changed = edit(self.file.read_bytes().decode()).encode()
        except Unusable as unusable:
            raise BadInput(f"{self.name}: {unusable}\nFix: {unusable.finding.fix}") from None
        with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
            (Path(folder) / self.name).write_bytes(changed)
            try:
                load_stack(Path(folder), self.target.stack)
            except SettingsError as error:
                raise BadInput(f"{error}\n\nThis would be the result of {what}; {self.name} is unchanged.") from None
        return changed

    def write(self, content: bytes, *, yes: bool) -> None:
        """Writes the file once the change has consent; otherwise it is as before, and ``Refused`` is raised."""
        before = self.file.read_bytes()
        replace(self.file, content)
        try:
            question = f"{self.verb.capitalize()} {self.model}"
            self.consent(question, f"{self.name} is as before", yes=yes)
        except BaseException:
            replace(self.file, before)
            raise

    @property
    def ways(self) -> str:
        """How to go on with it, and back."""
        return f"`{self.again}` completes it" + (f", `{self.back}` undoes it" if self.back != self.again else "")

    def update(self, says: str) -> Path:
        """Runs ``up`` and returns its log, see :meth:`run`. ``says``: what the file says, without its name."""
        return self.run(f"{self.name} says `{says}` for {self.model}", self.ways)


def replace(file: Path, content: bytes) -> None:
    """Replaces the content of a file at once, with the rights that it has: nobody ever reads half of it."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).chmod(file.stat().st_mode & 0o777)
            Path(new.name).replace(file.resolve())
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
