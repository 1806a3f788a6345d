"""The door's Lua script, its only code in the data plane.

It runs after the check of keys and after AI Gateway has read the body, and before the endpoint picker. Before Envoy
Gateway accepts it, it runs it once with stand-ins for Envoy's objects (envoyproxy/gateway v1.8.3 ``luavalidator``).
"""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.manifests.front_door import listing, stopped, versions
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
function envoy_on_response(handle)
  local status = handle:headers():get(":status")
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
"""Writes the reason of a 400 or 422 in OpenAI's form. A model's own answer, a JSON object, passes unchanged. The
endpoint picker's is plain text, Envoy's own is empty, and AI Gateway quotes the parser's message without escaping it,
which may be invalid JSON (envoyproxy/ai-gateway v1.0.0 ``formatUserFacingErrorJSON``)."""


def code(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> str:
    """The script: passes the caller to the endpoint picker in the two headers that it reads, removes query strings,
    answers ``GET /v1/models`` and for models that are stopped, divides requests between versions, and says why a
    request is not valid.
    """
    headers = (front_door.CALLER_HEADER, *front_door.FAIRNESS_HEADERS, *front_door.OBJECTIVE_HEADERS)
    request = _REQUEST.format(
        caller=front_door.CALLER_HEADER,
        names=", ".join(f'"{header}"' for header in headers),
        caller_of_id=_OF_A_KEY if door.uses_keys else "id",
        more=("" if door.uses_keys else _REMOVE_AUTHORIZATION)
        + listing.lua(door, models)
        + stopped.lua(door, models)
        + versions.lua(models),
    )
    return request + _RESPONSE
