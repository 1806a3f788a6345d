"""Which models of a stack a command is about, and where they answer. Errors name what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from operations.exits import BadInput, NotUp
from operations.options import Cloud
from operations.outputs import Endpoint, admitted, read
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.settings import ModelSettings


def choose(target: Target, wanted: str | None, names: Iterable[str]) -> str:
    """The name that was given with ``--model``, or the only one. Raises ``BadInput`` with those that are allowed."""
    allowed = list(dict.fromkeys(names))
    if wanted in allowed or (wanted is None and len(allowed) == 1):
        return wanted or allowed[0]
    problem = f"--model {wanted}: stack {target.stack} has no such model" if wanted else "--model is not given"
    raise BadInput(f"{problem}.\nAllowed for --model: {', '.join(allowed)}.\nFix: --model {allowed[0]}")


def versions(target: Target, wanted: str | None) -> list[ModelSettings]:
    """The versions of the model of that name, or of the only model. Raises ``BadInput``."""
    name = choose(target, wanted, [one.model_name for one in target.settings.models])
    return [one for one in target.settings.models if one.model_name == name]


def serving(target: Target, wanted: str | None) -> ModelSettings:
    """The model of that name, the one with an adapter of that name, or the only one.

    Raises ``BadInput``, and ``NotUp`` where the settings leave it without servers.
    """
    of = {adapter.name: one for one in target.settings.models for adapter in one.adapters}
    if wanted not in of:
        of = {one.name: one for one in target.settings.models}
    model = of[choose(target, wanted, of)]
    if model.serves_at(datetime.now(UTC)):
        return model
    if model.stopped:
        start = f"llmd-gke start --model {model.model_name} --stack {target.stack}"
        raise NotUp(f"{model.name} is stopped by its settings (`stopped: true`), so it has no pods.\nFix: {start}")
    raise NotUp(f"{model.name} is outside of its hours, so it has no pods.\nFix: change its schedule, then {target.up}")


def all_serving(target: Target, wanted: str | None) -> list[ModelSettings]:
    """As :func:`serving`; without a name, every model that has servers now."""
    now = datetime.now(UTC)
    return [one for one in target.settings.models if wanted is None and one.serves_at(now)] or [
        serving(target, wanted or target.settings.models[0].name)
    ]


def at_url(model: str | None, url: str) -> Endpoint:
    """The endpoint at a URL that was given in place of a stack's. Raises ``BadInput``."""
    if model is None:
        raise BadInput("--url needs --model, the name that clients send.\nFix: add --model NAME")
    if not url.startswith(("http://", "https://")):
        fix = f"http://{url.rpartition('://')[2]}"
        raise BadInput(f"--url: {url} is not a URL. Allowed: http://HOST/PATH, https://HOST/PATH.\nFix: {fix}")
    return Endpoint(model, url.rstrip("/"), model)


def endpoints(target: Target, models: Iterable[ModelSettings], command: str) -> list[Endpoint]:
    """Where these models answer. ``command`` sends the requests. Raises ``BadInput`` or ``NotUp``."""
    check_pods(target, command)
    there = {one.name: one for one in read(target).models}
    wanted = [one.name for one in models]
    if missing := [name for name in wanted if name not in there]:
        raise NotUp(f"Stack {target.stack} is up without {', '.join(missing)}.\nFix: {target.up}")
    chosen = [replace(there[name], gateway=target.settings.gateway.implementation) for name in wanted]
    admitted(chosen)
    return chosen


def check_pods(target: Target, command: str) -> None:
    """Raises ``NotUp`` in the rehearsal, which has no pods that ``command`` could send requests to."""
    if target.cloud is Cloud.REHEARSAL:
        raise NotUp(
            "The rehearsal has no pods, so no model answers requests.\n"
            f"Fix: make up STACK={target.stack} CLOUD=laptop, then "
            f"llmd-gke {command} --stack {target.stack} --cloud laptop"
        )
