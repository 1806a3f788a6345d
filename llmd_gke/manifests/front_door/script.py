"""The door's Lua script, its only code in the data plane.

It runs after the check of keys and after AI Gateway has read the body, and before the endpoint picker. Before Envoy
Gateway accepts it, it runs it once with stand-ins for Envoy's objects (envoyproxy/gateway v1.8.3 ``luavalidator``).
"""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.manifests.front_door import listing, stopped
from llmd_gke.settings import FrontDoorSettings, ModelSettings

_REQUEST = """\
function envoy_on_request(handle)
  local id = handle:headers():get("{caller}")
  if id then
    local caller = {caller_of_id}
    for _, name in ipairs({{{names}}}) do
      handle:headers():replace(name, caller)
    end
  end
  local path = handle:headers():get(":path") or ""
  if path:find("?", 1, true) then
    handle:headers():replace(":path", (path:match("^[^?]*")))
  end{more}
  if path:find("^/v1/[^?]*completions") then
    local body = handle:body()
    local text = body and body:getBytes(0, body:length()) or ""
    local usage = text:find('"continuous_usage_stats"%s*:%s*true') and "all"
      or text:find('"include_usage"%s*:%s*true') and "last" or "none"
    handle:streamInfo():dynamicMetadata():set("llmd-gke", "usage", usage)
  end
end
"""
"""Key authentication can set one header only, and the endpoint picker reads two. A query string has no meaning in
OpenAI's API; the endpoint picker of the inference extension 1.5.0 takes a chat with one for a completion."""
_OF_A_KEY = 'id:match("^[^.]+")'
"""``team-a.next`` is ``team-a``. A claim is used unchanged: ``team-a.x`` is a caller of its own."""
_REMOVE_AUTHORIZATION = '\n  handle:headers():remove("authorization")'
"""Tokens are not forwarded to models, which could otherwise act as the caller. Envoy Gateway removes keys itself
(``sanitize``)."""

_RESPONSE = """
local function without_usage(handle, last)
  local function shown(event)
    if event:find('"choices"%s*:%s*%[%s*%]') and event:find('"usage"') then
      return last and event or ""
    end
    return (event:gsub(',%s*"usage"%s*:%s*%b{}', ""))
  end
  local rest = ""
  for chunk in handle:bodyChunks() do
    local text = rest .. chunk:getBytes(0, chunk:length())
    local whole = #text > 1048576 and text or text:match("^.*\\n\\r?\\n") or ""
    rest = text:sub(#whole + 1)
    chunk:setBytes((whole:gsub("data: [^\\n]*\\n\\r?\\n", shown)))
  end
end

function envoy_on_response(handle)
  local status = handle:headers():get(":status")
  local asked = handle:streamInfo():dynamicMetadata():get("llmd-gke")
  local usage = asked and asked.usage
  local stream = (handle:headers():get("content-type") or ""):find("event-stream", 1, true)
  if stream and (usage == "none" or usage == "last") and not handle:headers():get("content-encoding") then
    return without_usage(handle, usage == "last")
  end
  if (status ~= "400" and status ~= "422") or handle:headers():get("content-encoding") then
    return
  end
  local body = handle:body(true)
  local text = body:getBytes(0, body:length())
  local reason = text:match('^{"type":"error","error":{.-"message":"(.*)"}}%s*$')
  if not reason then
    if text:match("^%s*{") then
      return
    end
    reason = text:match("%S") and text or "The path, a header or the body of the request is not valid."
  end
  reason = reason:gsub('[%c"\\\\]', function(char) return string.format("\\\\u%04x", char:byte()) end)
  local answer = '{"error": {"message": "' .. reason .. '", "type": "invalid_request_error", "param": null, '
    .. '"code": "invalid_request"}}'
  handle:headers():replace("content-type", "application/json")
  handle:headers():replace("content-length", tostring(body:setBytes(answer)))
end
"""
"""Removes from streams the usage that the client has not asked for: AI Gateway asks for it in the last event of every
chat that streams (envoyproxy/ai-gateway v1.0.0 ``ChatCompletionsEndpointSpec.ParseBody``), and a server with
:data:`llmd_gke.catalog.front_door.FORCED_USAGE` reports it in every event. AI Gateway has counted it by then, next to
the server. Clients of OpenAI read the first of ``choices``, of which the last event has none.

Writes the reason of a 400 or 422 in OpenAI's form. A model's own answer, a JSON object, passes unchanged. The
endpoint picker's is plain text, Envoy's own is empty, and AI Gateway quotes the parser's message without escaping it,
which may be invalid JSON (envoyproxy/ai-gateway v1.0.0 ``formatUserFacingErrorJSON``)."""


def code(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> str:
    """The script: passes the caller to the endpoint picker in the two headers that it reads, removes query strings,
    answers ``GET /v1/models`` and for models that are stopped, removes usage from streams, and says why a request is
    not valid.
    """
    headers = (front_door.CALLER_HEADER, *front_door.FAIRNESS_HEADERS, *front_door.OBJECTIVE_HEADERS)
    request = _REQUEST.format(
        caller=front_door.CALLER_HEADER,
        names=", ".join(f'"{header}"' for header in headers),
        caller_of_id=_OF_A_KEY if door.uses_keys else "id",
        more=("" if door.uses_keys else _REMOVE_AUTHORIZATION) + listing.lua(door, models) + stopped.lua(door, models),
    )
    return request + _RESPONSE
