"""The parts of a rule."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, TypeAlias, cast

from llmd_gke.rules import gateway, pod_shapes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules import example_files
from policies.rules.kinds import ANY_GOOGLE, ANY_POLICY, ANY_WORKLOAD, GOOGLE_GROUPS, Kind

Level: TypeAlias = Literal["mandatory", "advisory", "production"]
"""``production``: mandatory in stacks that match the parameter ``stacks``, advisory in others."""

ParameterValue: TypeAlias = "str | int | tuple[str, ...]"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a rule. Its type is the type of ``default``."""

    name: str
    default: ParameterValue
    about: str

    @property
    def schema(self) -> dict[str, object]:
        """JSON schema of the parameter, in the engine's format."""
        if isinstance(self.default, tuple):
            return {
                "type": "array",
                "items": {"type": "string"},
                "default": list(self.default),
                "description": self.about,
            }
        kind = "integer" if isinstance(self.default, int) else "string"
        return {"type": kind, "default": self.default, "description": self.about}

    def read(self, value: object) -> ParameterValue:
        """The value in the pack's configuration. Raises ``TypeError`` with a message for one of another type."""
        if isinstance(self.default, tuple):
            if isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value)):
                return tuple(cast("list[str]", value))
            raise TypeError(f"{self.name} must be a list of strings")
        if isinstance(self.default, int):
            if isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
                return int(value)
            raise TypeError(f"{self.name} must be a whole number")
        if isinstance(value, str):
            return value
        raise TypeError(f"{self.name} must be a string")


@dataclass(frozen=True)
class ParameterValues:
    """A rule's configured parameters, and the program's stack."""

    values: Mapping[str, ParameterValue]
    stack: str = ""

    def texts(self, name: str) -> tuple[str, ...]:
        """The value of a list parameter; a single text counts as a list of one."""
        value = self.values[name]
        return value if isinstance(value, tuple) else (str(value),)

    def text(self, name: str) -> str:
        """The value of a text parameter."""
        return str(self.values[name])

    @property
    def is_production(self) -> bool:
        """Whether the stack's name matches a pattern of the parameter ``stacks``, ignoring case."""
        return any(fnmatchcase(self.stack.lower(), pattern.lower()) for pattern in self.texts("stacks"))

    def number(self, name: str) -> int:
        """The value of a number parameter; 0 if it is not a number."""
        value = self.values[name]
        return value if isinstance(value, int) else 0


STACKS = Parameter("stacks", ("prod*",), "Names of production stacks; `*` matches any text")


@dataclass(frozen=True)
class Subject:
    """One object to judge. It is not CrossGuard's resource, which may hold many, such as a chart, nor RBAC's subject.

    ``node`` is the root of its inputs. ``partial``: a ``…Patch``, which contains only some fields, so that a missing
    one has no meaning. ``protect`` is the resource option, ``None`` if it is not known. ``urn`` is that of the resource
    that contains the object. ``inline``: a part of a larger resource, such as a node pool that is defined inside its
    cluster.
    """

    kind: Kind
    node: Input
    urn: str = ""
    resource: str = ""
    partial: bool = False
    protect: bool | None = False
    inline: bool = False

    @property
    def spec(self) -> Input:
        """``spec`` of a Kubernetes object."""
        return self.node.get("spec")

    @property
    def name(self) -> str:
        """``metadata.name``, or the resource's name."""
        value = self.node.get("metadata", "name").value if isinstance(self.node.value, Mapping) else None
        return value if isinstance(value, str) else self.resource

    @property
    def namespace(self) -> str | None:
        """``metadata.namespace``; ``default`` where it is left out, ``None`` where it is not known yet, which is noted.

        A rule that compares namespaces must not treat ``None`` as a namespace: two unknown ones may differ.
        """
        node = self.node.get("metadata", "namespace")
        return "default" if node.value is None else node.text()

    @property
    def identity(self) -> tuple[str, str] | None:
        """Namespace and name; ``None`` if one of them is not known yet, which is noted."""
        namespace, name = self.namespace, self.node.get("metadata", "name")
        if namespace is None or (name.value is not None and name.text() is None):
            return None
        return namespace, self.name

    def namespace_of(self, reference: Input) -> str | None:
        """The namespace that a reference means; ``None`` where it is not known yet, which is noted."""
        written = reference.get("namespace")
        return self.namespace if written.value is None else written.text()

    @cached_property
    def has_pods(self) -> bool:
        """Whether the object contains a pod template, by its shape. Many rules ask, and the search takes long."""
        return any(pod_shapes.pods_within(Input(self.node.value)))

    @cached_property
    def has_targets(self) -> bool:
        """Whether the object refers to a target or to backends in the Gateway API's way."""
        return any(gateway.targets(Input(self.node.value)))

    @property
    def label(self) -> str:
        """The object's label in messages. Reading it notes nothing."""
        if self.kind.group == "gcp":
            return f"{self.kind.name.rsplit(':', 1)[-1]} {self.resource}"
        value = self.node.get("metadata", "namespace").value if isinstance(self.node.value, Mapping) else None
        namespace = "default" if value is None else value if isinstance(value, str) else "(unknown namespace)"
        return f"{self.kind.name} {namespace}/{self.name}"


