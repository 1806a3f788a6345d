"""The settings of a model from an LLMInferenceService that somebody wrote by hand."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from llmd_common.kubernetes.fields import Object, each, name, namespace, number, part, text, texts
from llmd_gke.catalog.accelerators import DEFAULT
from llmd_gke.rules.vllm_arguments import OWNED_ARGUMENTS
from llmd_gke.settings import ModelSettings

NUMBERS = {
    "--max-model-len": "maxModelLen",
    "--max-num-seqs": "maxNumSeqs",
    "--max-num-batched-tokens": "maxNumBatchedTokens",
}
TOPOLOGY = "cloud.google.com/gke-tpu-topology"


@dataclass
class Proposal:
    """``settings`` of the model, and what they do not carry over, with the reason."""

    settings: dict[str, object]
    lost: list[str] = field(default_factory=list[str])


def proposal(service: Object, pools: Sequence[dict[str, object]]) -> Proposal:
    """The settings of one service, on the first of the ``pools`` whose hosts have its topology."""
    template = part(service, "spec", "template")
    servers = each(template, "containers")
    server = next((one for one in servers if text(one, "name") == "main"), servers[0] if servers else {})
    topology = text(template, "nodeSelector", TOPOLOGY)
    fitting = [one for one in pools if topology in ("", one["topology"])]
    replicas = number(service, "spec", "replicas") or 1
    settings: dict[str, object] = {
        "name": name(service),
        "namespace": namespace(service),
        "uri": text(service, "spec", "model", "uri"),
        "pool": fitting[0]["name"] if fitting else "POOL",
        "replicas": replicas,
    }
    made = Proposal({key: value for key, value in settings.items() if value != ModelSettings.model_fields[key].default})
    if image := text(server, "image"):
        made.settings["image"] = image
    if each(template, "imagePullSecrets"):
        made.settings["privateImage"] = True
    _arguments(made, [*texts(server, "command"), *texts(server, "args")], text(service, "spec", "model", "name"))
    for one in each(server, "env"):
        if text(one, "name") == "HF_TOKEN":
            made.settings["gated"] = True
        elif text(one, "name") not in DEFAULT.environment:
            made.lost.append(f"env {text(one, 'name')}: set it in env if the server needs it")
    made.lost += [
        f"container {text(one, 'name')}: the program runs only the server" for one in servers if one != server
    ]
    return made


def _arguments(made: Proposal, words: Sequence[str], named: str) -> None:
    flags = _flags([one for word in words for one in _split(word)])
    served = flags.pop("--served-model-name", flags.get("--model", named))
    if served.startswith("/"):
        made.lost.append(f"the name {served} that clients send as `model`: they have to send {made.settings['name']}")
    elif served and served != made.settings["name"]:
        made.settings["servedModelName"] = served
    extra: list[str] = []
    for flag, value in flags.items():
        if flag in NUMBERS and value.isdecimal():
            made.settings[NUMBERS[flag]] = int(value)
        elif flag == "--no-enable-prefix-caching":
            made.settings["prefixCaching"] = False
        elif flag == "--dtype" and value == "bfloat16":
            made.settings["dtype"] = value
        elif flag in OWNED_ARGUMENTS:
            if flag not in ("--model", "--port", "--enable-prefix-caching", "--tensor-parallel-size"):
                made.lost.append(f"{flag} {value}: {OWNED_ARGUMENTS[flag]}".replace(" :", ":"))
        else:
            extra.append(f"{flag}={value}" if value else flag)
    if extra:
        made.settings["extraArgs"] = extra


def _split(word: str) -> list[str]:
    """The words of a shell script in one argument, without its comments."""
    try:
        return shlex.split(word.replace("\\\n", "\n"), comments=True) if "\n" in word or " " in word else [word]
    except ValueError:
        return [word]


def _flags(words: Sequence[str]) -> dict[str, str]:
    flags: dict[str, str] = {}
    for index, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            continue
        following = words[index + 1] if index + 1 < len(words) else "--"
        flags[flag] = value if equals else "" if following.startswith("-") else following
    return flags
