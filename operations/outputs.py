"""Outputs of a stack, which the engine reads from its state backend. Secrets are only decrypted on request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from llmd_common import child_process
from llmd_common.kubernetes.fields import each
from llmd_gke import protection
from llmd_gke.manifests.client_request import IDENTITY_VARIABLE, KEY_VARIABLE
from localcloud.common.workdir import Workdir
from operations.exits import BadInput, NotUp, Problem, SetUpFailed, Unreachable
from operations.options import Cloud
from operations.printing import short
from operations.target import KINDS, Target

ANSWER_SECONDS = 60
"""Seconds that a state backend (a bucket, Pulumi Cloud) may take to answer."""

RESOURCES = ("deployment", "resources")
"""Where an exported state has them."""

NOT_SIGNED_IN = 3
NO_SUCH_STACK = 6
"""Exit statuses of the engine since v3.226.1 (https://www.pulumi.com/docs/iac/cli/exit-codes/), and thus of our oldest
supported one.

``pulumi.automation`` recognizes a missing stack by the text of the engine's message, decrypts every secret to list
outputs, and adds the caller's environment to that of a local cloud; the command itself does none of that.
"""


@dataclass(frozen=True)
class Endpoint:
    """The endpoint of one model for clients: base URL without ``/v1``, and the name that they send as ``model``.

    ``behind_door``: through the front door, with the ``key`` of a caller; ``namespace`` is the model's there, and
    elsewhere part of the URL. ``behind_iap``: requests also need Google's token ``identity``, which IAP checks.
    ``gateway``: the class of the Gateway.
    """

    name: str
    url: str
    served_model_name: str
    behind_door: bool = False
    gateway: str = "gke"
    namespace: str = ""
    key: str = field(default="", repr=False)
    behind_iap: bool = False
    identity: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request that say who sends it."""
        given = {"authorization": self.key, "proxy-authorization": self.identity}
        return {name: f"Bearer {value}" for name, value in given.items() if value}


@dataclass(frozen=True)
class Outputs:
    """A stack's outputs, without secrets. ``values`` are the exported values; a secret's is ``[secret]``."""

    gateway_ip: str
    models: tuple[Endpoint, ...]
    cluster: Mapping[str, str]
    values: Mapping[str, object]


def read(target: Target) -> Outputs:
    """The outputs of a deployed stack.

    Raises ``NotUp`` if it is not deployed, ``SetUpFailed`` without an engine, ``Unreachable`` if its state cannot be
    read.
    """
    values = cast("Mapping[str, object]", json.loads(_ask(target, "stack", "output", "--json") or "{}"))
    missing = [name for name in ("gatewayIp", "models", "cluster") if not values.get(name)]
    if missing:
        raise NotUp(
            f"Stack {target.stack} on {target.cloud} has no output {', '.join(missing)}: it is not up, or only partly."
            f"\nFix: {target.up}"
        )
    models = cast("Mapping[str, Mapping[str, str]]", values["models"])
    return Outputs(
        gateway_ip=str(values["gatewayIp"]),
        models=tuple(_endpoint(target, name, one, values=values) for name, one in models.items()),
        cluster=cast("Mapping[str, str]", values["cluster"]),
        values=values,
    )


def _endpoint(target: Target, name: str, output: Mapping[str, str], values: Mapping[str, object]) -> Endpoint:
    endpoint = Endpoint(name, output["url"], output["servedModelName"])
    if not values.get("baseUrl"):
        return endpoint
    endpoint = replace(endpoint, behind_door=True, namespace=output["namespace"], key=_key(target, name))
    # The command that the stack prints for clients has the variable where IAP is on; local clouds do not enforce IAP.
    if target.cloud is not Cloud.GOOGLE or IDENTITY_VARIABLE not in str(values.get("curl")):
        return endpoint
    return replace(endpoint, behind_iap=True, identity=os.environ.get(IDENTITY_VARIABLE, ""))


NO_IDENTITY = (
    f"IAP is in front of the gateway, and {IDENTITY_VARIABLE} is not set: it would answer no request.",
    f"export {IDENTITY_VARIABLE}=$(gcloud auth print-identity-token --impersonate-service-account=ACCOUNT "
    "--audiences=CLIENT_ID --include-email), see docs/front-door.md",
)
"""Problem and fix of an endpoint behind IAP without a token."""


def admitted(endpoints: Sequence[Endpoint]) -> None:
    """Raises ``BadInput`` if an endpoint is behind IAP and there is no token for it."""
    if any(one.behind_iap and not one.identity for one in endpoints):
        raise BadInput("{}\nFix: {}".format(*NO_IDENTITY))


def _key(target: Target, model: str) -> str:
    """A key for the front door: the one in the environment, otherwise, on a local cloud, the stand-in of a secret."""
    if key := os.environ.get(KEY_VARIABLE):
        return key
    from localcloud.cluster import front_door  # imports the settings, which take the longest to import

    kind = KINDS.get(target.cloud)
    return (front_door.key(Workdir.of(target.root, kind), target.stack, model) or "") if kind else ""


def kubeconfig(target: Target) -> str:
    """The stack's kubeconfig. A secret: keep it in memory or in a file that only its owner reads, and never show it.

    Raises as :func:`read` does.
    """
    text = _ask(target, "stack", "output", "kubeconfig", "--show-secrets")
    if not text.strip():
        raise NotUp(f"Stack {target.stack} on {target.cloud} has no output kubeconfig.\nFix: {target.up}")
    return text


def resources(target: Target) -> Sequence[Mapping[str, object]]:
    """The resources of the stack's state, without secrets. Raises as :func:`read` does."""
    return each(_export(target), *RESOURCES)


def created(target: Target) -> dict[tuple[str, str], datetime]:
    """When each resource of the stack was created, the stack itself included, by type and name.

    From the engine's state (``created``, pulumi/pulumi v3.259.0 sdk/go/common/apitype/core.go); secrets stay encrypted.
    Raises as :func:`read` does.
    """
    return {
        (str(one["type"]), str(one["urn"]).rpartition("::")[2]): datetime.fromisoformat(str(one["created"]))
        for one in resources(target)
        if one.get("created") and not one.get("external")
    }


def protected(target: Target) -> tuple[str, ...]:
    """Names of the stack's resources that are protected against deletion. Raises as :func:`read` does."""
    return protection.protected(resources(target))


def remaining(target: Target) -> list[str]:
    """Names of all resources in the stack's state, and of those that an engine was working on when it was killed.

    Empty for a stack that was destroyed or does not exist. Otherwise raises as :func:`read` does.
    """
    try:
        state = _export(target)
    except NotUp:
        return []
    pending = each(state, "deployment", "pending_operations")
    return [
        *(_name(one) for one in each(state, *RESOURCES)),
        *(
            f"{_name(one['resource'])} ({one['type']} when the engine was killed: see docs/stacks.md)"
            for one in pending
        ),
    ]


def keep_models(target: Target) -> list[str]:
    """Changes the state so that a destroy leaves the models and what belongs to them; an ``up`` changes it back.

    As an option of the program (``retainOnDelete``, pulumi/pulumi v3.259.0 sdk/go/common/apitype/core.go), an update
    that stops a model would leave its routes, too. Returns the models' names. Raises as :func:`read` does.
    """
    state = _export(target)
    below: set[object] = set()
    models: list[str] = []
    for one in each(state, *RESOURCES):  # parents come first
        if str(one["type"]).startswith("llmd-gke:models:") or one.get("parent") in below:
            below.add(one["urn"])
            one |= {"retainOnDelete": True, "protect": False}
            models += [_name(one)] if one["type"] == "llmd-gke:models:Model" else []
    _ask(target, "stack", "import", stdin=json.dumps(state))
    return models


def _export(target: Target) -> object:
    return json.loads(_ask(target, "stack", "export") or "{}")


def _name(resource: Mapping[str, object]) -> str:
    return str(resource["urn"]).rpartition("::")[2]


def updates(target: Target) -> list[tuple[datetime, datetime]]:
    """Begin and end of the stack's updates, the newest first. Raises as :func:`read` does."""
    listed = each(json.loads(_ask(target, "stack", "history", "--json") or "[]"))
    return [
        (datetime.fromisoformat(str(one["startTime"])), datetime.fromisoformat(str(one["endTime"])))
        for one in listed
        if one.get("kind") == "update" and one.get("startTime") and one.get("endTime")
    ]


def last_steps(target: Target) -> Mapping[str, int]:
    """Number of resources that the stack's last update created, changed or left unchanged: ``{"create": 2, "same":
    63}``.

    From the engine's history (``resourceChanges``, pulumi/pulumi v3.259.0 pkg/cmd/pulumi/stack/stack_history.go), empty
    if there was none. Raises as :func:`read` does.
    """
    return cast("Mapping[str, int]", _last_update(target).get("resourceChanges") or {})


def last_result(target: Target) -> str:
    """How the stack's last update ended: ``succeeded``, ``failed``, ``in-progress``; empty where there was none.

    Raises as :func:`read` does.
    """
    return str(_last_update(target).get("result", ""))


def _last_update(target: Target) -> Mapping[str, object]:
    history = each(json.loads(_ask(target, "stack", "history", "--json", "--page-size", "1") or "[]"))
    return history[0] if history else {}


def _ask(target: Target, *arguments: str, stdin: str = "") -> str:
    command, environment = _engine(target)
    options = ["-C", str(target.root), "--non-interactive", "--color", "never"]
    command = [*command, *options, *arguments, "-s", target.stack]
    try:
        done = child_process.run(command, environment=environment, stdin=stdin, seconds=ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unreachable(
            f"Reading the state of stack {target.stack} took longer than {ANSWER_SECONDS} s.\n"
            "Fix: check the network and `pulumi whoami -v`, then run the command again."
        ) from None
    if done.returncode:
        raise _explained(target, done.returncode, short(done.stderr, 300))
    return done.stdout


def _explained(target: Target, status: int, message: str) -> Problem:
    """The problem behind an exit status of the engine; its ``message`` is quoted, never parsed."""
    if status == NO_SUCH_STACK:
        return NotUp(f"Stack {target.stack} does not exist on {target.cloud}.\nFix: {target.up}\n({message})")
    if status == NOT_SIGNED_IN:
        return SetUpFailed(
            f"Pulumi is not logged in to a state backend: {message}\n"
            "Fix: pulumi login gs://YOUR-BUCKET, or pulumi login; for a local cloud: --cloud rehearsal"
        )
    return Unreachable(
        f"The state of stack {target.stack} cannot be read: {message}\nFix: pulumi stack --stack {target.stack}"
    )


def _engine(target: Target) -> tuple[Sequence[str], Mapping[str, str]]:
    if target.cloud is Cloud.GOOGLE:
        executable = shutil.which("pulumi")
        if executable is None:
            raise SetUpFailed(
                "`pulumi` is not on PATH, and the state of a stack on Google Cloud is read with it.\n"
                "Fix: https://www.pulumi.com/docs/install/; for a local cloud: --cloud rehearsal"
            )
        return [executable], os.environ
    from localcloud.common.environment import clean
    from localcloud.common.workdir import cache_folder
    from localcloud.pulumi_cli import resolve
    from localcloud.workflow import state

    workdir = target.workdir
    if not (workdir.root / "Pulumi.yaml").exists() or target.stack not in state.names(workdir):
        raise NotUp(f"Stack {target.stack} does not exist in the {target.cloud} ({workdir.home}).\nFix: {target.up}")
    engine = resolve.ready(cache_folder())
    if engine is None:
        raise SetUpFailed(f"The engine is not set up yet.\nFix: {target.up}")
    return [str(engine.pulumi)], clean(os.environ, workdir)
