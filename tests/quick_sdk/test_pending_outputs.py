"""The wait for pending outputs, at the end of a program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest
from pulumi.runtime import stack
from pulumi.runtime.settings import SETTINGS

from quick_sdk import pending_outputs

OUTPUTS = 200


def pending() -> set[asyncio.Future[Any]]:
    return cast("set[asyncio.Future[Any]]", SETTINGS.outputs)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture(autouse=True)
def sdk_way() -> Iterator[None]:
    """The SDK as it is installed; a test that wants ours says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(stack), "asyncio", asyncio)
        pending().clear()
        yield


def callbacks(outputs: int) -> int:
    """How many callbacks a wait adds to outputs that get their values one after the other."""
    added = 0

    class Counted(asyncio.Task[None]):
        def add_done_callback(self, *args: object, **options: object) -> None:
            nonlocal added
            added += 1
            super().add_done_callback(*args, **options)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]

    async def after(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)

    async def program() -> None:
        loop = asyncio.get_running_loop()
        pending().update(Counted(after(turn), loop=loop) for turn in range(outputs))
        await stack.wait_for_rpcs()

    asyncio.run(program())
    return added


def test_the_sdk_begins_its_wait_anew_with_each_output_and_ours_waits_once() -> None:
    assert callbacks(OUTPUTS) > 10 * OUTPUTS, "the SDK waits well by itself: quick_sdk/pending_outputs.py can go"
    pending_outputs.wait_at_once()
    assert callbacks(OUTPUTS) <= 2 * OUTPUTS


def test_an_output_that_fails_ends_the_wait_though_others_never_get_a_value() -> None:
    pending_outputs.wait_at_once()

    async def fails() -> None:
        raise LookupError("no such address")

    async def program() -> None:
        waits = asyncio.ensure_future(asyncio.Event().wait())
        pending().update([waits, asyncio.ensure_future(fails())])
        try:
            await asyncio.wait_for(stack.wait_for_rpcs(), 10)
        finally:
            pending().clear()
            waits.cancel()

    with pytest.raises(LookupError, match="no such address"):
        asyncio.run(program())


def test_outputs_of_outputs_are_waited_for() -> None:
    pending_outputs.wait_at_once()
    reached: list[str] = []

    async def last() -> None:
        await asyncio.sleep(0)
        reached.append("last")

    async def first() -> None:
        pending().add(asyncio.ensure_future(last()))

    async def program() -> None:
        pending().add(asyncio.ensure_future(first()))
        await stack.wait_for_rpcs()

    asyncio.run(program())
    assert reached == ["last"]