@dataclass
class Program:
    """The objects of the program that rules about the whole program need.

    ``unrendered`` names resources whose objects the engine does not show (charts): they may contain what seems missing.
    """

    subjects: Sequence[Subject]
    unrendered: Sequence[str] = ()

    def of(self, *kinds: Kind) -> Iterator[Subject]:
        """The objects of these kinds."""
        return (subject for subject in self.subjects if subject.kind in kinds)


@dataclass(frozen=True)
class StackFinding:
    """A finding about one object of the program. ``uncertain_because``: why an unknown value may make it void."""

    subject: Subject
    finding: Finding
    uncertain_because: str = ""


def about(subject: Subject, findings: Iterable[Finding], doubt: str = "") -> Iterator[StackFinding]:
    """These findings about one object of the program. ``doubt``: why an unknown value may make them void."""
    return (StackFinding(subject, finding, doubt) for finding in findings)


@dataclass(frozen=True)
class Rule:
    """A rule about single objects (``check_object``) or about the whole program (``check_program``).

    ``relevant``: to which objects an audit applies the rule; ``None`` if that is not known. A program that uses the
    pack serves models, what is audited need not. ``name`` is stable: pack configuration and messages refer to it.
    ``why`` is the reason with GKE's error code or the upstream issue, ``sources`` are links, ``opt_out`` is the way out
    of the rule, if there is another one than its configuration. The examples that it rejects and accepts are in
    ``policies/rules/GROUP/NAME.yaml``.
    """

    name: str
    title: str
    why: str
    sources: tuple[str, ...]
    kinds: tuple[Kind, ...]
    level: Level = "mandatory"
    severity: Literal["low", "medium", "high", "critical"] = "high"
    check_object: Callable[[Subject, ParameterValues], Iterable[Finding]] | None = None
    check_program: Callable[[Program, ParameterValues], Iterable[StackFinding]] | None = None
    parameters: tuple[Parameter, ...] = ()
    opt_out: str = ""
    relevant: Callable[[Program, Subject], bool | None] | None = None

    @property
    def examples(self) -> example_files.Examples:
        """The examples that the rule rejects and accepts. Raises ``LookupError`` if its file is missing."""
        return example_files.of(self.name)

    def covers(self, subject: Subject) -> bool:
        """Whether the rule applies to an object, by its kind or by its shape."""
        if subject.kind in self.kinds:
            return True
        if ANY_GOOGLE in self.kinds and subject.kind.group.endswith(GOOGLE_GROUPS):
            return True
        if subject.kind.group == "gcp":
            return ANY_GOOGLE in self.kinds and not subject.inline
        if ANY_WORKLOAD in self.kinds and subject.has_pods:
            return True
        return ANY_POLICY in self.kinds and subject.has_targets

    def is_mandatory(self, settings: ParameterValues) -> bool:
        """Whether the rule is mandatory in a stack: rules for production are so there, and advisory elsewhere."""
        return self.level == "mandatory" or (self.level == "production" and settings.is_production)

    def settings(self, config: Mapping[str, object], stack: str = "") -> ParameterValues:
        """The parameters, with values from the pack's configuration. Raises ``TypeError`` for invalid ones."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for key in config:
            if key not in by_name:
                near = difflib.get_close_matches(key, by_name, 1)
                allowed = f"; it has {', '.join(sorted(by_name))}" if by_name else "; it has none"
                hint = f" (meant: {near[0]}?)" if near else ""
                raise TypeError(f"rule {self.name} has no parameter {key}{hint}{allowed}")
        try:
            values = {
                name: parameter.read(config[name]) if name in config else parameter.default
                for name, parameter in by_name.items()
            }
        except TypeError as wrong:
            raise TypeError(f"rule {self.name}: {wrong}") from None
        return ParameterValues(values, stack)


Check: TypeAlias = Callable[[Subject, ParameterValues], Iterable[Finding]]


def on_inputs(check: Callable[[Input], Iterable[Finding]], *, whole: bool = False) -> Check:
    """Turns a check of inputs into the check of a rule about one object. ``whole``: patches are not judged."""
    return lambda subject, _settings: () if whole and subject.partial else check(subject.node)


def on_spec(check: Callable[[Input], Iterable[Finding]], *, whole: bool = False) -> Check:
    """Turns a check of ``spec`` into the check of a rule about one object. ``whole``: patches are not judged."""
    return on_inputs(lambda node: check(node.get("spec")), whole=whole)


def by_kind(checks: Mapping[Kind, Callable[[Input], Iterable[Finding]]]) -> Check:
    """Turns checks of the inputs of several kinds into the check of a rule about one object."""
    return lambda subject, _settings: checks[subject.kind](subject.node)
