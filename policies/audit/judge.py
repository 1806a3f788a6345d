"""Applies every rule of the pack to the resources of sources."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from llmd_common.problems import BadInput
from llmd_gke.rules.finding import Finding
from policies.audit import manifests, plans
from policies.audit.resources import Resource, Source
from policies.extract import plain, subjects
from policies.groups import ALL
from policies.judgement import Judgement, judge_objects, judge_program
from policies.messages import printable
from policies.rules.rule import ParameterValues, Program, Rule, Subject
from policies.stack_inputs import StackInputs
from policies.wire import secret_texts

Level = Literal["mandatory", "advisory"]
LEVELS = ("mandatory", "advisory", "disabled")
ALL_RULES = "all"
"""The key for every rule in a configuration, as in Pulumi's."""


@dataclass(frozen=True)
class Violation:
    """An object that breaks a rule. ``file`` is empty for an object of a cluster; ``line`` is 0 if it is not known."""

    rule: Rule
    level: Level
    object: str
    file: str
    line: int
    finding: Finding


@dataclass(frozen=True)
class Report:
    """What the pack says about sources. ``uncertain``: what it could not check; ``unread``: what it never saw."""

    sources: tuple[str, ...]
    objects: int
    violations: tuple[Violation, ...]
    uncertain: tuple[str, ...]
    unread: tuple[str, ...]
    complete: bool

    @property
    def refused(self) -> bool:
        """Whether an object breaks a mandatory rule."""
        return any(one.level == "mandatory" for one in self.violations)


def read(source: str) -> Source:
    """The resources of a source: ``-``, a file, a folder, or a context of the kubeconfig. Raises ``Problem``."""
    path = Path(source)
    if source == "-":
        return _of_file(sys.stdin.read(), "standard input")
    if path.is_dir():
        return manifests.of_folder(path)
    if path.is_file():
        return _of_file(manifests.text_of(path), source)
    known = manifests.contexts()
    if source in known:
        return manifests.of_context(source)
    raise BadInput(
        f"{source} is neither a file or folder nor a context of the kubeconfig.\nAllowed: manifests (file, folder, or "
        "`-` for standard input), the folder of a chart or kustomization, a plan (`terraform show -json`, `pulumi "
        f"preview --json`), or a context ({', '.join(known) or 'there is none, or no kubectl on PATH'})"
    )


def _of_file(text: str, name: str) -> Source:
    try:
        content = plain(cast("object", json.loads(text)), most=sys.maxsize)
    except ValueError:
        return manifests.of_text(text, name)
    if isinstance(content, Mapping):
        if "resource_changes" in content:
            return plans.of_terraform(content, name)
        if content.keys() & {"steps", "resourcePlans", "deployment"}:
            return plans.of_pulumi(content, name)
    return manifests.of_text(text, name)


def audit(names: Sequence[str], stack: str = "", config: Path | None = None) -> Report:
    """Judges all sources together, as one program. ``stack`` is what rules for production compare with their parameter.

    ``config`` is a file as for ``--policy-pack-config``. Raises ``Problem``.
    """
    levels = list(_configured(config, stack))
    sources = [read(name) for name in names]
    resources = [one for source in sources for one in source.resources]
    inputs = StackInputs([rule for rule, _, _ in levels if rule.check_stack is not None])
    extracted: list[Subject] = []
    for number, one in enumerate(resources):
        found = list(subjects(one.type, one.inputs, urn=str(number), name=one.name, protect=one.protect))
        extracted += found
        if inputs.wants(one.type, found):
            inputs.add(found, str(number), one.type)
        inputs.secrets.update(secret_texts(one.inputs))
    violations: list[Violation] = []
    uncertain: list[str] = []
    program = Program(extracted)
    for rule, level, settings in levels:
        if rule.relevant is not None and not rule.relevant(program):
            continue
        judgement = _judge(rule, extracted, inputs, settings)
        uncertain += [f"{rule.name}: {printable(text, inputs.secrets)}" for text in judgement.uncertain]
        for subject, finding in judgement.violations:
            place = resources[int(subject.urn)] if subject.urn else Resource("", None)
            shown = replace(
                finding,
                **{key: printable(getattr(finding, key), inputs.secrets) for key in ("problem", "allowed", "fix")},
            )
            violations.append(Violation(rule, level, printable(subject.label), place.file, place.line, shown))
    return Report(
        tuple(names),
        len(extracted),
        tuple(sorted(dict.fromkeys(violations), key=lambda one: one.level != "mandatory")),
        tuple(dict.fromkeys(uncertain)),
        tuple(printable(text) for source in sources for text in source.unread),
        all(source.complete for source in sources),
    )


def _judge(rule: Rule, extracted: Iterable[Subject], inputs: StackInputs, settings: ParameterValues) -> Judgement:
    if rule.check_resource is None:
        return judge_program(rule, inputs.program(), settings)
    return judge_objects(rule, (one for one in extracted if rule.covers(one)), settings)


def _configured(config: Path | None, stack: str) -> Iterator[tuple[Rule, Level, ParameterValues]]:
    """Every rule that is not disabled, with its level and parameters. Raises ``BadInput``."""
    content: object = {}
    if config is not None:
        try:
            content = json.loads(config.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"{config} is no configuration of the pack: {error}.\nFix: see docs/policies.md") from None
    if not isinstance(content, dict):
        raise BadInput(f"{config} must be a table of rules.\nFix: see docs/policies.md")
    table = cast("dict[str, object]", content)
    for name in table.keys() - {rule.name for rule in ALL} - {ALL_RULES}:
        near = difflib.get_close_matches(name, [rule.name for rule in ALL], 1)
        raise BadInput(f"{config}: there is no rule {name}.{f' Fix: {near[0]}' if near else ''}")
    for rule in ALL:
        entry = table.get(rule.name, table.get(ALL_RULES, {}))
        written = cast("dict[str, object]", {"enforcementLevel": entry} if isinstance(entry, str) else entry)
        parameters = {key: value for key, value in written.items() if key != "enforcementLevel"}
        try:
            settings = rule.settings(parameters, stack)
        except TypeError as wrong:
            raise BadInput(f"{config}: {wrong}") from None
        level = written.get("enforcementLevel", "mandatory" if rule.is_mandatory(settings) else "advisory")
        if level not in LEVELS:
            raise BadInput(f"{config}: {rule.name} has level {level}. Allowed: {', '.join(LEVELS)}")
        if level != "disabled":
            yield rule, level, settings
