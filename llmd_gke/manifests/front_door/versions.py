"""How the front door divides a model's requests between its versions.

AI Gateway takes one InferencePool a rule, and ignores weights (envoyproxy/ai-gateway v1.0.0 ``AIGatewayRouteRule``). So
the script says before routing which hundredth of the requests a request is in, and each version's route takes as many
of them as the rollout says: the stable version's takes every request for the model, and that of another also asks for
the header, which makes it the more specific one (https://gateway-api.sigs.k8s.io/reference/spec/#httprouterule).
A step of a rollout thus changes one route at once, and not the script, which is a part of the listener: Envoy closes
the connections of a listener that changes (envoyproxy/gateway v1.8.3 ``internal/xds/translator/lua.go``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from llmd_gke.catalog import front_door
from llmd_gke.json_types import JsonObject
from llmd_gke.settings import ModelSettings
from llmd_gke.settings.sections.versions import DIRECT

REQUEST_ID = "x-request-id"


def lua(models: Sequence[ModelSettings]) -> str:
    """Lines of the script's request function, after it has set the caller's header; none without versions.

    The share is a hash of the caller, so that all proxies agree and a larger percent keeps those who were in a smaller
    one; or of the request's ID and a random number, as a client may send an ID of its own, and each thread of a proxy
    has the same random numbers. The header is set whatever a client has sent. A name that only one version answers to
    leads there.
    """
    entries = ", ".join(_entries(models))
    if not entries:
        return ""
    return f"""
  local divided = {{{entries}}}
  local by = divided[handle:headers():get("{front_door.MODEL_HEADER}") or ""]
  if by then
    local share = "{DIRECT}"
    if by[1] then
      local hash = 0
      for _, char in ipairs({{(by[1] .. (handle:headers():get(by[2]) or "")):byte(1, -1)}}) do
        hash = (hash + char) * 7919 % 1000003
      end
      share = tostring((hash + (by[2] == "{REQUEST_ID}" and math.random(0, 99) or 0)) % 100)
    end
    handle:headers():replace("{front_door.SHARE_HEADER}", share)
  end"""


def _entries(models: Sequence[ModelSettings]) -> Iterator[str]:
    """By name in requests: what the hash begins with, and the header that it is of; nothing for a single version."""
    released = [(model, model.release) for model in models if model.release is not None and not model.stopped]
    count = Counter(name for model, _ in released for name in model.names)
    sources = {name: (model.model_name, release.sticky) for model, release in released for name in model.names}
    for name, (model, sticky) in sources.items():
        header = front_door.CALLER_HEADER if sticky else REQUEST_ID
        of = f"{json.dumps(model)}, {json.dumps(header)}" if count[name] > 1 else ""
        yield f"[{json.dumps(name)}] = {{{of}}}"


def share(model: ModelSettings) -> JsonObject | None:
    """The match of the header by the route of a version; ``None`` for the stable one, and without versions."""
    release = model.release
    if release is None or release.stable == model.name:
        return None
    taken = "|".join([DIRECT, *map(str, range(release.shares[model.name]))])
    return {"type": "RegularExpression", "name": front_door.SHARE_HEADER, "value": taken}
