"""The settings of a model from an LLMInferenceService that somebody wrote by hand."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from llmd_common.kubernetes.fields import Object, each, get, name, namespace, number, part, strings, text, texts
from llmd_gke.catalog.accelerators import ACCELERATORS
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pods import arguments
from llmd_gke.settings import ModelSettings

OBVIOUS = {"--model", "--port", "--enable-prefix-caching"}
"""Arguments that the program writes itself, with the value that they have or need."""
FIELDS = {field.alias: field for field in ModelSettings.model_fields.values()}


def proposal(service: Object, pools: Mapping[str, Mapping[str, str]]) -> tuple[dict[str, object], list[str]]:
    """The settings of one service, on the first of the ``pools`` (name to labels of their nodes) whose nodes it
    selects; and what they do not carry over, with the reason.
    """
    template = part(service, "spec", "template")
    servers = each(template, "containers")
    server = next((one for one in servers if text(one, "name") == "main"), servers[0] if servers else {})
    selected = strings(get(template, "nodeSelector")).items()
    made: dict[str, object] = {
        "name": name(service),
        "namespace": namespace(service),
        "uri": text(service, "spec", "model", "uri"),
        "pool": next((pool for pool, labels in pools.items() if selected <= labels.items()), "POOL"),
        "replicas": number(service, "spec", "replicas"),
        "image": text(server, "image"),
        "privateImage": bool(each(template, "imagePullSecrets")),
    }
    lost = _arguments(made, server, text(service, "spec", "model", "name"))
    known = {variable for kind in ACCELERATORS for variable in kind.environment}
    for variable in (text(one, "name") for one in each(server, "env")):
        if variable == "HF_TOKEN":
            made["gated"] = True
        elif variable not in known:
            lost.append(f"env {variable}: set it in env if the server needs it")
    lost += [f"container {text(one, 'name')}: the program runs only the server" for one in servers if one != server]
    return {
        key: value for key, value in made.items() if (value or value is False) and value != FIELDS[key].default
    }, lost


def _arguments(made: dict[str, object], server: Object, named: str) -> list[str]:
    """Adds the settings for a server's arguments, and returns what has none."""
    lost: list[str] = []
    extra: list[str] = []
    words = vllm_arguments.server_words(arguments(Input(server)), command=bool(texts(server, "command")))
    given = {one.name: one.values for one in vllm_arguments.read(words) if one.name.startswith("--")}
    served = next(iter(given.pop("--served-model-name", given.get("--model", (named,)))), "")
    if served.startswith("/"):
        lost.append(f"the name {served} that clients send as `model`: they have to send {made['name']}")
    elif served != made["name"]:
        made["servedModelName"] = served
    for flag, values in given.items():
        reason, value = vllm_arguments.OWNED_ARGUMENTS.get(flag), " ".join(values)
        setting = vllm_arguments.SETTING_OF.get(flag)
        if reason is None:
            extra += [flag, *values]
        elif flag == "--no-enable-prefix-caching":
            made["prefixCaching"] = False
        elif setting is not None and flag not in OBVIOUS:
            try:
                made[setting] = TypeAdapter[object](FIELDS[setting].annotation or object).validate_python(value)
            except ValidationError:
                lost.append(f"{flag} {value}: {reason}")
        elif flag not in OBVIOUS:
            lost.append(f"{flag} {value}: {reason}")
    made["extraArgs"] = extra
    return lost
