"""Rules about the callers of a front door, their keys and limits, and the names by which they choose a model.

The settings' validation uses them. Facts: :mod:`llmd_gke.catalog.front_door`. No message ever contains a key.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from llmd_gke.catalog import front_door
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.finding import Finding

SERVED_NAME = r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$"
"""The names by which requests choose a model."""
CALLER = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
"""Without a dot, which separates a caller from its key's name. Kubernetes objects are named after callers."""
KEY_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?")
KEYS = "llmd-gke:callerKeys"


def set_key(name: str) -> str:
    """The command that sets a key."""
    return f"pulumi config set --secret --path '{KEYS}[\"{name}\"]' (then paste the key)"


def caller_name(name: str) -> Iterator[Finding]:
    """A caller's name can be part of a header, a Secret's key and an object's name."""
    if CALLER.fullmatch(name) is None:
        yield Finding(
            "caller-name",
            "this is not a valid name for a caller",
            allowed="1 to 40 lower-case letters, digits and hyphens, without a hyphen at either end",
            fix="for example team-a",
        )


def caller_of(key_name: str) -> str:
    """The caller that a key belongs to: ``team-a.next`` is a key of ``team-a``."""
    return key_name.partition(".")[0]


def caller_keys(callers: Collection[str], keys: Mapping[str, str | None]) -> Iterator[tuple[str, Finding]]:
    """Findings about keys, each with the key's name. A value is ``None`` if it cannot be read."""
    for caller in callers:
        if not any(caller_of(name) == caller for name in keys):
            yield caller, Finding("caller-key", f"the caller {caller} has no key", fix=set_key(caller))
    for name, value in keys.items():
        caller, dot, own = name.partition(".")
        if caller not in callers:
            finding = Finding(
                "caller-key",
                f"there is no caller {caller}",
                allowed=", ".join(callers),
                fix=f"add it to frontDoor.callers, or `pulumi config rm --path '{KEYS}[\"{name}\"]'`",
            )
            yield name, finding
        elif dot and KEY_NAME.fullmatch(own) is None:
            allowed = f"{caller}, or {caller}.NAME with a NAME of at most 20 lower-case letters, digits and hyphens"
            yield name, Finding("caller-key", "a key has an invalid name", allowed, f"for example {caller}.next")
        if value is not None and (len(value) < front_door.SHORTEST_KEY or not _fits_a_header(value)):
            finding = Finding(
                "caller-key",
                f"a key has fewer than {front_door.SHORTEST_KEY} characters, or one that a header cannot carry",
                allowed=f"at least {front_door.SHORTEST_KEY} printable ASCII characters without a space",
                fix=f"llmd-gke key revoke {name}, then llmd-gke key new {caller}; or {set_key(name)}",
            )
            yield name, finding
    yield from _equal_keys(keys)


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


def _equal_keys(keys: Mapping[str, str | None]) -> Iterator[tuple[str, Finding]]:
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in keys.items():
        if value is not None:
            owners[value].append(name)
    for first, *others in owners.values():
        for other in others:
            problem = f"this key equals that of {first}: requests could not be told apart"
            yield other, Finding("caller-key", problem, fix=set_key(other))


def redis(address: str) -> Iterator[Finding]:
    """``in-cluster``, or an address that Envoy Gateway's rate limiter can connect to."""
    if address != "in-cluster" and re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[0-9]{2,5}", address) is None:
        yield Finding(
            "limiter-redis",
            "this is neither in-cluster nor an address with a port",
            allowed="in-cluster, or HOST:PORT",
            fix="redis: in-cluster",
        )


def one_pool(namespace: str, others: Collection[str]) -> Iterator[Finding]:
    """A namespace has only one model with callers' priorities: an InferenceObjective is for one pool, and its name, the
    caller's, is unique in a namespace.
    """
    if namespace in others:
        yield Finding(
            "caller-priority",
            f"another model or version is in the namespace {namespace}, and callers have different priorities: the "
            "objects that hold them are named after the caller, and each is for one model",
            allowed="one model per namespace, or the same priority for all callers",
            fix="set a namespace of its own for each model, and for each of its versions",
        )


def limits(count: int) -> Iterator[Finding]:
    """All limits of all callers together fit into one policy."""
    if count > front_door.MOST_RULES:
        yield Finding(
            "caller-limits",
            f"the callers have {count} limits; Envoy Gateway accepts at most {front_door.MOST_RULES}",
            allowed=f"at most {front_door.MOST_RULES} of requestsPerMinute, tokensPerDay and tokensPerMonth together",
            fix="remove limits, or let several users share a caller",
        )


def adapters(arguments: Sequence[str]) -> tuple[str, ...]:
    """Names of the LoRA adapters that vLLM serves, from its arguments: ``--lora-modules sql=/path``, or JSON.

    Of several ``--lora-modules`` the server keeps the last.
    """
    given = [one.values for one in vllm_arguments.read(arguments) if one.name == vllm_arguments.LORA_MODULES]
    return tuple(name for entry in given[-1] for name in _adapter(entry)) if given else ()


def _adapter(entry: str) -> Iterator[str]:
    if not entry.startswith("{"):
        yield entry.partition("=")[0]
        return
    try:
        described = cast("object", json.loads(entry))
    except json.JSONDecodeError:
        return
    if isinstance(described, dict) and isinstance(name := cast("dict[str, object]", described).get("name"), str):
        yield name


def adapter_names(arguments: Sequence[str]) -> Iterator[Finding]:
    """Names of adapters can be part of a header, of the door's script and of a route's regular expression."""
    for name in adapters(arguments):
        if re.fullmatch(SERVED_NAME, name) is None:
            yield Finding(
                "served-name",
                f"{name!r} in {vllm_arguments.LORA_MODULES} cannot be the name of a model at the front door",
                allowed="at most 128 letters, digits, dots, underscores, slashes and dashes, with a letter or digit at "
                "the start",
                fix="rename the adapter",
            )


def unique_names(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Finding]]:
    """``names``: the names that each model answers to. A finding comes with the model whose name is already used."""
    owner: dict[str, str] = {}
    for model, served in names.items():
        for name in served:
            if owner.setdefault(name, model) != model:
                finding = Finding(
                    "served-name",
                    f"{owner[name]} answers to {name}, too: the front door chooses the model by its name",
                    allowed="a name that no other model or adapter has",
                    fix="set servedModelName, or rename the adapter",
                )
                yield model, finding
