"""Rules about the arguments of ``vllm serve``, and the reader of arguments for all other rules.

Sources: vllm-project/tpu-inference ``tpu_inference/platforms/tpu_platform.py`` @b8692ff01 (arguments and quantization
methods); vllm-project/vllm ``vllm/utils/argparse_utils.py``, ``vllm/entrypoints/openai/cli_args.py`` and
``vllm/engine/arg_utils.py`` @v0.27.0 (how arguments are read, and their names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from llmd_gke.catalog import front_door, tracing, versions, vllm
from llmd_gke.catalog.accelerators import ACCELERATORS, DEFAULT, Accelerator
from llmd_gke.catalog.models import FORMATS
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.versions import version_of

SETTING_OF: Mapping[str, str] = {
    "--tensor-parallel-size": "tensorParallel",
    "--served-model-name": "servedModelName",
    "--max-model-len": "maxModelLen",
    "--max-num-seqs": "maxNumSeqs",
    "--max-num-batched-tokens": "maxNumBatchedTokens",
    "--dtype": "dtype",
    "--enable-prefix-caching": "prefixCaching",
    "--no-enable-prefix-caching": "prefixCaching",
    "--pipeline-parallel-size": "pipelineParallel",
    "--model": "uri",
}
"""The model's settings that set an argument."""

OWNED_ARGUMENTS: Mapping[str, str] = {
    **{argument: f"set {setting}" for argument, setting in SETTING_OF.items()},
    "--port": "the port is always 8000: KServe's Service, the InferencePool and the health checks rely on it",
    "--ssl-certfile": "behind GKE's Gateway the servers use plain HTTP",
    "--ssl-keyfile": "behind GKE's Gateway the servers use plain HTTP",
    "--api-key": "arguments are readable in the pod's specification: authenticate clients in front of the Gateway",
    "--host": "KServe's probes and the InferencePool expect the server's default address",
    "--hf-token": "arguments are readable in the pod's specification: use the secret llmd-gke:hfToken",
    "--config": "a file could set any argument: write the arguments themselves",
    "--headless": "the server would open no port",
    "--grpc": "the Gateway and the health checks use HTTP",
    "--uds": "the server would open no port",
    "--root-path": "the Gateway removes the model's path before the server sees it",
    "--disable-log-stats": "alerts, autoscaling and the endpoint picker read the server's metrics",
}
"""Arguments that are set by a typed setting, or not allowed at all, with what to do or why."""

SHUTDOWN_TIMEOUT = "--shutdown-timeout"
SHUTDOWN_TIMEOUT_SINCE = (0, 18)
"""First version of vLLM (major, minor) with ``--shutdown-timeout`` (vllm-project/vllm#36666)."""

UNLOGGED = ("--disable-access-log-for-endpoints", "/health,/metrics")
UNLOGGED_SINCE = (0, 16)
"""Paths that the server does not log, where it knows the argument (vllm-project/vllm#30011): the picker reads
``/metrics`` twenty times a second, which was 94 % of a log."""

NUMBERED_AS_VLLM = (
    "vllm/vllm-openai",
    *(versions.pinned_image(kind.image).home.partition("/")[2] for kind in ACCELERATORS),
)
"""Suffixes of the names of images whose tags are vLLM's versions, also in mirrors. Others have a numbering of their
own: ``rhaiis/vllm-tpu-rhel9:3.2.5`` contains a vLLM of 2025, which would exit on an argument that it does not know."""

LORA_MODULES, LORA_RANK = "--lora-modules", "--max-lora-rank"
TRUST_REMOTE_CODE = "--trust-remote-code"
CHANGE_CONTEXT = ("--hf-overrides", "--rope-scaling")
"""Arguments that change the maximum context of a model."""

KNOWN_ARGUMENTS = frozenset(
    {
        *OWNED_ARGUMENTS,
        *(name for kind in ACCELERATORS for name in kind.refused_arguments),
        "--quantization",
        "--kv-transfer-config",
        SHUTDOWN_TIMEOUT,
        LORA_MODULES,
        TRUST_REMOTE_CODE,
        *CHANGE_CONTEXT,
        front_door.FORCED_USAGE,
        front_door.UNFORCED_USAGE,
        *tracing.ARGUMENTS,
    }
)
"""The arguments that any rule is about."""

# Also where it is ambiguous, `--quant` counts as `--quantization`: 0.27 exits on it, older versions take it.
COMPLETED = vllm.OPTIONS - {"--quantization-config"}
"""The arguments that the server completes from a beginning."""

SHORT_ARGUMENTS: Mapping[str, str] = {**vllm.SHORT, "-t": "--tensor-parallel-size"}
"""vLLM's short names. ``-t`` is argparse's abbreviation of ``-tp``."""

RAY_HEAD = "--head"
"""No abbreviation in the pod of a leader, whose script may have ``ray start --head`` as well."""

