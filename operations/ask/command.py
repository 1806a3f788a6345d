"""``llmd-gke ask``."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from operations import models, outputs
from operations.enter_localcloud import enter, starting
from operations.exits import BadInput, Failed, NotUp
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from llmd_common.kubernetes.fields import Object
    from llmd_gke.settings import ModelSettings
    from operations.ask.kubectl import Kubectl
    from operations.ask.question import Answer


def command(
    prompt: Annotated[str, typer.Argument(help="What to ask.")] = "Say in one sentence what you are.",
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    *,
    cloud: CloudOption = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A model of the stack, or an adapter. Default: its only one.")
    ] = None,
    pod: Annotated[
        str | None, typer.Option("--pod", "-p", help="Ask only this pod. Default: each pod of the model.")
    ] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Maximum number of tokens in an answer.")] = 64,
    path: Annotated[
        str | None, typer.Option(metavar="/PATH", help="Read this path instead of asking a question, e.g. /metrics.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for one pod's answer, in seconds.")] = 60,
    context: Annotated[
        str | None, typer.Option(help="Use this context of your own kubeconfig instead of the stack's output.")
    ] = None,
) -> None:
    """Send a request to each server of a model, bypassing the gateway and the endpoint picker.

    Distinguishes a broken server from a broken gateway: no NetworkPolicy, load balancer or endpoint picker is
    involved. Uses `kubectl port-forward` on Google Cloud, and the pod's address on the laptop cloud.

    Completed pods are ignored.

    Exit status 0: each pod answered; 1: at least one did not; 7: there is no pod; others: see `llmd-gke --help`.
    """
    with starting(f"reading stack {stack}"):
        from operations.ask.question import Question

        target = Target.choose(stack, cloud)
        models.check_pods(target, "ask")
        chosen = models.serving(target, model)
        if path is not None and not path.startswith("/"):
            raise BadInput(
                f"--path: {path} is not a path. Allowed: a path that begins with a slash.\nFix: --path /{path}"
            )
        if context is not None and target.cloud is not Cloud.GOOGLE:
            raise BadInput(f"--context: the {target.cloud} uses its own kubeconfig.\nFix: remove --context")
    enter(target)
    asked = chosen.served_name if model in (None, chosen.name) else model
    question = Question(asked, prompt, tokens, timeout, path)
    with working(f"looking for the pods of {chosen.name}") as work, _kubectl(target, context) as kubectl:
        from llmd_common.kubernetes.fields import name
        from operations.ask.kubectl import is_ready
        from operations.ask.question import Answer, ask

        answers: list[tuple[Object, Answer]] = []
        fixes: dict[str, str] = {}
        for server in _servers(kubectl, chosen, pod, target):
            work.say(f"asking {name(server)}")
            try:
                with _way(kubectl, target, chosen, server) as base:
                    answers.append((server, ask(base, question)))
            except Failed as problem:  # the other pods are still asked
                cause, _, fixes[name(server)] = str(problem).partition("\nFix: ")
                answers.append((server, Answer(0, 0.0, cause)))
    rows = [{"pod": name(server), "ready": is_ready(server), **asdict(answer)} for server, answer in answers]
    lines = [
        f"{name(server)} ({'Ready' if is_ready(server) else 'not Ready'}): {answer.summary()}"
        for server, answer in answers
    ]
    data = {"stack": target.stack, "model": chosen.name, "namespace": chosen.namespace, "asked": path or prompt}
    show(output, {**data, "pods": rows}, *lines)
    bad = [str(row["pod"]) for row in rows if row["status"] != 200]
    if bad:
        fix = fixes.get(bad[0]) or f"kubectl -n {chosen.namespace} logs {bad[0]} -c main"
        raise Failed(f"{len(bad)} of {len(rows)} pods of {chosen.name} did not give a valid answer.\nFix: {fix}")


@contextmanager
def _kubectl(target: Target, context: str | None) -> Generator[Kubectl]:
    from operations.ask.kubectl import Kubectl, by_kubeconfig

    if context is not None:
        yield Kubectl(("--context", context))
        return
    with by_kubeconfig(outputs.kubeconfig(target)) as kubectl:
        yield kubectl


def _servers(kubectl: Kubectl, model: ModelSettings, wanted: str | None, target: Target) -> list[Object]:
    from llmd_common.kubernetes.fields import name
    from operations.ask.kubectl import is_finished

    servers = [one for one in kubectl.servers(model.namespace, model.name) if not is_finished(one)]
    if not servers:
        raise NotUp(
            f"{model.name} has no pods in namespace {model.namespace}.\nFix: llmd-gke status --stack {target.stack}"
        )
    chosen = [one for one in servers if wanted in (None, name(one))]
    if not chosen:
        names = ", ".join(name(one) for one in servers)
        raise BadInput(f"--pod {wanted}: {model.name} has {names}.\nFix: --pod with one of them, or remove it")
    return chosen


def _way(kubectl: Kubectl, target: Target, model: ModelSettings, server: Object) -> AbstractContextManager[str]:
    from llmd_common.kubernetes.fields import name, text
    from llmd_gke.catalog.kserve import WORKLOAD_PORT

    if target.cloud is Cloud.LAPTOP:  # its kubelet forwards no ports; inside, pods are reachable at their addresses
        return nullcontext(f"http://{text(server, 'status', 'podIP')}:{WORKLOAD_PORT}")
    return kubectl.forwarded(model.namespace, name(server), WORKLOAD_PORT)
