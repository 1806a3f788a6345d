"""What the fix of a policy says is done to the refused example, as far as a program can follow it, and helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from policies.groups import ALL
from policies.pack import Analyzer
from tests.llmd_gke.settings.test_fixes import GONE, Place, edited
from tests.policies.conftest import InStack
from tests.policies.support import Resource, of, resources, run_pack

CHOICES = {
    "only the owner knows the value or the object": """
        ai-zone basic-iam-role cloud-armor-rules cluster-ranges control-plane-access gpu-zone iap-client
        image-tag model-privileges model-uri network-policy-open production-stacks public-firewall public-iam-member
        tpu-pod tpu-zone tpu-zone-unlisted
    """,
    "it adds, moves or merges objects": """
        backend-timeout generated-service-target health-check-missing inference-pool-ports ingress inline-route
        managed-route one-model-per-pool one-policy-per-target one-proxy-subnet open-gateway ordinary-node-pool
        pipeline-worker-config plain-secret plain-secret-value plain-token production-alert-channel
        istio-picker-tls istio-sidecar-cni proxy-subnet-missing reference-grant referenced-route unreadable-manifest
    """,
    "there are several ways, or several values change together": """
        capacity-reclaimable compute-class-members istio-weighted-pools two-gateways-on-pool hourly-price
        internal-headers keys-in-url
        kserve-tls network-policy-labels preset-deletion rate-limit-shared route-timeouts service-scaling
        tpu-startup-probe tpu-taint worker-parallelism
    """,
}
"""Rules without a fix that a program can follow, by the reason."""

FIX = re.compile(r"Fix: (.*)\. See docs/", re.DOTALL)
ALTERNATIVES = re.compile(
    r",? or (?=remove|set|use|add|list|leave)|; |: (?=on GKE|KServe|the default)| unless | and (?=give|the z)"
)
REMOVE = re.compile(r"remove (?:the )?(?P<key>[\w.-]+)")
SET = re.compile(
    r"(?:set |add |use |write )?(?:the value )?(?P<key>[\w./-]+)(?:: | to |=)(?P<value>'[^']*'|\{.*\}|[^\s,]+)"
    r"(?: or newer| or more| on .*)?"
)
VALUE = re.compile(
    r"(?:use|write|add(?= -)|set it to|for example) (?:a |topology )?"
    r"(?P<value>'[^']*'|[\w./:=-]+)(?: (?:or|for|in) .*)?"
)
PATH = re.compile(r"(?<= )[a-z]\w+(?:\.\w+)+(?=[ :])")


def places(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value, and where it is."""
    yield place, node
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(value, (*place, key))


def attempts(inputs: Any, message: str, said: str) -> Iterator[Any]:
    """The inputs that one alternative of a fix may mean; none if a person has to choose."""
    if found := REMOVE.fullmatch(said):
        last = found["key"].rpartition(".")[2]
        for place, value in places(inputs):
            words = {str(key) for key in place[-1:]} | {re.split("[= ]", str(value))[0]}
            words |= {value.get("name")} if isinstance(value, dict) else set()
            if place and (last in words or (last == "it" and str(place[-1]) in message)):
                yield edited(inputs, place, GONE)
    elif found := SET.fullmatch(said):
        keys = [found["key"]] if "/" in found["key"] else found["key"].split(".")
        for place, old in places(inputs):
            if isinstance(old, dict):
                yield edited(
                    inputs, (*place, *["values"] * ("the value " in said), *keys), yaml.safe_load(found["value"])
                )
    if found := VALUE.fullmatch(said):
        value = yaml.safe_load(found["value"])
        yield from (edited(inputs, tuple(path.split(".")), value) for path in PATH.findall(message))
        for place, old in places(inputs):
            if isinstance(old, list):
                yield edited(inputs, (*place, len(old)), value)
            elif place and not isinstance(old, dict) and (str(old) in message or str(place[-1]) in message):
                yield edited(inputs, place, value)
                yield edited(inputs, place, f"{str(old).rpartition(':')[0]}:{value}")


def test_whoever_does_what_a_fix_says_sees_it_help(in_stack: InStack) -> None:
    useless, choices = list[str](), set[str]()
    for rule in ALL:
        helped = dict[str, bool]()

        def messages(program: list[Resource]) -> set[str]:
            return {one.text for one in of(run_pack(program, Analyzer([rule])), rule.name)}  # noqa: B023 - called in this round

        for example in rule.examples.refused:
            in_stack(example.stack)
            program = resources(example)
            for message in messages(program):
                fix = FIX.search(message)
                for said in {*ALTERNATIVES.split(fix[1] if fix else "")} - helped.keys():
                    tried = [
                        [*program[:number], replace(one, inputs=new), *program[number + 1 :]]
                        for number, one in enumerate(program)
                        for new in attempts(one.inputs, message, said)
                        if new is not None
                    ]
                    if said.startswith("remove the "):
                        tried += [[*program[:number], *program[number + 1 :]] for number in range(len(program))]
                    if tried:
                        helped[said] = any(message not in messages(one) for one in tried)
        if any(helped.values()):
            useless += [f"{rule.name}: {said}" for said, helps in helped.items() if not helps]
        else:
            choices.add(rule.name)
    assert useless == []
    assert choices == set(" ".join(CHOICES.values()).split())
