"""Google's APIs of a laptop cloud, for commands that ask Google: the emulator on what that cloud holds."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from operations.doctor.google import ENDPOINT
from operations.options import Cloud
from operations.target import Target


@contextmanager
def emulated(target: Target) -> Generator[None]:
    """While it lasts, Google's client libraries ask the emulator where ``target`` is a laptop cloud.

    The emulator answers from the cloud's folder. Before the first ``make up`` that is a project in which somebody has
    switched on the stack's APIs, as the README says, and nothing else. Elsewhere nothing changes.
    """
    if target.cloud is not Cloud.LAPTOP or os.environ.get(ENDPOINT):
        yield
        return
    from localcloud.google_api.server import running

    os.environ["LLMD_GKE_HOME"] = str(target.places.home)  # where the services look for the control plane and gateway
    target.places.cloud.mkdir(parents=True, exist_ok=True)
    with running(target.places.cloud) as cloud:
        with cloud.world() as world:
            if not world.enabled(target.settings.project):
                world.enable(target.settings.project, {f"{api}.googleapis.com" for api in target.settings.apis})
        os.environ[ENDPOINT] = cloud.url
        try:
            yield
        finally:
            del os.environ[ENDPOINT]
