"""Every custom resource the program emits, against the real CRDs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import cast

import pytest
from jsonschema import Draft202012Validator

from llmd_gke.catalog import kserve, scaling
from llmd_gke.gateways import gke_policies
from llmd_gke.manifests import tracing
from llmd_gke.settings import TracesSettings
from localcloud.gke_gateway.crds import gke
from tests.schema import conftest, record_front_door, rules, sources, structural
from tests.schema.structural import Table, table

BUILT_IN = frozenset({"APIService", "Namespace", "NetworkPolicy", "Secret", "ServiceAccount"}) | frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "HorizontalPodAutoscaler",
        "Deployment",
        "Job",
        "Role",
        "RoleBinding",
        "Service",
    }
)

DOCUMENTED = frozenset({"FQDNNetworkPolicy"})
"""Kinds whose CRDs are not published: https://cloud.google.com/kubernetes-engine/docs/how-to/fqdn-network-policies."""

PUBLISHED_LATER: dict[str, frozenset[str]] = {
    # balancingMode, trafficDuration, customMetrics, maxInFlightRequestsPerEndpoint and capacityScalerPercent are in
    # Google's documentation and charts, but not in the published CRD.
    "GCPBackendPolicy": frozenset({"spec.default"})
}


@cache
def schema_of(kind: str, version: str) -> tuple[Table, Draft202012Validator]:
    schema = structural.version_schema(sources.crd(kind), version)
    extra = PUBLISHED_LATER.get(kind, frozenset())
    return schema, Draft202012Validator(structural.json_schema(schema, root=True, extra=extra))


@cache
def said_of(thing: str) -> list[str]:
    """What the API server would say of an object as JSON: structure first, then rules. Variants share most objects."""
    loaded: Table = json.loads(thing)
    schema, validator = schema_of(str(loaded["kind"]), str(loaded["apiVersion"]))
    return [*structural.judged(loaded, schema, validator), *rules.broken(loaded, schema)]


def errors(thing: Table) -> list[str]:
    return said_of(json.dumps(thing))


def crd_spec(kind: str) -> Table:
    return table(sources.crd(kind)["spec"])


def served(kind: str) -> list[str]:
    versions = [one for one in cast("list[Table]", crd_spec(kind)["versions"]) if one["served"]]
    return [f"{crd_spec(kind)['group']}/{one['name']}" for one in versions]


def test_what_is_waited_for_is_served_and_a_patch_could_not_make_one() -> None:
    emitted = conftest.emitted_by("local")
    (api,) = [thing for thing in emitted if thing["kind"] == "APIService"]
    (gateway_class,) = [thing for thing in emitted if thing["kind"] == "GatewayClass"]
    group, _, version = str(served("InferencePool")[0]).partition("/")
    assert table(api["metadata"])["name"] == f"{version}.{group}"
    assert gateway_class["apiVersion"] in served("GatewayClass")
    assert set(api) == set(gateway_class) == {"apiVersion", "kind", "metadata"}
    assert set(re.findall(r"'group': '([^']*)', 'kind': 'InferencePool'", str(emitted))) == {group}


def test_kserves_api_version_is_the_one_that_its_crds_store() -> None:
    for kind in (kserve.SERVICE, kserve.CONFIG):
        entries = cast("list[Table]", crd_spec(kind)["versions"])
        assert (crd_spec(kind)["group"], table(crd_spec(kind)["names"])["kind"]) == (kserve.GROUP, kind)
        assert [entry["name"] for entry in entries if entry["storage"]] == [kserve.VERSION]
        assert {entry["name"] for entry in entries if entry["served"]} == {kserve.VERSION, "v1alpha1"}


def test_policies_of_names_have_the_fields_that_google_documents() -> None:
    emitted = [thing for name in ("prod", "edge") for thing in conftest.emitted_by(name)]
    policies = [thing for thing in emitted if thing["kind"] in DOCUMENTED]
    assert policies
    for policy in policies:
        assert policy["apiVersion"] == "networking.gke.io/v1alpha1"
        spec = table(policy["spec"])
        assert set(spec) == {"podSelector", "egress"}
        (rule,) = cast("list[Table]", spec["egress"])
        assert set(rule) == {"matches", "ports"}
        for match in cast("list[Table]", rule["matches"]):
            ((kind, value),) = match.items()
            assert kind == ("pattern" if "*" in str(value) else "name")


def is_judged(thing: Table) -> bool:
    """Whether the definition of its kind is at hand. The program only names GKE's GatewayClass."""
    return thing["kind"] in sources.KINDS and (thing["kind"] != "GatewayClass" or "spec" in thing)


