"""What streams say of their tokens, where token budgets count them.

vLLM reports the tokens of a stream only if the request asks for it, in a last event without ``choices``. AI Gateway
asks for it in chats, and takes what it counts from there (envoyproxy/ai-gateway v1.0.0 ``internal/endpointspec``). A
client that did not ask fails at ``choices[0]`` of that event. So a Lua filter asks in completions, too, and takes the
event out of the answers to those who did not ask. It reads answers after AI Gateway; the script of the door's
EnvoyExtensionPolicy reads them before, so that an EnvoyPatchPolicy adds this filter.
"""

from __future__ import annotations

from llmd_gke.json_types import JsonObject

CODE = """\
local function has(text, key)
  return text:find('[^\\\\]"' .. key .. '"%s*:%s*true') ~= nil
end

function envoy_on_request(handle)
  local path = (handle:headers():get(":path") or ""):match("^[^?]*")
  local body = (path == "/v1/chat/completions" or path == "/v1/completions") and handle:body()
  if not body then
    return
  end
  local text = body:getBytes(0, body:length())
  if not has(text, "include_usage") then
    handle:streamInfo():dynamicMetadata():set("front-door", "unasked", "yes")
  end
  if path == "/v1/completions" then
    local plain = text:gsub("\\\\u00(%x%x)", function(code) return string.char(tonumber(code, 16)) end)
    if has(plain, "stream") then
      body:setBytes((text:gsub("}%s*$", ',"stream_options":{"include_usage":true}}')))
    end
  end
end

function envoy_on_response(handle)
  local kept = handle:streamInfo():dynamicMetadata():get("front-door") or {}
  local kind = handle:headers():get("content-type") or ""
  if not kept["unasked"] or not kind:find("text/event-stream", 1, true) then
    return
  end
  local rest = ""
  for chunk in handle:bodyChunks() do
    local length = chunk:length()
    local text = rest .. chunk:getBytes(0, length)
    local whole = length == 0 and text or text:match("^.*\\n\\n") or ""
    rest = text:sub(#whole + 1)
    chunk:setBytes((whole:gsub('data: [^\\n]*"choices":%s*%[%s*%][^\\n]*\\n\\n', "")))
  end
end
"""
"""In a text of a request or an answer a quotation mark has a backslash before it. Of a key that is there twice the
server takes the last one; escaped letters in a key are letters. An event may come in several pieces."""

FILTER: JsonObject = {
    "name": "front-door.usage",
    "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
        "default_source_code": {"inline_string": CODE},
    },
}
"""The filter. AI Gateway puts its own before the first that has a name of Envoy Gateway's."""
