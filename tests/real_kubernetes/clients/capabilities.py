"""What published clients do through each gateway: the table of ``docs/laptop-gateway.md``, and the tests of each cell.

``tests/test_published_clients.py`` compares the page with it, and it with the tests.
"""

from __future__ import annotations

from typing import NamedTuple

PATH, DOOR = "test_clients", "test_clients_door"
"""Files of tests: a model's path through four gateways, and the front door."""
HEAD = ("Capability", "Model's path, internal and external, HTTP and HTTPS", "Front door")
BOTH = "both `openai`"


class Cell(NamedTuple):
    """What the page says, and the tests that show it (names without ``test_``)."""

    text: str = ""
    tests: tuple[str, ...] = ()


class Capability(NamedTuple):
    """A line of the table."""

    name: str
    path: Cell = Cell()
    door: Cell = Cell()


CAPABILITIES: tuple[Capability, ...] = (
    Capability(
        "chat, completion, both as streams, usage of a stream, list of models",
        Cell(
            BOTH,
            (
                "a_chat_and_a_completion_come_back_whole",
                "a_stream_comes_in_pieces_with_its_usage_at_the_end",
                "the_list_of_models_has_both_names",
            ),
        ),
        Cell(BOTH, ("chats_completions_and_streams_come_back_whole", "the_list_of_models_has_both_models")),
    ),
    Capability(
        "tools, also streamed; structured output",
        Cell(BOTH, ("a_tool_is_called_with_its_argument", "a_request_for_structured_output_passes")),
        Cell(BOTH, ("a_tool_is_called_and_structured_output_passes",)),
    ),
    Capability(
        "32 chats at once, each with its own answer",
        Cell(BOTH, ("many_at_once_get_each_its_own_answer",)),
        Cell(BOTH, ("many_at_once_get_each_its_own_answer",)),
    ),
    Capability(
        "unknown model 404, wrong request 400, longer than the context 400: the client's kind of error, with a message",
        Cell(BOTH, ("an_error_of_the_server_is_read_by_the_client",)),
        Cell(BOTH, ("an_error_is_read_by_the_client",)),
    ),
    Capability(
        "a path that no route has",
        Cell(
            "404 in plain text: the client's kind of error, no message; `curl`",
            (
                "the_load_balancers_own_404_is_an_error_without_a_message",
                "a_path_of_nobody_gets_the_load_balancers_answer",
            ),
        ),
        Cell("404 with a message", ("an_error_is_read_by_the_client",)),
    ),
    Capability(
        "a wrong key",
        Cell("ignored", ("a_key_is_neither_needed_nor_looked_at_at_the_path_of_a_model",)),
        Cell("401 with a message", ("an_error_is_read_by_the_client",)),
    ),
    Capability(
        "a model that the caller may not use 403, a body over the limit 413, a caller over its limit 429",
        door=Cell(
            f"{BOTH}, with a message",
            (
                "a_model_of_others_is_forbidden",
                "a_body_over_the_limit_gets_413",
                "a_caller_over_its_limit_gets_429",
            ),
        ),
    ),
    Capability(
        "a server that fails: two more attempts by the client, none by the load balancer",
        Cell(BOTH, ("a_failing_server_is_asked_again_by_the_client_and_not_by_the_load_balancer",)),
        Cell(f"{BOTH}: the client's attempts", ("a_failing_server_is_asked_again",)),
    ),
    Capability(
        "the client's time-out; leaving a stream, which the load balancer passes on",
        Cell(
            BOTH,
            (
                "a_time_out_of_the_client_ends_its_waiting",
                "a_client_that_leaves_a_stream_leaves_nothing_in_the_load_balancer",
            ),
        ),
        Cell(f"{BOTH}: what the client sees", ("a_client_may_stop_waiting_and_leave_a_stream",)),
    ),
    Capability(
        "HTTP/1.1; HTTP/2 over TLS; streams as events; broken JSON 400; a certificate of an unknown authority",
        Cell(
            "`curl`",
            (
                "curl_speaks_http_1_1",
                "curl_gets_http_2_over_tls",
                "curl_that_would_like_http_2_gets_http_1_1_without_tls",
                "a_stream_reaches_curl_as_events",
                "what_is_no_json_gets_400",
                "a_client_that_does_not_know_the_authority_refuses_the_certificate",
            ),
        ),
        Cell("`curl`: HTTP/1.1", ("curl_and_guidellm_are_served_with_a_key",)),
    ),
    Capability(
        "HTTP/2 without TLS (prior knowledge)",
        Cell("`curl`: served here, not checked on GKE", ("curl_that_insists_on_http_2_without_tls_is_served_here",)),
        Cell("`curl`: the same", ("curl_and_guidellm_are_served_with_a_key",)),
    ),
    Capability(
        "load with one stream and with two, no error",
        Cell("guidellm, over HTTPS too", ("guidellm_measures_without_an_error",)),
        Cell("guidellm, with a key", ("curl_and_guidellm_are_served_with_a_key",)),
    ),
)  # fmt: skip


def table() -> str:
    """The table of the page, in Markdown."""
    lines = [HEAD, *((one.name, one.path.text, one.door.text) for one in CAPABILITIES)]
    rows = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines]
    return "\n".join([rows[0], "|" + "---|" * len(HEAD), *rows[1:]])
