"""The address of the Prometheus of a stack, and the sign-in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from localcloud.monitoring import prometheus
from operations.doctor.google import ENDPOINT, GoogleRequestError, login
from operations.exits import Unreachable
from operations.options import Cloud
from operations.prometheus.client import NotAllowed, NotAnswered, NotThere, Prometheus, connected
from operations.target import Target

T = TypeVar("T")

NEEDED = "monitoring.timeSeries.list"
"""The permission to read metrics; ``roles/monitoring.viewer`` has it."""


def address(target: Target) -> str:
    """The address of the query API. Raises :class:`NotThere` if the stack's cloud has none."""
    if target.cloud is Cloud.LAPTOP:
        return f"{prometheus.URL}/api/v1/"
    if target.cloud is not Cloud.GOOGLE:
        raise NotThere("the rehearsal has no metrics")
    google = os.environ.get(ENDPOINT)
    host = "https://monitoring.googleapis.com" if google is None else f"{google}/monitoring.googleapis.com"
    return f"{host}/v1/projects/{target.settings.project}/location/global/prometheus/api/v1/"


@asynccontextmanager
async def of(target: Target) -> AsyncGenerator[Prometheus]:
    """The Prometheus of the stack's cloud, signed in as the caller.

    Raises :class:`NotAllowed` without credentials, and :class:`NotThere` if there is none.
    """
    token = None
    if target.cloud is Cloud.GOOGLE:
        try:
            token = str(getattr(await asyncio.to_thread(login), "token", ""))
        except GoogleRequestError as error:
            raise NotAllowed(str(error)) from None
    async with connected(address(target), token) as prometheus:
        yield prometheus


def answer(target: Target, questions: Callable[[Prometheus], Awaitable[T]]) -> T:
    """The result of ``questions``, asked of the Prometheus of the stack's cloud. Raises ``Unreachable`` if it does not
    answer.
    """

    async def asking() -> T:
        async with of(target) as prometheus:
            return await questions(prometheus)

    try:
        return asyncio.run(asking())
    except NotAnswered as problem:
        raise Unreachable(
            f"The metrics of stack {target.stack} cannot be queried: {problem}\n"
            f"Fix: {_fix(target)} (docs/monitoring.md)"
        ) from None


def _fix(target: Target) -> str:
    """How the metrics of the stack can be queried in its cloud; the rehearsal's stack, in a laptop cloud."""
    if target.cloud is Cloud.GOOGLE:
        return f"gcloud auth login --update-adc, with an account that has {NEEDED} (roles/monitoring.viewer)"
    return f"LLMD_GKE_PROMETHEUS=1 make up STACK={target.stack} CLOUD=laptop, then the command with --cloud laptop"
