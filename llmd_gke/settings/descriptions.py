"""What the shapes say about their keys, taken from their source text, so that the program pays nothing for it.

A text below a field (an attribute docstring) describes that field, and so do sentences of the class's docstring that
begin with its name as ``field``. Where there is neither, any sentence counts in which it stands, also below neighbours.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from typing import cast

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

_SENTENCES = re.compile(r"(?<=[.;])\s+(?=``|[A-Z])")
_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_OTHER = re.compile(r"``[a-z_]+``( |:|,)")
"""How a sentence begins that is about another field."""
_CODE = re.compile(r"``([^`]+)``")


def shapes_in(shape: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The shape and every shape below it."""
    yield shape
    for field in shape.model_fields.values():
        for inner in _inside(field.annotation):
            yield from shapes_in(inner)


def _inside(annotation: object) -> Iterator[type[BaseModel]]:
    inner = typing.get_args(annotation)
    if not inner and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in inner:
        yield from _inside(one)


def about(shape: type[BaseModel]) -> str:
    """What the shape as a whole is: the first paragraph of its docstring without the sentences about its keys."""
    first = _paragraphs(shape)[:1]
    own = [sentence for text in first for sentence in _SENTENCES.split(text) if not sentence.startswith("``")]
    return _in_words(" ".join(own))


def keys(shape: type[BaseModel]) -> dict[str, str]:
    """A description for each field of the shape, by the field's name in Python; none for what nothing is said about."""
    below = _attribute_docstrings(shape)
    of_class = [sentence for text in _paragraphs(shape) for sentence in _SENTENCES.split(text)]
    of_fields = [sentence for text in below.values() for sentence in _SENTENCES.split(text)]
    found: dict[str, str] = {}
    for name in shape.model_fields:
        own = [one for one in _SENTENCES.split(below.get(name, "")) if not _OTHER.match(one) or _is_about(name, one)]
        own = [*filter(None, own), *(one for one in of_class if _is_about(name, one))]
        texts = own or _about_field(name, of_class) or _about_field(name, of_fields)
        if texts:
            found[name] = " ".join(_in_words(_without_label(name, text)) for text in texts)
    return found


def _about_field(name: str, sentences: list[str]) -> list[str]:
    subject = [sentence for sentence in sentences if _is_about(name, sentence)]
    return subject or [sentence for sentence in sentences if f"``{name}``" in re.sub(r"\([^)]*\)", "", sentence)][:1]


def _is_about(name: str, sentence: str) -> bool:
    return re.match(rf"(``\w+``(, | and ))*``{name}``", sentence) is not None


def _without_label(name: str, text: str) -> str:
    """``port: of the server`` in a row about ``port`` says it twice."""
    label = f"``{name}``: "
    return text[len(label) :][:1].upper() + text[len(label) + 1 :] if text.startswith(label) else text


def _paragraphs(shape: type[BaseModel]) -> list[str]:
    text = inspect.cleandoc(shape.__doc__ or "")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _attribute_docstrings(shape: type[BaseModel]) -> dict[str, str]:
    node = cast("ast.ClassDef", ast.parse(textwrap.dedent(inspect.getsource(shape))).body[0])
    found: dict[str, str] = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            found[field.target.id] = " ".join(below.value.value.split())
    return found


def _in_words(text: str) -> str:
    """The words of a stack file: camelCase keys, ``null``, no roles of reStructuredText."""
    text = _CODE.sub(lambda found: f"`{_of_yaml(found[1])}`", _ROLE.sub(r"``\1``", text))
    text = text.rstrip(";").strip()
    return text if not text or text.endswith((".", ":")) else f"{text}."


def _of_yaml(word: str) -> str:
    if word == "None":
        return "null"
    return to_camel(word) if re.fullmatch(r"[a-z]+(_[a-z]+)+", word) else word