TWO_IN_ONE = re.compile(r"(--?[A-Za-z][\w-]*)\s+(?=\S)")
"""An argument and its value in one entry of a list: no shell splits it."""
OPTION = re.compile(r"--?[A-Za-z]")
EXPANDED = re.compile(r"(-[^=]*)?\$\(")
"""A variable of the pod where the name of an argument stands, or as an entry of its own."""
STARTS_SERVER = re.compile(r"(^|/)vllm$|vllm\.entrypoints")
"""The program of a command line that starts the server."""
SEPARATORS = frozenset({"&&", "||", "|", "&", "|&", "then", "fi", "done"})
"""Words of a shell after which another command may stand."""
JOINED = re.compile(r"^-q(?=[a-z][a-z0-9_-]{2,}$)")
"""argparse takes the value of an option of one letter also without a space: ``-qawq``."""


def meanings(name: str) -> list[str]:
    """The arguments that begin with ``name``, or only that of exactly this name."""
    exact = name in vllm.OPTIONS or name in vllm.REMOVED or name in KNOWN_ARGUMENTS
    return [name] if exact else sorted(one for one in COMPLETED if one.startswith(name))


def expanded(written: str) -> str:
    """The name by which the server knows an argument: without underscores and keys, and in full.

    argparse completes an unambiguous beginning: ``--por`` is ``--port``. A name that the server does not have stays as
    it is, but for its underscores.
    """
    if not written.startswith("--"):
        return SHORT_ARGUMENTS.get(written, written)
    name = written.replace("_", "-")
    full = meanings(name.partition(".")[0])
    return full[0] if len(full) == 1 else name


class Argument(NamedTuple):
    """An argument of a server as the server reads it."""

    written: str
    """Its name as in the pod or the settings."""
    name: str
    """Its full name: :func:`expanded`."""
    values: tuple[str, ...]
    """The text behind ``=``, or all words up to the next argument."""

    @property
    def value(self) -> str:
        """The first value, or nothing."""
        return self.values[0] if self.values else ""

    @property
    def key(self) -> str:
        """The key of a JSON value: ``a`` of ``--hf-overrides.a=1``."""
        return self.written.partition(".")[2]

    @property
    def abbreviated(self) -> bool:
        """Whether the server has to complete the name."""
        return self._short and self.written.startswith("--")

    @property
    def shown(self) -> str:
        """The name for messages."""
        return f"{self.written} (short for {self.name})" if self._short else self.name

    @property
    def _short(self) -> bool:
        return self.name not in (name := self.written.replace("_", "-"), name.partition(".")[0])


def read(argv: Iterable[str]) -> list[Argument]:
    """The arguments among the words of a command line; those before the first one are left out."""
    result: list[Argument] = []
    for word in argv:
        if OPTION.match(word):
            written, given, value = JOINED.sub("-q=", word).partition("=")
            result.append(Argument(written, expanded(written), (value,) if given else ()))
        elif result:
            result[-1] = result[-1]._replace(values=(*result[-1].values, word))
    return result


def _starts(argv: Sequence[str]) -> list[int]:
    return [
        position
        for position, (before, word) in enumerate(pairwise(["", *argv]))
        if (word == "serve" and re.search(r"(^|/)vllm$", before)) or re.match(r"vllm\.entrypoints\..*api_server", word)
    ]


def servers(argv: Sequence[str]) -> int:
    """How often a command line, which may be a script, starts vLLM's server."""
    return len(_starts(argv))


def is_server(argv: Iterable[str]) -> bool:
    """Whether a command line may be a server's: it has one of vLLM's arguments, written in full."""
    return any(
        one.name in KNOWN_ARGUMENTS and one.written.startswith("--") and not one.abbreviated for one in read(argv)
    )


def server_words(argv: Sequence[str], *, command: bool) -> Sequence[str]:
    """The words that vLLM's server gets: those behind its start, or all of a container without a ``command``."""
    starts = _starts(argv)
    if not starts:
        return () if command else argv
    return list(takewhile(lambda word: word not in SEPARATORS and not word.endswith(";"), argv[starts[0] + 1 :]))


def hides_words(argv: Iterable[str]) -> bool:
    """Whether a variable stands where arguments may be: ``$ARGS``, ``$@``, ``$(EXTRA)``."""
    return any(word.startswith("$") or EXPANDED.match(word) for word in argv)


def vllm_version(image: str) -> tuple[int, ...] | None:
    """The version (major, minor) of the server, by the image's name and tag; ``None`` if these do not tell."""
    name, _, tag = image.split("@")[0].rpartition(":")
    if not any(f"/{name}".endswith(f"/{vllm_image}") for vllm_image in NUMBERED_AS_VLLM):
        return None
    version = version_of(tag)
    return None if version is None else version[:2]


def takes_shutdown_timeout(image: str) -> bool:
    """Whether the server supports ``--shutdown-timeout``; an image of unknown version does not."""
    return (vllm_version(image) or (0,)) >= SHUTDOWN_TIMEOUT_SINCE


def takes_unlogged(image: str) -> bool:
    """The same for :data:`UNLOGGED`."""
    return (vllm_version(image) or (0,)) >= UNLOGGED_SINCE


