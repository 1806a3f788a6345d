"""Google's discovery documents, as google-api-python-client ships them: which methods and which fields exist."""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from localcloud.providers.protocol.values import JsonObject, JsonValue

DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "compute.googleapis.com": ("compute.v1", "compute.beta"),
    "container.googleapis.com": ("container.v1", "container.v1beta1"),
    "serviceusage.googleapis.com": ("serviceusage.v1", "serviceusage.v1beta1"),
    "cloudbilling.googleapis.com": ("cloudbilling.v1",),
    "cloudresourcemanager.googleapis.com": ("cloudresourcemanager.v1", "cloudresourcemanager.v3"),
    "iam.googleapis.com": ("iam.v1",),
    "storage.googleapis.com": ("storage.v1",),
    "dns.googleapis.com": ("dns.v1",),
    "monitoring.googleapis.com": ("monitoring.v3", "monitoring.v1"),
}
"""Host to the documents of its versions. The version is the beginning of a path.

For any other host every version counts that Google's client library ships: a further service needs no line here.
"""

UNDOCUMENTED: Mapping[str, tuple[str, ...]] = {
    # hashicorp/terraform-provider-google 7.39 services/compute/resource_compute_router_nat.go sends it.
    "RouterNat": ("initialNatIps",),
}
"""Fields that Google accepts although its documents do not list them, by schema, each with the client that sends it."""

STANDARD = frozenset({
    "alt", "fields", "key", "prettyPrint", "quotaUser", "userIp", "$alt", "$.xgafv", "access_token", "callback",
    "oauth_token", "uploadType", "upload_protocol", "userProject",
})  # fmt: skip
"""Query parameters that every method accepts."""


@dataclass(frozen=True)
class Method:
    """A method of an API: ``id`` such as ``compute.networks.insert``, whatever the version."""

    id: str
    http: str
    path: re.Pattern[str]
    parameters: frozenset[str]
    request: str
    response: str
    document: str


def documents(host: str) -> tuple[str, ...]:
    """The documents of an API's versions, none for one that Google does not have."""
    return DOCUMENTS.get(host) or _shipped(host.partition(".")[0])


def methods(document: str) -> frozenset[str]:
    """Ids of every method in a document."""
    return frozenset(method.id for method in _methods(document))


def find(host: str, http: str, path: str) -> tuple[Method, dict[str, str]] | None:
    """The method of a request, with the parameters of its path. ``path`` has no slash in front."""
    for name in documents(host):
        if not path.startswith(_prefix(name)):
            continue
        for method in _methods(name):
            if method.http == http and (match := method.path.fullmatch(path)):
                return method, {key.rstrip("_"): value for key, value in match.groupdict().items()}
    return None


def parameter(method: Method, name: str) -> str:
    """The documented name of a query parameter that may be written as in Google's own definitions, with underscores.

    Upstream's provider sends ``repository_id`` (services/artifactregistry/resource_artifact_registry_repository.go).
    """
    documented = re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
    return documented if documented in method.parameters else name


def fields(method: Method) -> Collection[str]:
    """The documented fields of a method's body."""
    return cast("dict[str, JsonValue]", _schemas(method.document)[method.request]["properties"])


def problems(document: str, schema: str, value: JsonValue, path: str = "") -> Iterator[str]:
    """Violations of a schema by a value, in the wording of Google's JSON parser."""
    shape = _schemas(document).get(schema)
    if shape is not None:
        yield from _shape(document, shape, value, path)


def _shape(document: str, shape: JsonObject, value: JsonValue, path: str) -> Iterator[str]:
    if (ref := shape.get("$ref")) is not None:
        yield from problems(document, str(ref), value, path)
        return
    kind = shape.get("type")
    if value is None or kind == "any":
        return
    if kind == "object":
        yield from _object(document, shape, value, path)
    elif kind == "array":
        if not isinstance(value, list):
            yield _wrong(path, "a list", value)
            return
        inner = cast("JsonObject", shape.get("items", {}))
        for index, item in enumerate(value):
            yield from _shape(document, inner, item, f"{path}[{index}]")
    else:
        yield from _scalar(shape, value, path)


