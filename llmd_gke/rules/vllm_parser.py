"""Rules about what the parser of vLLM's server accepts: names, values, and arguments that need another one.

Source: the parser itself, recorded in ``llmd_gke/catalog/vllm.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.catalog import vllm
from llmd_gke.catalog.accelerators import DEFAULT, Accelerator
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.vllm_arguments import OWNED_ARGUMENTS, Argument, meanings
from llmd_gke.wording import nearest

PLUGINS = frozenset({"--tool-parser-plugin", "--reasoning-parser-plugin"})


def settings(
    argv: Sequence[str], image: str, kind: Accelerator = DEFAULT, *, owned: Mapping[str, str] = OWNED_ARGUMENTS
) -> Iterator[Finding]:
    """The server accepts the arguments of a setting. ``image``: the server's, which tells its version. ``owned``: the
    arguments that other settings write, and which other rules are about.
    """
    rule = kind.rule("server-argument")
    words = [word for word in argv if not vllm_arguments.TWO_IN_ONE.match(word)]
    if words and not vllm_arguments.OPTION.match(words[0]) and not vllm_arguments.EXPANDED.match(words[0]):
        yield Finding(rule, f"{words[0]} belongs to no argument, and the server exits", fix=f"remove {words[0]}")
    arguments = vllm_arguments.read(words)
    for argument in arguments:
        if argument.name not in owned and argument.name not in kind.refused_arguments:
            yield from _name(argument, image, kind, owned)
            yield from _needs(argument, arguments, kind)
            yield from _parser(argument, arguments, image, kind)
            yield from _values(argument, rule)


def server(argv: Sequence[str], image: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """As :func:`settings`, for the words that follow the start of the server in a pod's command line.

    Words of a script are no values of the arguments before them, so their number is not checked.
    """
    arguments = vllm_arguments.read(argv)
    for argument in arguments:
        if argument.name not in kind.refused_arguments:
            yield from _name(argument, image, kind, {})
            yield from _parser(argument, arguments, image, kind)
            if not vllm_arguments.hides_words(argv):
                yield from _needs(argument, arguments, kind)


def _name(argument: Argument, image: str, kind: Accelerator, owned: Mapping[str, str]) -> Iterator[Finding]:
    """The server has the argument. Where its version is not known, what may be wrong is a warning."""
    rule, version = kind.rule("server-argument"), vllm_arguments.vllm_version(image)
    name, written = argument.name.partition(".")[0], argument.written
    if name in vllm.REMOVED:
        last, instead = vllm.REMOVED[name]
        if version is None or version > last:
            yield Finding(
                rule,
                f"{name}: vLLM {vllm.shown(last)} is the last version that has it, and later ones exit",
                fix=f"write {instead} instead of {written}" if instead.startswith("--") else f"remove {written}",
                severity="error" if version else "warning",
            )
        return
    if name in vllm.OPTIONS or len(meanings(name)) > 1 or not name.startswith("--"):
        return
    meant = nearest(name, (*owned, *kind.refused_arguments), cutoff=0.92)
    if version == vllm.VERSION:
        near = meant or nearest(name, sorted(vllm.OPTIONS), cutoff=0.8)
        advice = f"write {near}, or remove {written}" if near else f"remove {written}"
        yield Finding(
            rule,
            f"vLLM {vllm.shown(vllm.VERSION)} has no argument {name}, and exits",
            fix=owned.get(near or "", advice),
        )
    elif meant and name.replace("--no-", "--") != meant:
        yield Finding(
            rule,
            f"{name} looks like a misspelling of {meant}: the server exits on unknown arguments",
            fix=owned.get(meant, f"remove {meant}"),
            severity="warning",
        )


def _needs(argument: Argument, arguments: Sequence[Argument], kind: Accelerator) -> Iterator[Finding]:
    needed = vllm.NEEDS.get(argument.name)
    if needed and needed not in {one.name for one in arguments}:
        fix = f"add {needed}, or remove {argument.written}"
        yield Finding(kind.rule("server-argument"), f"{argument.shown} without {needed}: the server exits", fix=fix)


def _parser(argument: Argument, arguments: Sequence[Argument], image: str, kind: Accelerator) -> Iterator[Finding]:
    names, value = vllm.PARSERS.get(argument.name, frozenset[str]()), argument.value
    known = vllm_arguments.vllm_version(image) == vllm.VERSION and PLUGINS.isdisjoint(one.name for one in arguments)
    if known and names and value not in {*names, ""} and "$" not in value:
        near = nearest(value, sorted(names))
        yield Finding(
            kind.rule("server-argument"),
            f"{argument.shown} {value}: vLLM {vllm.shown(vllm.VERSION)} has no such parser, and exits",
            allowed=", ".join(sorted(names)),
            fix=f"write {near}" if near else "use one of these, or name the plugin that has it",
        )


def _values(argument: Argument, rule: str) -> Iterator[Finding]:
    """As many values as the argument takes: the server exits on a word too many or too few."""
    name, values = argument.name, argument.values
    takes_one = name in vllm.VALUES or bool(argument.key)
    if name in vllm.SWITCHES and values:
        off = f"--no-{name[2:]}"
        fix = f"write {off if values[0].lower() == 'false' and off in vllm.SWITCHES else name} alone"
        yield Finding(rule, f"{argument.shown} takes no value, and the server exits on {values[0]}", fix=fix)
    elif takes_one and len(values) > 1:
        surplus = " ".join(values[1:])
        yield Finding(rule, f"{argument.shown} takes one value: the server exits on {surplus}", fix=f"remove {surplus}")
    elif not values and (takes_one or name in vllm.LISTS - {"--hf-token"}):
        fix = f"write {argument.written}=VALUE, or remove it"
        yield Finding(rule, f"{argument.shown} has no value", fix=fix)