def logs_metric_reads(image: str, extra_args: Sequence[str]) -> bool:
    """Whether a server of the image logs each read of ``/metrics``: without :data:`UNLOGGED`, or with another value."""
    paths = [one.value for one in read(extra_args) if one.name == UNLOGGED[0]]
    if not paths:
        return not takes_unlogged(image)
    return "/metrics" not in paths[-1].split(",")


def owned_arguments(image: str, *, offloads: bool = False, adapts: bool = False) -> Mapping[str, str]:
    """As :data:`OWNED_ARGUMENTS`, for the servers of an image; ``offloads``: with KV cache in the host's memory;
    ``adapts``: with adapters of the settings.
    """
    drains = {SHUTDOWN_TIMEOUT: "set drainSeconds"} if takes_shutdown_timeout(image) else {}
    connects = dict.fromkeys(("--kv-transfer-config", "--kv-offloading-size"), "set kvOffloadGb") if offloads else {}
    loads = {**dict.fromkeys(("--enable-lora", LORA_MODULES), "set adapters"), LORA_RANK: "set adapterRank"}
    return {**OWNED_ARGUMENTS, **drains, **connects, **(loads if adapts else {})}


def spaced(word: str, rule: str) -> Iterator[Finding]:
    """An argument and its value are two entries of a list, or joined by ``=``."""
    if match := TWO_IN_ONE.match(word):
        yield Finding(
            rule,
            f"{match[1]} and its value are in one entry: the server treats the whole entry as the name of an argument",
            allowed=f"{match[1]}=VALUE, or two entries",
            fix=f"write {match[1]}={word[match.end() :].strip()}",
        )


def server_arguments(
    argv: Iterable[str], kind: Accelerator = DEFAULT, *, owned: Mapping[str, str] = OWNED_ARGUMENTS
) -> Iterator[Finding]:
    """No argument that makes the server exit on the accelerator, or that changes what a typed setting writes.

    ``owned``: the arguments that settings write. Without any, ``argv`` is a whole command line that has them,
    which may be that of another program.
    """
    rule = kind.rule("server-argument")
    single: list[str] = []
    for word in argv:
        if TWO_IN_ONE.match(word):
            yield from spaced(word, rule)
        elif owned and EXPANDED.match(word):
            yield Finding(
                rule,
                f"{word}: Kubernetes replaces a variable before the server reads it, which may make it any argument",
                allowed="--ARGUMENT=$(VARIABLE)",
                fix=f"write the name of the argument before {word[word.index('$') :]}",
            )
        else:
            single.append(word)
    arguments = read(single)
    in_full = [argument.name for argument in arguments if not argument.abbreviated]
    completes = bool(owned) or not KNOWN_ARGUMENTS.isdisjoint(in_full) or any(map(STARTS_SERVER.search, single))
    for argument in arguments:
        written, name, value = argument.written, argument.name, argument.value
        if name in kind.refused_arguments:
            yield Finding(rule, f"{argument.shown}: {kind.refused_arguments[name]}", fix=f"remove {written}")
        elif name in owned:
            yield Finding(rule, f"{argument.shown} must not be set here: {owned[name]}", fix=f"remove {written}")
        elif owned and len(several := meanings(name)) > 1:
            problem = f"{written} abbreviates several arguments of the server: {', '.join(several)}"
            yield Finding(rule, problem, fix="write the name in full")
        elif argument.abbreviated and completes and name in KNOWN_ARGUMENTS and (owned or written != RAY_HEAD):
            problem = f"{argument.shown}: a server that has another argument with this beginning exits"
            yield Finding(rule, problem, allowed=name, fix=f"write {name}, or remove it")
        elif value not in kind.quantizations and (
            name == "--quantization" or (name == "--load-format" and value in FORMATS)
        ):
            yield Finding(
                rule,
                f"{argument.shown} {value} does not run on {kind.name}",
                allowed=", ".join(sorted(kind.quantizations)),
                fix=f"use a quantization that {kind.name} supports, or remove the argument",
            )
        elif name == "--kv-transfer-config" and not _connects(argument, kind):
            yield Finding(
                rule,
                f"{argument.shown} names a connector that does not run on {kind.name}",
                allowed=", ".join(sorted(kind.kv_connectors)),
                fix=f"remove {written}",
            )
        elif owned and name == LORA_MODULES and in_full.count(name) > 1:
            problem = f"{name} is given {in_full.count(name)} times: the server keeps only the last one"
            yield Finding(rule, problem, fix=f"write all adapters after one {name}")
            in_full = [one for one in in_full if one != name]


def _connects(argument: Argument, kind: Accelerator) -> bool:
    """Whether the connector of ``--kv-transfer-config`` runs on the accelerator, given as JSON or by its key."""
    if argument.key:
        return argument.key != "kv_connector" or argument.value in kind.kv_connectors
    return any(f'"{connector}"' in argument.value for connector in kind.kv_connectors)
