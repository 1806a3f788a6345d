"""Descriptions of settings: the docstring below each field of a section, read from the source text.

Pydantic can read them, too (``use_attribute_docstrings``), but does so when the classes are created, which would slow
down every preview.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import cast

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from llmd_gke.settings.parse import models_in

_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_CODE = re.compile(r"``([^`]+)``")


def sections_in(section_type: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The section and every section below it, those at several keys several times."""
    yield section_type
    for field in section_type.model_fields.values():
        for inner in models_in(field.annotation):
            yield from sections_in(inner)


def about(section_type: type[BaseModel]) -> str:
    """The description of a section: the first paragraph of its docstring."""
    return _in_words(inspect.cleandoc(section_type.__doc__ or "").split("\n\n")[0])


def keys(section_type: type[BaseModel]) -> dict[str, str]:
    """A description for each field that has a docstring, by the field's name in Python."""
    body = cast("ast.ClassDef", ast.parse(textwrap.dedent(inspect.getsource(section_type))).body[0]).body
    descriptions: dict[str, str] = {}
    for field, below in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            descriptions[field.target.id] = _in_words(below.value.value)
    return descriptions


def _in_words(text: str) -> str:
    """Rewrites a docstring for readers of stack files: camelCase keys, ``null``, no roles of reStructuredText."""
    text = _ROLE.sub(r"``\1``", " ".join(text.split()))
    return _CODE.sub(lambda match: f"`{_of_yaml(match[1])}`", text)


def _of_yaml(word: str) -> str:
    if word == "None":
        return "null"
    return to_camel(word) if re.fullmatch(r"[a-z]+(_[a-z]+)+", word) else word
