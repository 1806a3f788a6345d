"""Objects in unusual forms, as data in ``cases``: ways around a rule are refused, what resembles them is accepted.

::

    objects: [...]          # parts of several cases, as anchors
    RULE:                   # or "every rule"
      refused:
        TITLE: {KIND: INPUTS}
      accepted: ...

``KIND`` is the type of a resource, or ``VERSION KIND`` of an object, which gets a name and a namespace, or a short form
(``SHORT_FORMS``). ``!secret`` and ``!output`` mark a value as Pulumi does, ``!asset`` is a file with this text,
``!unknown`` a value that a preview does not know, and ``!gateway`` a text in which ``{}`` is a Gateway. The stack is
``prod``. No message may repeat ``abcdef``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.groups import ALL
from tests.policies.conftest import InStack
from tests.policies.registered import GATEWAY_TEXT, bundle, cluster, held, pod, release, thing, values
from tests.policies.support import UNKNOWN, Resource, of, output, run_pack, secret, text_asset

CASES = Path(__file__).with_name("cases")
ADVISORY = {rule.name for rule in ALL if rule.level == "advisory"}
ONCE = {"endpoint-picker", "image-tag", "privileged-pod", "tpu-pod"}
SHORT_FORMS: dict[str, Callable[[dict[str, Any]], Resource]] = {
    "Chart": lambda inputs: Resource("kubernetes:helm.sh/v4:Chart", "c", inputs),
    "Cluster": lambda inputs: cluster(**inputs),
    "ConfigGroup": lambda inputs: bundle(**inputs),
    "Held": held,
    "NodePool": lambda inputs: Resource("gcp:container/nodePool:NodePool", "p", inputs),
    "Release": lambda inputs: release(**inputs),
    "Server": lambda inputs: thing("Pod", "v1", spec=pod(**inputs)),
    "Values": lambda inputs: values(**inputs),
}


class Loader(yaml.CSafeLoader):
    """Reads the tags, too."""


def _tag(name: str, make: Callable[[Any], object]) -> None:
    def construct(loader: yaml.SafeLoader, node: yaml.Node) -> object:
        plain = yaml.MappingNode("tag:yaml.org,2002:map", node.value) if isinstance(node, yaml.MappingNode) else node
        if isinstance(plain, yaml.ScalarNode):
            plain = yaml.ScalarNode(loader.resolve(yaml.ScalarNode, plain.value, (True, False)), plain.value)
        elif isinstance(plain, yaml.SequenceNode):
            plain = yaml.SequenceNode("tag:yaml.org,2002:seq", plain.value)
        return make(loader.construct_object(plain, deep=True))

    Loader.add_constructor(name, construct)


_tag("!secret", secret)
_tag("!output", output)
_tag("!asset", text_asset)
_tag("!secret-asset", lambda text: secret(text_asset(text)))
_tag("!unknown", lambda _: UNKNOWN)
_tag("!gateway", lambda text: text.replace("{}", GATEWAY_TEXT))


def resource(kind: str, inputs: dict[str, Any]) -> Resource:
    if kind in SHORT_FORMS:
        return SHORT_FORMS[kind](inputs)
    version, _, name = kind.partition(" ")
    if not name:
        return Resource(kind, "x", inputs)
    if name.endswith(("Patch", "List")):
        return Resource(f"kubernetes:{version if '/' in version else f'core/{version}'}:{name}", "x", inputs)
    return thing(name, version, **inputs)


def cases(verdict: str) -> Iterator[Any]:
    for file in sorted(CASES.glob("*.yaml")):
        content = yaml.load(file.read_text("utf-8"), Loader)
        content.pop("objects", None)
        for rule, verdicts in content.items():
            if entries := verdicts.get(verdict):
                programs = {title: resource(*next(iter(entry.items()))) for title, entry in entries.items()}
                yield pytest.param(rule, programs, id=f"{file.stem}: {rule}")


@pytest.mark.parametrize(("rule", "programs"), list(cases("refused")))
def test_a_way_around_a_rule_is_refused(rule: str, programs: dict[str, Resource], in_stack: InStack) -> None:
    in_stack("prod")
    for title, program in programs.items():
        diagnostics = of(run_pack([program]), rule)
        assert diagnostics, title
        assert not any("this rule failed" in one.text or "abcdef" in one.text for one in diagnostics), title
        assert rule in ADVISORY or "MANDATORY" in {one.level for one in diagnostics}, title
        assert rule not in ONCE or len(diagnostics) == 1, title


@pytest.mark.parametrize(("rule", "programs"), list(cases("accepted")))
def test_what_resembles_one_is_accepted(rule: str, programs: dict[str, Resource], in_stack: InStack) -> None:
    in_stack("prod")
    for title, program in programs.items():
        diagnostics = run_pack([program])
        refused = [
            one for one in diagnostics if rule == one.policy or (rule == "every rule" and one.level == "MANDATORY")
        ]
        assert refused == [], title
