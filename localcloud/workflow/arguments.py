"""Understands just enough of a `pulumi` command line to add the rehearsal's flags to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TAKES_CONFIG_FILE = frozenset(
    {"up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch", "logs"}
)
"""Subcommands and their aliases with ``--config-file`` (pulumi/pulumi v3.259.0, pkg/cmd/pulumi/operations)."""

ROOT_VALUES = frozenset(
    {
        "-C",
        "--cwd",
        "--color",
        "-v",
        "--verbose",
        "--tracing",
        "--otel-traces",
        "--profiling",
        "--memprofilerate",
        "--tracing-header",
    }
)
"""Flags before the subcommand that take a value as a word of its own (pkg/cmd/pulumi/pulumi.go)."""

STACK_NEW = frozenset({"new", "init", "create", "setup"})
STACK_REMOVE = frozenset({"remove", "rm", "delete"})


@dataclass(frozen=True)
class Call:
    """A parsed command line. ``positional``: the subcommand and all following words that are not flags.

    ``packs`` and ``pack_configs`` are the values of ``--policy-pack`` and ``--policy-pack-config``.
    """

    arguments: tuple[str, ...]
    folder: str | None
    stack: str | None
    config_file: str | None
    positional: tuple[str, ...]
    packs: tuple[str, ...] = ()
    pack_configs: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The subcommand, empty when there is none."""
        return self.positional[0] if self.positional else ""

    @property
    def subcommand(self) -> str:
        """The word after the subcommand, as in ``stack init``."""
        return self.positional[1] if len(self.positional) > 1 else ""

    def has(self, *flags: str) -> bool:
        """Whether one of the flags is given, before ``--``."""
        return any(word in flags for word in before_dashes(self.arguments))

    def adding(self, *flags: str) -> list[str]:
        """The command line with flags added, before ``--`` if there is one."""
        first = before_dashes(self.arguments)
        return [*first, *flags, *self.arguments[len(first) :]]

    def elsewhere(self, folder: str) -> list[str]:
        """The command line, run in another folder: the last ``-C`` counts."""
        return self.adding("-C", folder)

    def without(self, *flags: str) -> list[str]:
        """The command line without some flags that take no value."""
        first = before_dashes(self.arguments)
        return [*(word for word in first if word not in flags), *self.arguments[len(first) :]]


def before_dashes(arguments: Sequence[str]) -> list[str]:
    """The words before ``--``."""
    argv = list(arguments)
    return argv[: argv.index("--")] if "--" in argv else argv


def parse(arguments: Sequence[str]) -> Call:
    """Parses a command line. Unknown flags are assumed to take no value."""
    positional: list[str] = []
    values: dict[str, str] = {}
    packs: list[str] = []
    pack_configs: list[str] = []
    repeated = {"packs": packs, "pack_configs": pack_configs}
    names = {
        "-C": "folder",
        "--cwd": "folder",
        "-s": "stack",
        "--stack": "stack",
        "--config-file": "config_file",
        "--policy-pack": "packs",
        "--policy-pack-config": "pack_configs",
    }

    def take(name: str, value: str) -> None:
        if name in repeated:
            repeated[name].extend(value.split(","))
        else:
            values[name] = value

    pending: str | None = None
    for word in before_dashes(arguments):
        if pending is not None:
            take(pending, word)
            pending = None
        elif word in names:
            pending = names[word]
        elif word in ROOT_VALUES:
            pending = word
        elif word.startswith("--") and "=" in word and word.split("=", 1)[0] in names:
            flag, value = word.split("=", 1)
            take(names[flag], value)
        elif len(word) > 2 and word[:2] in ("-C", "-s"):
            take(names[word[:2]], word[2:].removeprefix("="))
        elif not word.startswith("-") or word == "-":
            positional.append(word)
    return Call(
        arguments=tuple(arguments),
        folder=values.get("folder"),
        stack=values.get("stack"),
        config_file=values.get("config_file"),
        positional=tuple(positional),
        packs=tuple(packs),
        pack_configs=tuple(pack_configs),
    )
