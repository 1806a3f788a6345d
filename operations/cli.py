"""``llmd-gke``: one entry for every command, each in a module of its own that is imported when it is called.

A new command is one line in :data:`COMMANDS` and a function ``command`` in its module, with the options of
:mod:`operations.options`. Expected failures are exceptions of :mod:`operations.exits`: ``main`` prints them on standard
error and returns their exit status. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import cast

import typer

from llmd_common.bootstrap import disk_problem
from operations.exits import MEANINGS, Exit, Problem
from operations.target import root_folder

PROGRAM = "llmd-gke"


COMMANDS: dict[str, str] = {
    "doctor": "Find what would make `pulumi up` fail, before anything is created.",
    "adopt": "Propose a stack for a cluster that exists, and what it imports.",
    "audit": "Apply the policies to manifests, charts, clusters and plans.",
    "cost": "Show chips, nodes and price of a stack before it is created.",
    "comment": "Describe what a change does, as a comment for a pull request.",
    "preview-copy": "Copy a stack without its secrets, for previews in CI.",
    "report-drift": "Report the nightly comparison to Cloud Monitoring.",
    "graph": "Draw the graph of a stack: components, edges, critical chain.",
    "timeline": "Estimate how long a first update takes until models answer.",
    "status": "Show the status on one screen: nodes, pods, routes and a test request.",
    "alerts": "Print a stack's alerts as a Prometheus rules file.",
    "dashboard": "Show the link to a stack's dashboard; export its panels for Grafana.",
    "logs": "Print log queries for the most frequent questions.",
    "key": "Create, rotate or revoke a key of a caller of the front door.",
    "stop": "Stop a model, so that its hosts cost nothing until it is started.",
    "start": "Start a stopped model, and wait until it serves.",
    "rollout": "Move requests from one version of a model to another, step by step, and back.",
    "upgrade": "Move a stack to this release's versions, one component after the other.",
    "usage": "Show requests and tokens by caller and model of the front door.",
    "smoke": "Check everything that clients rely on.",
    "ask": "Send a request to each pod of a model, bypassing the gateway.",
    "live": "Create a stack on Google Cloud, test and measure it, and destroy it.",
    "destroy": "Destroy a stack, and retry while Google still uses its network.",
    "bench": "Measure throughput, time to first token and price of a model.",
}
"""The line of each command in their list."""


def module_of(command: str) -> str:
    """The module with a command's function ``command``; that of the pack's wheel has ``main``, without Typer."""
    return "policies.audit.cli" if command == "audit" else f"operations.{command.replace('-', '_')}.command"


def application(arguments: Sequence[str]) -> typer.Typer:
    """The Typer application. Only the called command is imported; for the others, only the name and the help line are
    known.
    """
    statuses = " · ".join(f"{status.value} {meaning}" for status, meaning in MEANINGS.items())
    app = typer.Typer(
        help=f"Operate a stack: before it is created, while it serves, and in a pull request.\n\nExit status: "
        f"{statuses}.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(lambda: None)
    called = next((word for word in arguments if not word.startswith("-")), "")
    for name, line in COMMANDS.items():
        if name == called:
            function = cast("Callable[..., None]", importlib.import_module(module_of(name)).command)
            app.command(name)(function)  # its help is its docstring
        else:
            app.command(name, help=line)(_not_called)
    return app


def _not_called() -> None:
    raise AssertionError("only the called command is imported")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status. An expected failure prints its message: cause, then fix."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    # Google's libraries warn of the end of a Python version's support years ahead, amid a command's output.
    warnings.filterwarnings("ignore", message="You are using a Python version", category=FutureWarning)
    try:
        if argv[:1] == ["audit"]:
            return int(importlib.import_module(module_of("audit")).main(argv[1:], f"{PROGRAM} audit"))
        application(argv)(args=argv, prog_name=PROGRAM)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return int(problem.status)
    except OSError as error:
        if not (refused := disk_problem(error)):
            raise
        print(refused, file=sys.stderr)
        return Exit.NOT_SET_UP
    except KeyboardInterrupt:
        return _stopped()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if status == Exit.WRONG_INPUT and (meant := _meant(argv)) != argv:
            print(f"Fix: {PROGRAM} {' '.join(meant)}", file=sys.stderr)
        return _stopped() if status == Exit.STOPPED else status
    return Exit.DONE


def _meant(argv: Sequence[str]) -> list[str]:
    """The arguments with the command first, and the option before a word that can only be a stack or a model."""
    called = next((word for word in argv if word in COMMANDS), None)
    if called is None:
        return list(argv)
    rest = list(argv)
    rest.remove(called)
    command = typer.main.get_group(application([called])).commands[called]
    options = {name for parameter in command.params for name in parameter.opts}
    parsed = command.make_context(
        called, list(rest), allow_extra_args=True, ignore_unknown_options=True, resilient_parsing=True
    )
    once = {
        name for parameter in command.params if not getattr(parameter, "multiple", False) for name in parameter.opts
    }
    given = {"--stack" if word == "-s" else word.partition("=")[0] for word in rest} & once
    extra = [word for word in parsed.args if not word.startswith("-")]
    meant = [called]
    for word in rest:
        if word in extra:
            if meant[-1].startswith("-") and meant[-1] not in options:
                meant.pop()  # a misspelt option
            stack = "--model" not in options or (root_folder() / f"Pulumi.{word}.yaml").is_file()
            option = "--stack" if stack else "--model"
            if option in given:
                continue  # one at a time
            given |= {option} & once
            meant.append(option)
        meant.append(word)
    return meant


def _stopped() -> int:
    print("\nStopped. You can run the command again.", file=sys.stderr)
    return Exit.STOPPED
