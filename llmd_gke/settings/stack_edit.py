"""Changing one key of a model in a stack file, without touching the rest: comments, order and quotes stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import yaml

from llmd_gke.settings import stack_yaml
from llmd_gke.settings.stack_files import Unusable

MODELS = "llmd-gke:models"
ROLLOUT = "rollout"


def with_switch(text: str, model: str, key: str, *, on: bool) -> str:
    """The text of a stack file with ``key`` of a model switched on or off; off is the default of such a key.

    Off again removes the line that switching on has added, so the file is as it was. A line with a comment stays, with
    the other value. Raises :class:`~llmd_gke.settings.stack_files.Unusable` for a model that is not there, and for a
    layout that this edit would damage; ``yaml.YAMLError`` for a text that is no stack file.
    """
    node = _node(text, model)
    pairs = _pairs(node)
    value = str(on).lower()
    if key in pairs:
        changed = _removed(text, *pairs[key]) if not on and not node.flow_style else None
        changed = changed or _replaced(text, pairs[key][1], value)
    elif on:
        changed = _added(text, node, "name", key, value)
    else:
        return text
    return _checked(text, changed, model, key, off=False, expected=on)


def with_rollout(text: str, model: str, rollout: Mapping[str, str | int]) -> str:
    """Sets these keys in the ``rollout`` of a model, and leaves others. Raises as :func:`with_switch`."""
    node = _value(_node(text, model), ROLLOUT)
    old: dict[str, object] = {}
    if isinstance(node, yaml.MappingNode):
        old, changed = cast("dict[str, object]", _without(text, model, ROLLOUT)[0]), text
        for key, value in rollout.items():
            there = cast("yaml.MappingNode", _value(_node(changed, model), ROLLOUT))
            pairs = _pairs(there)
            if key in pairs:
                changed = _replaced(changed, pairs[key][1], str(value))
            else:
                changed = _added(changed, there, next(iter(pairs)), key, str(value))
    else:
        written = ", ".join(f"{key}: {value}" for key, value in rollout.items())
        changed = _added(text, _node(text, model), "name", ROLLOUT, f"{{{written}}}")
    return _checked(text, changed, model, ROLLOUT, off=None, expected={**old, **rollout})


def _node(text: str, model: str) -> yaml.MappingNode:
    """The mapping of the model. Raises :class:`Unusable`."""
    node: yaml.Node | None = stack_yaml.compose(text)
    for key in ("config", MODELS):
        node = _value(node, key)
    listed = cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []
    for one in listed:
        name = _value(one, "name")
        if isinstance(one, yaml.MappingNode) and name is not None and name.value == model:
            return one
    raise Unusable(f"{MODELS} has no model {model}", fix="use the name of a model of this stack file")


def _pairs(node: yaml.MappingNode) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    return {pair[0].value: pair for pair in cast("list[tuple[yaml.Node, yaml.Node]]", node.value)}


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return _pairs(node)[key][1] if isinstance(node, yaml.MappingNode) and key in _pairs(node) else None


def _removed(text: str, key: yaml.Node, value: yaml.Node) -> str | None:
    """The text without the line of the key; ``None`` if there is something else on it."""
    begin = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", value.end_mark.index) + 1 or len(text)
    alone = not text[begin : key.start_mark.index].strip(" ") and not text[value.end_mark.index : end].strip()
    return text[:begin] + text[end:] if alone else None


def _replaced(text: str, value: yaml.Node, new: str) -> str:
    return text[: value.start_mark.index] + new + text[value.end_mark.index :]


def _added(text: str, node: yaml.MappingNode, before: str, key: str, value: str) -> str:
    """The text with the key after the key ``before`` of a mapping, on a line of its own unless that is on one line."""
    name, last = _pairs(node)[before]
    after = last.end_mark.index
    if node.flow_style:
        return f"{text[:after]}, {key}: {value}{text[after:]}"
    end = text.find("\n", after)
    end = len(text) if end < 0 else end
    newline = "\r\n" if text[:end].endswith("\r") else "\n"
    end -= len(newline) - 1
    return f"{text[:end]}{newline}{' ' * name.start_mark.column}{key}: {value}{text[end:]}"


def _checked(before: str, after: str, model: str, key: str, *, off: object, expected: object) -> str:
    """The new text, if only the key changed, and to the expected value. ``off``: the value of a missing key."""
    try:
        (_, old), (value, new) = _without(before, model, key), _without(after, model, key)
    except (yaml.YAMLError, StopIteration):
        old, value, new = None, None, after
    if old != new or (off if value is None else value) != expected:
        raise Unusable(
            f"the layout of model {model} does not allow a change by a program",
            fix=f"set {key}: {str(expected).lower()} for model {model} by hand",
        )
    return after


def _without(text: str, model: str, key: str) -> tuple[object, object]:
    content = cast("dict[str, dict[str, object]]", stack_yaml.read(text))
    models = cast("list[dict[str, object]]", content["config"][MODELS])
    return next(one for one in models if one.get("name") == model).pop(key, None), content
