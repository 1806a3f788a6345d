"""Rules about model pods anywhere: server arguments, images, secrets.

Source: vllm-project/tpu-inference ``tpu_inference/platforms/tpu_platform.py`` @b8692ff01 (arguments).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from llmd_gke.catalog import accelerators, kserve
from llmd_gke.catalog.accelerators import Accelerator
from llmd_gke.rules import environment, models, secret_texts, vllm_arguments, vllm_parser
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pod_shapes import containers

SCRIPT = re.compile(r"-[a-z]*c")
"""The argument of a shell before its script."""

ADDITIONAL_ARGUMENTS = "VLLM_ADDITIONAL_ARGS"
ACTIONS = (
    *((f"{name}Probe",) for name in ("startup", "readiness", "liveness")),
    *(("lifecycle", name) for name in ("postStart", "preStop")),
)
"""Fields of a container with a command or a request that the kubelet makes."""


def pod_specs(kind: str, spec: Input) -> Iterator[Input]:
    """The model pods in the ``spec`` of a KServe object, a workload or a pod; ``pods_within`` has the rest."""
    yield from (pod for group in _groups(kind, spec) for pod in group)


def serving_pods(kind: str, spec: Input) -> Iterator[Input]:
    """As :func:`pod_specs`, without the workers of a leader, which serve no requests."""
    yield from (group[0] for group in _groups(kind, spec) if group)


def _groups(kind: str, spec: Input) -> Iterator[list[Input]]:
    if kind in (kserve.SERVICE, kserve.CONFIG):
        for section in (spec, spec.get("prefill")):
            yield [section.get(key) for key in ("template", "worker") if section.get(key).value is not None]
    elif kind == "LeaderWorkerSet":
        both = spec.get("leaderWorkerTemplate")
        yield [both.get(key, "spec") for key in ("leaderTemplate", "workerTemplate") if both.get(key).value]
    else:
        yield [spec if kind == "Pod" else spec.get("template", "spec")]


def chips(container: Input) -> int | None:
    """Number of chips that a container requests; extended resources have equal limits and requests."""
    counts = (chips_of(container, resource) for resource in accelerators.RESOURCES)
    return next((number for number in counts if number is not None), None)


def chips_of(container: Input, resource: str) -> int | None:
    """As :func:`chips`, of one kind: ``google.com/tpu``."""
    counts = (container.get("resources", key, resource).integer() for key in ("limits", "requests"))
    return next((number for number in counts if number is not None), None)


def accelerator(pod: Input) -> Accelerator | None:
    """The accelerator that a pod uses, by its node selector or its requests; ``None`` for an ordinary pod."""
    selector, asking = pod.get("nodeSelector"), list(containers(pod))
    for kind in accelerators.ACCELERATORS:
        labels = (kind.family_label, kind.topology_label)
        if any(selector.get(label).value is not None for label in labels if label):
            return kind
        if any(chips_of(container, kind.resource) is not None for container in asking):
            return kind
    return None


def arguments(container: Input) -> list[str]:
    """The words of command and arguments, also those inside a shell script or ``VLLM_ADDITIONAL_ARGS``."""
    texts = [word for key in ("command", "args") for node in container.get(key).each() if (word := node.text())]
    for variable in container.get("env").each():
        if variable.get("name").text() == ADDITIONAL_ARGUMENTS:
            texts.append(variable.get("value").text() or "")
    return [word for text in texts for word in (_script_words(text) if any(c.isspace() for c in text) else [text])]


def _script_words(text: str) -> list[str]:
    try:
        return shlex.split(text.replace("\\\n", "\n"), comments=True)
    except ValueError:
        return text.split()


def runs_vllm(container: Input) -> bool:
    """Whether a container runs vLLM, by its image or its program."""
    return "vllm" in (container.get("image").text() or "") or vllm_arguments.servers(arguments(container)) > 0


def may_be_vllm(container: Input) -> bool:
    """Whether a container may run vLLM: its image is not that of another program, or its arguments are vLLM's."""
    known = isinstance(container.get("image").value, str)
    return not known or runs_vllm(container) or vllm_arguments.is_server(arguments(container))


def server_arguments(pod: Input, *, kind: Accelerator | None, of_kserve: bool) -> Iterator[Finding]:
    """No argument that makes the server exit. On non-TPU nodes, only arguments that vLLM has never had are rejected.

    The pods ``of_kserve`` run vLLM, whatever the name of their image.
    """
    for container in containers(pod):
        if not of_kserve and not may_be_vllm(container):
            continue
        argv, of = arguments(container), kind or accelerators.DEFAULT
        findings = list(vllm_arguments.server_arguments(argv, of, owned={}))
        words = vllm_arguments.server_words(argv, command=container.get("command").value is not None)
        findings += vllm_parser.server(words, container.get("image").text() or "", of)
        for before, node in pairwise([None, *container.get("command").each(), *container.get("args").each()]):
            if node is not None and (before is None or not SCRIPT.fullmatch(before.text() or "")):
                findings += vllm_arguments.spaced(node.text() or "", of.rule("server-argument"))
        for finding in findings:
            if kind is not None or finding.problem.startswith("--prefix-cache-block-size"):
                yield replace(finding, problem=f"{container.path}: {finding.problem}")


