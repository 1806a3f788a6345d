"""Reading a stack's settings from its file, without the engine."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import cast

import yaml

from llmd_gke.checks.finding import Finding
from llmd_gke.settings.errors import SettingsError
from llmd_gke.settings.parse import NAMESPACE, SECRETS, Checked, parse
from llmd_gke.settings.rules import Located


def load_stack(root: Path, stack: str, *, need_secrets: bool = False) -> Checked:
    """The settings of ``Pulumi.<stack>.yaml`` in the folder ``root``.

    ``need_secrets``: also report secrets that the stack needs and the file lacks. Raises :class:`SettingsError` for
    a file that is missing or unreadable, and for everything that :func:`parse` refuses.
    """
    config = read_config(root, stack)
    present = [key for key in config if key in {f"{NAMESPACE}:{secret}" for secret in SECRETS}]
    return parse(config, stack, present if need_secrets else None)


def read_config(root: Path, stack: str) -> dict[str, object]:
    """The ``config`` table of a stack file as it stands. Raises :class:`SettingsError`."""
    file = root / f"Pulumi.{stack}.yaml"
    try:
        content: object = yaml.load(file.read_text(encoding="utf-8"), Loader=_OnceLoader)  # noqa: S506 - a safe one
    except FileNotFoundError:
        stacks = sorted(path.name.split(".")[1] for path in root.glob("Pulumi.*.yaml"))
        raise _broken(
            stack,
            f"{file.name} does not exist",
            ", ".join(stacks),
            f"choose a stack, e.g. STACK={stacks[0]}" if stacks else f"copy a stack file to {file.name}",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(stack, f"{file.name} cannot be read: {error}", "", "make the file readable") from None
    except yaml.YAMLError as error:
        raise _broken(
            stack, f"{file.name} is not YAML: {_place(error)}", "", "correct the file at that place"
        ) from None
    config = cast("Mapping[str, object]", content).get("config") if isinstance(content, Mapping) else None
    if not isinstance(config, Mapping):
        raise _broken(stack, f"{file.name} has no table `config:`", "", "see Pulumi.eu4a.yaml for a complete one")
    return {str(key): value for key, value in cast("Mapping[object, object]", config).items()}


class _OnceLoader(yaml.SafeLoader):
    """Refuses a key that stands twice: YAML keeps the last one in silence, and a setting would be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value} stands there twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _place(error: yaml.YAMLError) -> str:
    """What is wrong and where, without the line itself: it may hold a secret."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return "it cannot be read"
    mark = error.problem_mark
    return f"{error.problem}, line {mark.line + 1}, column {mark.column + 1}"


def _broken(stack: str, problem: str, allowed: str, fix: str) -> SettingsError:
    return SettingsError(stack, [Located(f"Pulumi.{stack}.yaml", None, Finding("stack-file", problem, allowed, fix))])
