"""Applies every rule of the pack to the resources of sources."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from llmd_common import kubectl
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
SOURCES = (
    "manifests (file, folder, or `-` for standard input), the folder of a chart or kustomization, a plan (`terraform "
    "show -json`, `pulumi preview --json`)"
)
ALL_RULES = "all"


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
    """What the pack says about sources. ``uncertain``: what it could not check; ``unread``: what it never saw.

    ``status`` is the exit status if something that should have been read could not be.
    """

    sources: tuple[str, ...]
    objects: int
    violations: tuple[Violation, ...]
    uncertain: tuple[str, ...]
    unread: tuple[str, ...]
    status: int

    @property
    def refused(self) -> bool:
        """Whether an object breaks a mandatory rule."""
        return any(one.level == "mandatory" for one in self.violations)


def read(source: str) -> Source:
    """The resources of a source: ``-``, a file, a folder, or a context of the kubeconfig. Raises ``Problem``.

    Where all of it is unread, nothing was judged, and the status says so.
    """
    path = Path(source)
    if source == "-":
        found = _of_text(sys.stdin.read(), "standard input")
    elif path.is_dir():
        found = manifests.of_folder(path)
    elif path.is_file():
        found = _of_text(manifests.text_of(path), source)
    elif source in (known := kubectl.contexts()):
        found = manifests.of_context(source)
    else:
        raise BadInput(
            f"{source} is neither a file or folder nor a context of the kubeconfig.\nAllowed: {SOURCES}, or a context "
            f"({', '.join(known) or 'there is none, or no kubectl on PATH'})"
        )
    if not found.resources and not found.unread:
        raise BadInput(f"{source} has no Kubernetes object and no planned resource.\nAllowed: {SOURCES}")
    if not found.resources:
        found.status = found.status or BadInput.status
    return found


def _of_text(text: str, name: str) -> Source:
    try:
        content = plain(cast("object", json.loads(text)), most=sys.maxsize)
    except (ValueError, RecursionError) as error:
        if name.endswith(".json"):
            raise BadInput(f"{name} is no JSON: {error}.\nFix: write it again; the program may have failed") from None
        content = None
    if isinstance(content, Mapping):
        if "resource_changes" in content:
            return plans.of_terraform(content, name)
        if content.keys() & {"steps", "deployment"}:
            return plans.of_pulumi(content, name)
    return manifests.of_text(text, name)


def audit(names: Sequence[str], stack: str = "", config: Path | None = None) -> Report:
    """Judges all sources together, as one program. ``stack`` is what rules for production compare with their parameter,
    by default that of Pulumi's preview.

    ``config`` is a file as for ``--policy-pack-config``. Raises ``Problem``.
    """
    merged = Source()
    for name in names:
        source = read(name)
        merged.add(source)
        stack = stack or source.stack
    levels = list(_configured(config, stack))
    inputs = StackInputs([rule for rule, _, _ in levels if rule.check_program is not None])
    extracted: list[Subject] = []
    for number, one in enumerate(merged.resources):
        found = list(subjects(one.type, one.inputs, urn=str(number), name=one.name, protect=one.protect))
        extracted += found
        if inputs.wants(one.type, found):
            inputs.add(found, str(number), one.type)
        inputs.secrets.update(secret_texts(one.inputs))
    violations: list[Violation] = []
    uncertain: list[str] = []
    for rule, level, settings in levels:
        judgement = _judge(rule, extracted, inputs, settings)
        uncertain += [f"{rule.name}: {printable(text, inputs.secrets)}" for text in judgement.uncertain]
        for subject, finding in judgement.violations:
            place = merged.resources[int(subject.urn)] if subject.urn else Resource("", None)
            shown = replace(
                finding,
                **{key: printable(getattr(finding, key), inputs.secrets) for key in ("problem", "allowed", "fix")},
            )
            violations.append(
                Violation(rule, level, printable(subject.label), finding=shown, file=place.file, line=place.line)
            )
    return Report(
        sources=tuple(names),
        objects=len(extracted),
        violations=tuple(sorted(dict.fromkeys(violations), key=lambda one: one.level != "mandatory")),
        uncertain=tuple(dict.fromkeys(uncertain)),
        unread=tuple(printable(text, inputs.secrets) for text in merged.unread),
        status=merged.status,
    )


def _judge(rule: Rule, extracted: Sequence[Subject], inputs: StackInputs, settings: ParameterValues) -> Judgement:
    if rule.check_object is None:
        return judge_program(rule, inputs.program(), settings)
    covered = [one for one in extracted if rule.covers(one)]
    if rule.relevant is None:
        return judge_objects(rule, covered, settings)
    program = Program(extracted)
    about = [(one, rule.relevant(program, one)) for one in covered]
    certain = judge_objects(rule, (one for one, known in about if known), settings)
    doubtful = judge_objects(rule, (one for one, known in about if known is None), settings)
    doubt = "whether the rule is about this object is not known"
    certain.uncertain += [f"{subject.label}: {finding.problem}; {doubt}" for subject, finding in doubtful.violations]
    certain.uncertain += doubtful.uncertain
    return certain


def _configured(config: Path | None, stack: str) -> Iterator[tuple[Rule, Level, ParameterValues]]:
    """Every rule that is not disabled, with its level and parameters. Raises ``BadInput``."""
    try:
        content = cast("object", json.loads(config.read_text(encoding="utf-8")) if config else {})
    except (OSError, ValueError) as error:
        raise BadInput(f"{config} is no configuration of the pack: {error}.\nFix: see docs/policies.md") from None
    if not isinstance(content, dict):
        raise BadInput(f"{config} must be a table of rules.\nFix: see docs/policies.md")
    table = cast("dict[str, object]", content)
    rules = [rule.name for rule in ALL]
    for name in table.keys() - {*rules, ALL_RULES}:
        near = difflib.get_close_matches(name, rules, 1)
        raise BadInput(f"{config}: there is no rule {name}.\nFix: {near[0] if near else 'see docs/policies.md'}")
    for rule in ALL:
        entry = table.get(rule.name, table.get(ALL_RULES, {}))
        written = cast("dict[str, object]", entry if isinstance(entry, dict) else {"enforcementLevel": entry})
        parameters = {key: value for key, value in written.items() if key != "enforcementLevel"}
        try:
            settings = rule.settings(parameters, stack)
        except TypeError as wrong:
            raise BadInput(f"{config}: {wrong}") from None
        level = written.get("enforcementLevel", "mandatory" if rule.is_mandatory(settings) else "advisory")
        if level not in LEVELS:
            raise BadInput(f"{config}: {rule.name} has level {level}.\nAllowed: {', '.join(LEVELS)}")
        if level != "disabled":
            yield rule, level, settings
