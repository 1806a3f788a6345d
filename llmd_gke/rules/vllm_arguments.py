"""Rules about the arguments of ``vllm serve``.

Source: vllm-project/tpu-inference ``tpu_inference/platforms/tpu_platform.py`` @b8692ff01 (arguments and quantization
methods).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping

from llmd_gke.catalog.accelerators import DEFAULT, Accelerator
from llmd_gke.rules.finding import Finding

OWNED_ARGUMENTS: Mapping[str, str] = {
    "--port": "the port is always 8000: KServe's Service, the InferencePool and the health checks rely on it",
    "--tensor-parallel-size": "set tensorParallel",
    "--served-model-name": "set servedModelName",
    "--max-model-len": "set maxModelLen",
    "--max-num-seqs": "set maxNumSeqs",
    "--max-num-batched-tokens": "set maxNumBatchedTokens",
    "--dtype": "set dtype",
    "--enable-prefix-caching": "set prefixCaching",
    "--no-enable-prefix-caching": "set prefixCaching",
    "--ssl-certfile": "behind GKE's Gateway the servers use plain HTTP",
    "--ssl-keyfile": "behind GKE's Gateway the servers use plain HTTP",
    "--api-key": "arguments are readable in the pod's specification: authenticate clients in front of the Gateway",
    "--host": "KServe's probes and the InferencePool expect the server's default address",
    "--pipeline-parallel-size": "set pipelineParallel",
    "--hf-token": "arguments are readable in the pod's specification: use the secret llmd-gke:hfToken",
}
"""Arguments that are set by a typed setting, or not allowed at all."""


TWO_IN_ONE = re.compile(r"(--?[A-Za-z][\w-]*)\s+(?=\S)")
"""An argument and its value in one entry of a list: no shell splits it."""


SHORT_ARGUMENTS: Mapping[str, str] = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-q": "--quantization",
}
"""vLLM's short names for arguments that rules are about (vllm-project/vllm ``vllm/engine/arg_utils.py``)."""


def _misspelt(name: str, kind: Accelerator) -> Iterator[Finding]:
    meant = difflib.get_close_matches(name, (*OWNED_ARGUMENTS, *kind.refused_arguments), n=1, cutoff=0.92)
    if name.startswith("--") and meant:
        advice = OWNED_ARGUMENTS.get(meant[0], f"remove {meant[0]}")
        yield Finding(
            kind.rule("server-argument"),
            f"{name} looks like a misspelling of {meant[0]}: the server exits on unknown arguments",
            fix=advice,
            severity="warning",
        )


def server_arguments(
    arguments: Iterable[str], kind: Accelerator = DEFAULT, *, refuse_owned: bool = True
) -> Iterator[Finding]:
    """No argument that makes the server exit on the accelerator, or (``refuse_owned``) that a typed setting writes."""
    argv = list(arguments)
    for position, word in enumerate(argv):
        name, _, value = word.partition("=")
        name = SHORT_ARGUMENTS.get(name, name).replace("_", "-")
        value = value or (argv[position + 1] if position + 1 < len(argv) else "")
        if spaced := TWO_IN_ONE.match(word):
            yield Finding(
                kind.rule("server-argument"),
                f"{spaced[1]} and its value are in one entry: the server treats the whole entry as the name of an "
                "argument",
                allowed=f"{spaced[1]}=VALUE, or two entries",
                fix=f"write {spaced[1]}={word[spaced.end() :].strip()}",
            )
        elif name in kind.refused_arguments:
            reason = kind.refused_arguments[name]
            yield Finding(kind.rule("server-argument"), f"{name}: {reason}", fix=f"remove {name}")
        elif refuse_owned and name in OWNED_ARGUMENTS:
            reason = OWNED_ARGUMENTS[name]
            yield Finding(kind.rule("server-argument"), f"{name} must not be set here: {reason}", fix=f"remove {name}")
        elif name == "--quantization" and value not in kind.quantizations:
            yield Finding(
                kind.rule("server-argument"),
                f"--quantization {value} does not run on {kind.name}",
                allowed=", ".join(sorted(kind.quantizations)),
                fix=f"use a quantization that {kind.name} supports, or remove the argument",
            )
        elif name == "--kv-transfer-config" and not any(f'"{connector}"' in value for connector in kind.kv_connectors):
            yield Finding(
                kind.rule("server-argument"),
                f"--kv-transfer-config names a connector that does not run on {kind.name}",
                allowed=", ".join(sorted(kind.kv_connectors)),
                fix="remove --kv-transfer-config",
            )
        elif refuse_owned:
            yield from _misspelt(name, kind)