ALWAYS = frozenset(
    {"Gateway", "HTTPRoute", "LLMInferenceService", "LLMInferenceServiceConfig", "HealthCheckPolicy"}
) | frozenset({"GCPBackendPolicy", "PodMonitoring"})
DOOR = frozenset(
    {"EnvoyProxy", "SecurityPolicy", "ClientTrafficPolicy", "EnvoyExtensionPolicy", "BackendTrafficPolicy"}
) | frozenset({"AIGatewayRoute", "InferenceObjective", "GatewayClass"})
BRINGS: dict[str, frozenset[str]] = {
    "keda": frozenset({"ScaledObject", "ClusterTriggerAuthentication", "ComputeClass"}),
    "gke": frozenset({"AutoscalingMetric"}),
    "door": DOOR,
    "tokens": DOOR,
    "istio": frozenset({"DestinationRule", "Telemetry"}),
    "mesh": frozenset({"Certificate", "DestinationRule", "PeerAuthentication", "AuthorizationPolicy"}),
}
"""Kinds that a variant has beside those of all."""
OF_GOOGLE = frozenset({"HealthCheckPolicy", "GCPBackendPolicy"})
LACKS = {"bare": frozenset({"PodMonitoring"}), "istio": OF_GOOGLE, "mesh": OF_GOOGLE}
"""Kinds of all that a variant does not have."""


@pytest.mark.parametrize("name", conftest.EMITTERS)
def test_every_custom_resource_fits_the_definition_of_its_kind(name: str) -> None:
    emitted = conftest.emitted_by(name)
    assert {str(thing["kind"]) for thing in emitted} - BUILT_IN - DOCUMENTED <= set(sources.KINDS)
    judged = [thing for thing in emitted if is_judged(thing)]
    lacking = LACKS.get(name, frozenset())
    assert {str(thing["kind"]) for thing in judged} >= (BRINGS.get(name, frozenset()) | (ALWAYS - lacking))
    by_object = {f"{thing['kind']} {table(thing['metadata'])['name']}": errors(thing) for thing in judged}
    assert {name: problems for name, problems in by_object.items() if problems} == {}
    names = [str(table(thing["metadata"])["name"]) for thing in emitted]
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]([-a-z0-9.]{,61}[a-z0-9])?", name)] == []


def test_the_managed_adapter_accepts_the_keys_of_the_labels_that_select_servers() -> None:
    emitted = conftest.emitted_by("gke")
    (metric,) = [one for one in emitted if one["kind"] == "AutoscalingMetric"]
    (entry,) = cast("list[Table]", table(metric["spec"])["metrics"])
    keys = list(table(table(table(entry["pod"])["selector"])["matchLabels"]))
    assert [key for key in keys if re.fullmatch(scaling.METRIC_LABEL_KEY, key)] == keys != []


@pytest.mark.parametrize("kind", record_front_door.KINDS)
def test_our_recorded_crds_admit_what_the_published_ones_do_and_fill_in_the_same(kind: str) -> None:
    ours, theirs = sources.recorded(kind), sources.crd(kind)
    assert table(ours["metadata"])["name"] == table(theirs["metadata"])["name"]
    for variant in ("door", "tokens"):
        for thing in [thing for thing in conftest.emitted_by(variant) if thing["kind"] == kind]:
            version = str(thing["apiVersion"])
            schema = structural.version_schema(ours, version)
            assert list(structural.errors(thing, schema, frozenset())) == []
            assert structural.defaulted(thing, schema) == structural.defaulted(
                thing, structural.version_schema(theirs, version)
            )


def test_the_chart_of_crds_is_the_one_that_would_be_recorded() -> None:
    for name, content in record_front_door.files():
        assert (record_front_door.CHART / name).read_text(encoding="utf-8") == content, (
            "run `python -m tests.schema.record_front_door` and commit what it writes"
        )


# --- each check can fail -------------------------------------------------------------------------------------------

Break = Callable[[Table], object]


def inside(thing: Table, *path: str | int) -> Table:
    node: object = thing
    for step in path:
        node = cast("list[object]", node)[step] if isinstance(step, int) else table(node)[step]
    return cast("Table", node)


def set_(*path: str | int, to: object) -> Break:
    def change(thing: Table) -> None:
        inside(thing, *path[:-1])[str(path[-1])] = to

    return change


def drop(*path: str | int) -> Break:
    return lambda thing: inside(thing, *path[:-1]).pop(str(path[-1]))


