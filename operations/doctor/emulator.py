"""Google's APIs of a laptop cloud, for commands that query Google: the emulator on that cloud's folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from localcloud.common.workdir import Workdir
from operations.doctor.google import ENDPOINT
from operations.exits import SetUpFailed
from operations.options import Cloud
from operations.target import Target


def may_ask(target: Target) -> bool:
    """Whether Google's client libraries can query the cloud of ``target``: Google itself, or an emulator of its APIs.

    Google is never queried about a local cloud: that would use the caller's own credentials.
    """
    return target.cloud is Cloud.GOOGLE or bool(os.environ.get(ENDPOINT))


@contextmanager
def emulated(target: Target) -> Generator[None]:
    """A context in which Google's client libraries query the emulator, if ``target`` is a laptop cloud.

    The emulator answers from the cloud's folder. Before the first ``make up`` it answers from a temporary folder with
    an empty project in which only the stack's APIs are enabled, as the README describes. Raises ``SetUpFailed`` if the
    emulator cannot start, and ``Stale`` if the cloud's files are damaged.
    """
    if target.cloud is not Cloud.LAPTOP or os.environ.get(ENDPOINT):
        yield
        return
    from localcloud.google_api.server import running
    from localcloud.workflow import cloud_files

    cloud_files.check(target.workdir)
    os.environ["LLMD_GKE_HOME"] = str(target.workdir.home)  # the services read the control plane here
    with ExitStack() as ends:
        try:
            cloud = ends.enter_context(running(_folder(target.workdir, ends)))
            with cloud.state() as cloud_state:
                if not cloud_state.enabled(target.settings.project):
                    cloud_state.enable(
                        target.settings.project, {f"{api}.googleapis.com" for api in target.settings.apis}
                    )
        except OSError as error:
            raise SetUpFailed(
                f"The emulator of Google's APIs cannot start on {target.workdir.cloud}: {error}\n"
                "Fix: make the folder writable"
            ) from None
        os.environ[ENDPOINT] = cloud.url
        try:
            yield
        finally:
            del os.environ[ENDPOINT]


def _folder(workdir: Workdir, ends: ExitStack) -> Path:
    """The folder that the emulator reads and writes.

    Only ``make up`` creates the cloud's folder; a command that only queries leaves nothing there.
    """
    from localcloud.workflow.cloud_files import EMULATOR

    if (workdir.cloud / EMULATOR).exists():
        return workdir.cloud
    return Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="llmd-gke-")))
