"""What the printed fix of each finding says is done, as far as it names a key, a value or an argument, and helps."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import yaml

from llmd_gke.settings import SettingsError, parse
from llmd_gke.settings.validation import SettingFinding
from tests.llmd_gke.settings.conftest import Config
from tests.llmd_gke.settings.test_cases import FILES, cases, changed

Place = tuple[str | int, ...]
GONE = object()

CHOICES = {
    "only the owner knows the value": """
        address-range caller-identity caller-priority egress-name egress-proxy gateway-certificate iap-client kms-key
        label missing-key network-existing network-overlap network-shared-vpc notify-secret notify-slack notify-topic
        notify-webhook project-id root-model served-name traces-endpoint unique-name
    """,
    "there are several ways, or several values change together": """
        adapter bucket-uri caller-model capacity-list capacity-repeated capacity-room capacity-zone data-parallel
        egress-combination gpu-capacity gpu-machine-type gpu-zone kv-offload maintenance-exclusion model-disk
        model-format model-heads model-size not-offered notify-kind replica-autoscaler route-path route-rules schedule
        scheduler-plugin server-environment tpu-capacity tpu-machine-type tpu-pool-region tpu-pool-size
        tpu-reservation tpu-server-argument tpu-topology tpu-zone traces-version wrong-value
    """,
}
"""Rules with a fix that no program can follow, by the reason."""

ALTERNATIVES = re.compile(r",? (?:with|instead of) |, or,? |; otherwise |; ")
VALUE = re.compile(
    r"(?:for example |write |such as |put it in quotes: |use (?:a )?|did you mean )?"
    r"(?P<value>\S+?|'[^']+'|- .+)\??(?: or newer|, in quotes| without quotes)?"
)
SET = re.compile(
    r"(?:set |add |keep |use |raise the budget to |add the line `?|.*\bfor example |raise |.*; )?(?P<key>[\w:.-]+?)"
    r"(?: of (?:the )?pool(?: (?P<pool>[\w-]+))?)?(?:: | to )(?P<value>[^\s{]\S*?|\{.*\})"
    r"(?: or (?:more|newer)|,? which .*|`? below \S+.*| \(.*| for .*)?"
)
REMOVE = re.compile(r"remove (?P<key>[\w.-]+)(?:: .*| \(.*| from .*| to .*)?")
COMMAND = re.compile(r"pulumi config set (?:--path )?'?(?P<key>[\w:.-]+)'? (?P<value>\S+)")


def steps(key: str) -> Place:
    """``llmd-gke:models[0].uri`` as steps into a configuration."""
    return tuple(int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", key))


def places(config: Config, key: Place, name: str) -> Iterator[Place]:
    """Where a reader looks for ``name``: at the key of the finding, inside, beside, and further out."""
    if name in ("it", key[-1]):
        yield key
    if f"llmd-gke:{name.partition('.')[0]}" in config or ":" in name:
        yield steps(name if ":" in name else f"llmd-gke:{name}")
    for end in range(len(key), 0, -1):
        yield (*key[:end], *([name] if name.isdigit() else steps(name)))


def edited(config: Config, place: Place, value: object) -> Config | None:
    """A copy with a value at a place, or without it; ``None`` if the place cannot be reached."""
    new: Any = copy.deepcopy(config)
    node = new
    try:
        for step in place[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        match node, place[-1]:
            case list(), str(name) if value is GONE:  # an argument, or an entry by its name
                at = next(i for i, item in enumerate(node) if name in re.split("[=']", str(item)))
                takes_value = str(node[at]).startswith("-") and not str([*node, "-"][at + 1]).startswith("-")
                del node[at : at + 1 + takes_value]
            case _ if value is GONE:
                del node[place[-1]]
            case list(), int(at):  # the place after the last adds an entry
                node[at : at + 1] = [value]
            case _:
                node[place[-1]] = value
    except (LookupError, TypeError, AttributeError, StopIteration):
        return None
    return new


def attempts(config: Config, finding: SettingFinding, said: str) -> Iterator[Config | None]:
    """The configurations that one alternative of a fix may mean; none if a person has to choose."""
    key = steps(finding.key)
    if found := COMMAND.fullmatch(said):
        yield edited(config, steps(found["key"]), yaml.safe_load(found["value"]))
    elif found := REMOVE.fullmatch(said):
        for place in places(config, key, found["key"]):
            yield edited(config, place, GONE)
        if isinstance(key[-1], int):
            yield edited(config, key, GONE)
    elif found := SET.fullmatch(said):
        pools = [pool["name"] for pool in config["llmd-gke:pools"]]
        start = ("llmd-gke:pools", pools.index(found["pool"]), found["key"]) if found["pool"] else key
        for place in places(config, start, found["key"]):
            for value in (yaml.safe_load(found["value"]), [yaml.safe_load(found["value"])]):
                yield edited(config, place, value)
                yield edited(edited(config, key, GONE) or config, place, value)
    elif found := VALUE.fullmatch(said):
        value: Any = yaml.safe_load(found["value"])
        yield edited(config, key, value[0] if isinstance(value, list) else value)
        if said.startswith("did you mean"):
            yield edited(edited(config, key, GONE) or {}, (*key[:-1], str(value)), 5000)


def found(config: Config) -> list[SettingFinding]:
    try:
        parse(copy.deepcopy(config), "eu4a")
    except SettingsError as error:
        return list(error.findings)
    return []


def helps(config: Config | None, finding: SettingFinding, before: list[SettingFinding]) -> bool:
    """Whether the finding is gone, and no key is unknown that was not before."""
    return config is not None and not any(
        one == finding or (one.finding.rule == "unknown-key" and one not in before) for one in found(config)
    )


def test_whoever_does_what_a_fix_says_sees_it_help(config: Config) -> None:
    done, useless, choices = set[str](), dict[str, object](), set[str]()
    for _, changes, _ in cases(*FILES):
        spoilt = changed(copy.deepcopy(config), changes)
        before = found(spoilt)
        for finding in before:
            rule, fix = finding.finding.rule, finding.finding.fix
            if f"{rule}: {fix}" in done:
                continue
            done.add(f"{rule}: {fix}")
            tried = {said: list(attempts(spoilt, finding, said)) for said in ALTERNATIVES.split(fix)}
            useless |= {
                f"{rule}: {said}": finding.key
                for said, meant in tried.items()
                if meant and not any(helps(one, finding, before) for one in meant)
            }
            if not any(tried.values()):
                choices.add(rule)
    assert useless == {}
    assert sorted(choices) == sorted(" ".join(CHOICES.values()).split())
