"""What streams say of their tokens, where token budgets make servers report them to everyone.

With :data:`~llmd_gke.catalog.front_door.FORCED_USAGE` vLLM 0.27 reports usage in every event of a stream, and sends a
last event without ``choices`` (``should_include_usage``). A client that asked for neither adds up the former, and fails
at ``choices[0]`` of the latter. AI Gateway counts the last usage of a stream, after this script has run
(envoyproxy/ai-gateway v1.0.0 ``extractUsageFromBufferEvent``), so usage cannot be removed altogether: it stays in the
last event, which gets an empty choice.
"""

from __future__ import annotations

from llmd_gke.settings import FrontDoorSettings

CHOICES = {
    "/v1/chat/completions": '{"index":0,"delta":{},"logprobs":null,"finish_reason":null}',
    "/v1/completions": '{"index":0,"text":"","logprobs":null,"finish_reason":null}',
}
"""The empty choice of an event, by path."""

_REQUEST = """
  local choice = ({choices})[handle:headers():get(":path")]
  local body = choice and handle:body()
  if body then
    local text = body:getBytes(0, body:length())
    local kept = handle:streamInfo():dynamicMetadata()
    if not text:find('[^\\\\]"continuous_usage_stats"%s*:%s*true') then
      kept:set("front-door", "last", "yes")
    end
    if not text:find('[^\\\\]"include_usage"%s*:%s*true') then
      kept:set("front-door", "choice", choice)
    end
  end"""
"""A quotation mark inside a text of the request has a backslash before it."""

_RESPONSE = """
  local kept = handle:streamInfo():dynamicMetadata():get("front-door") or {}
  local kind = handle:headers():get("content-type") or ""
  if kept["last"] and kind:find("text/event-stream", 1, true) and not handle:headers():get("content-encoding") then
    local rest = ""
    for chunk in handle:bodyChunks() do
      local length = chunk:length()
      local text = rest .. chunk:getBytes(0, length)
      local shown, from = {}, 1
      local last = text:find("\\n\\n", from, true)
      while last do
        local event = text:sub(from, last + 1)
        if not event:find('"choices":%s*%[%s*%]') then
          event = event:gsub(',%s*"usage":%s*%b{}', "", 1)
        elseif kept["choice"] then
          event = event:gsub('"choices":%s*%[%s*%]', function() return '"choices":[' .. kept["choice"] .. "]" end, 1)
        end
        shown[#shown + 1], from = event, last + 2
        last = text:find("\\n\\n", from, true)
      end
      rest = text:sub(from)
      if length == 0 then
        shown[#shown + 1], rest = rest, ""
      end
      chunk:setBytes(table.concat(shown))
    end
    return
  end"""
"""An event may come in several pieces; what follows the last event's end is sent with the next piece, or the end."""


def request_lua(door: FrontDoorSettings) -> str:
    """Lines of the script's request function, after it has removed the query; none without token budgets."""
    if not door.counts_tokens:
        return ""
    entries = ", ".join(f"['{path}'] = '{choice}'" for path, choice in CHOICES.items())
    return _REQUEST.replace("{choices}", f"{{{entries}}}")


def response_lua(door: FrontDoorSettings) -> str:
    """Lines at the beginning of the script's response function; none without token budgets."""
    return _RESPONSE if door.counts_tokens else ""