def _object(document: str, shape: JsonObject, value: JsonValue, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _wrong(path, "an object", value)
        return
    properties = cast("dict[str, JsonObject]", shape.get("properties", {}))
    rest = shape.get("additionalProperties")
    for key, item in value.items():
        where = f"{path}.{key}" if path else key
        if key in properties:
            yield from _shape(document, properties[key], item, where)
        elif isinstance(rest, dict):
            yield from _shape(document, rest, item, where)
        else:
            at = f" at '{path}'" if path else ""
            yield f'Invalid JSON payload received. Unknown name "{key}"{at}: Cannot find field.'


def _scalar(shape: JsonObject, value: JsonValue, path: str) -> Iterator[str]:
    kind, written = shape.get("type"), shape.get("format", "")
    if kind == "string" and not isinstance(value, str):
        if not (str(written).endswith("64") and isinstance(value, int)):
            yield _wrong(path, "a string", value)
    elif kind == "boolean" and not isinstance(value, bool):
        yield _wrong(path, "true or false", value)
    elif kind in ("integer", "number") and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield _wrong(path, "a number", value)
    elif "enum" in shape and value and value not in cast("list[str]", shape["enum"]):
        yield f"Invalid value at '{path}', \"{value}\""


def _wrong(path: str, due: str, value: JsonValue) -> str:
    return f"Invalid value at '{path}', {json.dumps(value)[:60]}: {due} is expected"


_FOLDER = importlib.resources.files("googleapiclient") / "discovery_cache" / "documents"


@cache
def _shipped(api: str) -> tuple[str, ...]:
    names = [file.name.removesuffix(".json") for file in _FOLDER.iterdir()]
    return tuple(sorted(name for name in names if name.startswith(f"{api}.")))


@cache
def _document(name: str) -> JsonObject:
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@cache
def _schemas(name: str) -> dict[str, JsonObject]:
    schemas = cast("dict[str, JsonObject]", _document(name)["schemas"])
    for schema, fields in UNDOCUMENTED.items():
        if schema in schemas:
            cast("dict[str, JsonObject]", schemas[schema]["properties"]).update(
                {one: {"type": "any"} for one in fields}
            )
    return schemas


@cache
def _prefix(name: str) -> str:
    """The prefix of paths of that version."""
    api, _, version = name.partition(".")
    return str(_document(name)["servicePath"]) or (f"{api}/{version}/" if api == "dns" else f"{version}/")


@cache
def _methods(name: str) -> tuple[Method, ...]:
    """The methods of a document, those with the longest literal path first: ``{name}:setSize`` before ``{name}``."""
    document = _document(name)
    methods = list(_read(name, document, str(document["servicePath"])))
    return tuple(sorted(methods, key=lambda method: -len(re.sub(r"\(.*?\)", "", method.path.pattern))))


def _read(name: str, holder: JsonObject, service: str) -> Iterator[Method]:
    for method in cast("dict[str, JsonObject]", holder.get("methods", {})).values():
        parameters = cast("dict[str, JsonObject]", method.get("parameters", {}))
        yield Method(
            id=str(method["id"]),
            http=str(method["httpMethod"]),
            path=_pattern(service + str(method["path"]), parameters),
            parameters=frozenset(parameters) | STANDARD,
            request=str(cast("JsonObject", method.get("request", {})).get("$ref", "")),
            response=str(cast("JsonObject", method.get("response", {})).get("$ref", "")),
            document=name,
        )
    for below in cast("dict[str, JsonObject]", holder.get("resources", {})).values():
        yield from _read(name, below, service)


def _pattern(path: str, parameters: Mapping[str, JsonObject]) -> re.Pattern[str]:
    """``v1/{+name}:setSize`` as a pattern with one group per parameter."""
    text = ""
    for part in re.split(r"({\+?\w+})", path):
        if not part.startswith("{"):
            text += re.escape(part)
            continue
        name = part.strip("{+}")
        given = str(parameters.get(name, {}).get("pattern", "")).removeprefix("^").removesuffix("$")
        whole = given if part.startswith("{+") and given else "[^/]+"
        # A group's name must not be a keyword; a segment ends before the colon and the verb.
        text += f"(?P<{name}_>{whole.replace('[^/]+', '[^/:]+') if 'serviceAccounts' not in whole else whole})"
    return re.compile(text)
