"""Understands just enough of a `pulumi` command line to add the rehearsal's flags to it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

TAKES_CONFIG_FILE = frozenset(
    {"up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch", "logs"}
)
"""Subcommands and their aliases with ``--config-file`` (pulumi/pulumi v3.259.0, pkg/cmd/pulumi/operations)."""

ROOT_VALUES = (
    ("--color",),
    ("-v", "--verbose"),
    ("--tracing",),
    ("--otel-traces",),
    ("--profiling",),
    ("--memprofilerate",),
    ("--tracing-header",),
)
"""Further flags before the subcommand that take a value as a word of its own (pkg/cmd/pulumi/pulumi.go)."""

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
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-C", "--cwd", dest="folder", nargs="?")
    parser.add_argument("-s", "--stack", dest="stack", nargs="?")
    parser.add_argument("--config-file", nargs="?")
    parser.add_argument("--policy-pack", action="append", nargs="?", const="", default=[])
    parser.add_argument("--policy-pack-config", action="append", nargs="?", const="", default=[])
    for names in ROOT_VALUES:
        parser.add_argument(*names, dest="ignored", nargs="?")
    found, rest = parser.parse_known_args(before_dashes(arguments))
    return Call(
        arguments=tuple(arguments),
        folder=found.folder,
        stack=found.stack,
        config_file=found.config_file,
        positional=tuple(word for word in rest if not word.startswith("-") or word == "-"),
        packs=tuple(name for given in found.policy_pack for name in given.split(",")),
        pack_configs=tuple(name for given in found.policy_pack_config for name in given.split(",")),
    )