def images(pod: Input) -> Iterator[Finding]:
    """Every image is pinned, those of image volumes, too."""
    image_fields = [(container, container.get("image")) for container in containers(pod)]
    image_fields += [(volume, volume.get("image", "reference")) for volume in pod.get("volumes").each()]
    for owner, image in image_fields:
        value = image.text()
        if value is not None:
            for finding in models.image(value):
                yield replace(finding, problem=f"{owner.path}.{finding.problem}")


def plain_secrets(pod: Input) -> Iterator[Finding]:
    """No token or password in plain text. Its value is never repeated."""
    fix = "store it in a Secret and refer to it with valueFrom.secretKeyRef"
    for container in containers(pod):
        for variable in container.get("env").each():
            name, value = variable.get("name").text() or "", variable.get("value").value
            if secret_texts.is_name(name) and value not in (None, ""):
                yield Finding("plain-secret", f"{variable.path}: {name} has its value in plain text", fix=fix)
            elif isinstance(value, str) and _holds_secret(value):
                yield Finding("plain-secret", f"{variable.path}: {name} contains a token or a password", fix=fix)
        for word in arguments(container):
            if secret_texts.is_argument(word):
                name = word.split("=")[0]
                yield Finding("plain-secret", f"{container.path}: {name} is readable in the pod's arguments", fix=fix)
        yield from _secrets_in_scripts(container, fix)


def _holds_secret(text: str) -> bool:
    return secret_texts.has_shape(text) or any(secret_texts.assigned(text)) or any(secret_texts.configured(text))


def _secrets_in_scripts(container: Input, fix: str) -> Iterator[Finding]:
    scripts = [container.get(key) for key in ("command", "args")]
    for node in (*scripts, *(container.get(*action, "exec", "command") for action in ACTIONS)):
        for word in node.each():
            text = word.text() or ""
            for name in secret_texts.assigned(text):
                yield Finding("plain-secret", f"{word.path}: {name} is readable in the pod's arguments", fix=fix)
            if secret_texts.has_shape(text) or any(secret_texts.configured(text)):
                yield Finding("plain-secret", f"{word.path} contains a token or a password", fix=fix)
    asked = [container.get(*action, "httpGet") for action in ACTIONS]
    for path in (request.get("path") for request in asked):
        if _holds_secret(path.text() or ""):
            yield Finding("plain-secret", f"{path.path} contains a token or a password", fix=fix)
    for header in (one for request in asked for one in request.get("httpHeaders").each()):
        if secret_texts.HEADER.fullmatch(header.get("name").text() or "") and header.get("value").value:
            yield Finding("plain-secret", f"{header.path}: the header's value is in plain text", fix=fix)


LOCAL_FILES = "--allowed-local-media-path"
"""Folder from which vLLM takes pictures and other files that a request names (vllm ``docs/usage/security.md``)."""


def open_servers(pod: Input) -> Iterator[Finding]:
    """No environment variable and no argument gives clients more than inference."""
    for container in containers(pod):
        words = (word.partition("=") for word in arguments(container))
        pairs = [
            (one.path, one.get("name").text() or "", one.get("value").text()) for one in container.get("env").each()
        ]
        for path, name, value in (*pairs, *((container.path, key, text) for key, given, text in words if given)):
            for finding in environment.opens_the_server(name) if value not in ("", "0", "false", "False") else ():
                yield replace(finding, problem=f"{path}: {finding.problem}")
        for argument in vllm_arguments.read(arguments(container)):
            if argument.name == LOCAL_FILES and argument.value not in ("", '""', "''"):
                yield Finding(
                    environment.RULE,
                    f"{container.path}: {LOCAL_FILES} lets clients read files of the server by file:// addresses",
                    fix=f"remove {LOCAL_FILES}",
                )


CAPABILITIES = frozenset(
    {
        "AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN",
        "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE",
        "LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST",
        "NET_RAW", "PERFMON", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT",
        "SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME",
        "SYS_TTY_CONFIG", "SYSLOG", "WAKE_ALARM",
    }
)  # fmt: skip
"""Linux capabilities as Kubernetes writes them, without ``CAP_`` (capabilities(7))."""


def privileges(pod: Input, *, refused: Collection[str] = ()) -> Iterator[Finding]:
    """A model server runs unprivileged and with no capability but those of its image's needs.

    ``refused``: capabilities that another rule checks, together with privileged containers.
    """
    for container in containers(pod):
        context = container.get("securityContext")
        if not refused and context.get("privileged").boolean() is True:
            yield Finding(
                "model-privileges",
                f"{context.path}.privileged is true: the server has full access to the node",
                fix="TPU pods on GKE 1.28 and later do not need it; try single capabilities first",
            )
        names = [name for node in context.get("capabilities", "add").each() if (name := node.text())]
        if added := [name for name in names if name.upper().removeprefix("CAP_") not in refused]:
            yield Finding(
                "model-privileges",
                f"{context.path}.capabilities.add: {', '.join(added)}",
                fix="remove them unless the server's log asks for them",
            )


def capabilities(names: Sequence[str]) -> Iterator[Finding]:
    """Every capability exists."""
    for name in names:
        if name not in CAPABILITIES:
            plain = name.upper().removeprefix("CAP_")
            yield Finding(
                "model-privileges",
                f"there is no capability {name}",
                allowed="names of capabilities(7) without CAP_",
                fix=f"did you mean {plain}?" if plain in CAPABILITIES else "SYS_RESOURCE raises limits, for example",
            )
