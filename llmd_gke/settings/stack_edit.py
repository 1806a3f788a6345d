"""Changing one switch of a model in a stack file, without touching the rest: comments, order and quotes stay."""

from __future__ import annotations

from typing import cast

import yaml

from llmd_gke.settings import stack_yaml
from llmd_gke.settings.stack_files import Unusable

MODELS = "llmd-gke:models"


def with_switch(text: str, model: str, key: str, *, on: bool) -> str:
    """The text of a stack file with ``key`` of a model switched on or off; off is the default of such a key.

    Off again removes the line that switching on has added, so the file is as it was. A line with a comment stays, with
    the other value. Raises :class:`~llmd_gke.settings.stack_files.Unusable` for a model that is not there, and for a
    layout that this edit would damage; ``yaml.YAMLError`` for a text that is no stack file.
    """
    node = _node(text, model)
    pairs = {pair[0].value: pair for pair in cast("list[tuple[yaml.Node, yaml.Node]]", node.value)}
    if key in pairs:
        changed = _replaced(text, *pairs[key], on=on, flow=bool(node.flow_style))
    elif on:
        changed = _added(text, *pairs["name"], key, flow=bool(node.flow_style))
    else:
        return text
    if not _is_same_but(text, changed, model, key, on=on):
        raise Unusable(
            f"the layout of model {model} does not allow a change by a program",
            fix=f"set {key}: {str(on).lower()} for model {model} by hand",
        )
    return changed


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


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
    return next((value for name, value in pairs if name.value == key), None)


def _replaced(text: str, key: yaml.Node, value: yaml.Node, *, on: bool, flow: bool) -> str:
    begin = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", value.end_mark.index) + 1 or len(text)
    alone = not text[begin : key.start_mark.index].strip(" ") and not text[value.end_mark.index : end].strip()
    if alone and not on and not flow:
        return text[:begin] + text[end:]
    return text[: value.start_mark.index] + str(on).lower() + text[value.end_mark.index :]


def _added(text: str, name: yaml.Node, value: yaml.Node, key: str, *, flow: bool) -> str:
    """The text with the key after the model's name, on a line of its own unless the model is on one line."""
    after = value.end_mark.index
    if flow:
        return f"{text[:after]}, {key}: true{text[after:]}"
    end = text.find("\n", after)
    end = len(text) if end < 0 else end
    newline = "\r\n" if text[:end].endswith("\r") else "\n"
    end -= len(newline) - 1
    return f"{text[:end]}{newline}{' ' * name.start_mark.column}{key}: true{text[end:]}"


def _is_same_but(before: str, after: str, model: str, key: str, *, on: bool) -> bool:
    """Whether the new text means the same as the old one, but for the key."""
    try:
        (_, old), (value, new) = _without(before, model, key), _without(after, model, key)
    except (yaml.YAMLError, StopIteration):
        return False
    return value is on and old == new


def _without(text: str, model: str, key: str) -> tuple[object, object]:
    """The key's value of the model, and the content of the file without it."""
    content = cast("dict[str, dict[str, object]]", stack_yaml.read(text))
    models = cast("list[dict[str, object]]", content["config"][MODELS])
    return next(one for one in models if one.get("name") == model).pop(key, False), content