HTTP = ("spec", "default", "config", "httpHealthCheck")

BROKEN: dict[str, tuple[str, Break, str]] = {
    "a HealthCheckPolicy without the target's group, as the first deployment had it": (
        "HealthCheckPolicy",
        drop("spec", "targetRef", "group"),
        "'group' is a required property",
    ),
    "a HealthCheckPolicy with a fixed port but no port": ("HealthCheckPolicy", drop(*HTTP, "port"), "USE_FIXED_PORT"),
    "a HealthCheckPolicy whose timeout exceeds its interval": (
        "HealthCheckPolicy",
        set_("spec", "default", "timeoutSec", to=60),
        "checkIntervalSec",
    ),
    "a GCPBackendPolicy with a field beside `default`": (
        "GCPBackendPolicy",
        set_("spec", "timeoutSec", to=30),
        "'timeoutSec' was unexpected",
    ),
    "an HTTPRoute with an unknown field": (
        "HTTPRoute",
        set_("spec", "rules", 0, "retries", to=3),
        "'retries' was unexpected",
    ),
    "an HTTPRoute with a service but no port": (
        "HTTPRoute",
        drop("spec", "rules", 0, "backendRefs", 0, "port"),
        "Must have port for Service reference",
    ),
    "a Gateway with two listeners of one name": (
        "Gateway",
        lambda thing: cast("list[object]", inside(thing, "spec")["listeners"]).append(
            cast("list[object]", inside(thing, "spec")["listeners"])[0]
        ),
        "there twice",
    ),
    "a service with replicas and scaling": (
        "LLMInferenceService",
        set_("spec", "scaling", to={"minReplicas": 1, "maxReplicas": 2, "wva": {"hpa": {}}}),
        "mutually exclusive",
    ),
    "a config whose container has an unknown field": (
        "LLMInferenceServiceConfig",
        set_("spec", "template", "containers", 0, "arguments", to=[]),
        "'arguments' was unexpected",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused(one: dict[str, Table], name: str) -> None:
    kind, break_, complaint = BROKEN[name]
    thing = one[kind]
    assert errors(thing) == []
    break_(thing)
    problems = errors(thing)
    assert any(complaint in error for error in problems), f"{name} passes, or is refused for another reason: {problems}"


def test_a_version_that_is_not_served_is_refused(one: dict[str, Table]) -> None:
    with pytest.raises(LookupError, match="does not serve"):
        errors({**one["Gateway"], "apiVersion": "gateway.networking.k8s.io/v9"})


def test_fields_that_google_documents_but_has_not_published_pass(one: dict[str, Table]) -> None:
    thing = one["GCPBackendPolicy"]
    inside(thing, "spec", "default")["maxInFlightRequestsPerEndpoint"] = 100
    assert errors(thing) == []


def test_a_traced_service_fits_kserves_crd(one: dict[str, Table]) -> None:
    service = one["LLMInferenceService"]
    spec = cast("Table", tracing.spec(TracesSettings(cloud_trace=True)))
    assert errors({**service, "spec": {**table(service["spec"]), "tracing": spec}}) == []
    assert errors({**service, "spec": {**table(service["spec"]), "tracing": {**spec, "samplerArg": 0.5}}})


@pytest.mark.parametrize("kind", gke.kinds())
def test_the_policies_know_the_fields_of_gkes_kinds(kind: str) -> None:
    def leaves(fields: gke_policies.Fields, above: str) -> Iterator[str]:
        for name, inner in fields.items():
            yield from leaves(inner, f"{above}.{name}") if inner else (f"{above}.{name}",)

    recorded = [path.replace("[]", "") for path in table(gke.kinds()[kind]["fields"])]
    spec = {path for path in recorded if path.startswith("spec.") and not any(f"{path}." in one for one in recorded)}
    assert {*leaves(gke_policies.FIELDS[kind], "spec")} == spec


@pytest.mark.parametrize("kind", gke.kinds())
def test_the_policies_know_the_values_of_gkes_kinds(kind: str) -> None:
    fields = {path.replace("[]", ""): table(field) for path, field in table(gke.kinds()[kind]["fields"]).items()}
    choices = {path: sorted(cast("list[str]", field["enum"])) for path, field in fields.items() if "enum" in field}
    shape = (".type", ".portSpecification")  # a health check's: judged with its block and port
    for path in [path for path in choices if kind == "HealthCheckPolicy" and path.endswith(shape)]:
        del choices[path]
    assert {path: sorted(values) for path, values in gke_policies.VALUES.items() if path in fields} == choices
