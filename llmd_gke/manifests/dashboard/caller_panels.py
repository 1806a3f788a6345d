"""Panels about the front door's callers, and the expressions that ``llmd-gke usage`` also evaluates."""

from __future__ import annotations

from llmd_gke.catalog.front_door import METRICS_JOB
from llmd_gke.catalog.metrics import AiGateway
from llmd_gke.manifests import promql
from llmd_gke.manifests.dashboard.panel import Panel, Query
from llmd_gke.settings import StackSettings

METRICS = "https://aigateway.envoyproxy.io/docs/capabilities/observability/metrics"

CALLER, MODEL, TOKEN_TYPE = "caller", "gen_ai_request_model", "gen_ai_token_type"
VERSION = "gen_ai_response_model"
"""The name in answers: of a version, its own (:attr:`llmd_gke.settings.ModelSettings.answers_to`)."""
INPUT, OUTPUT = "input", "output"
"""Values of the label :data:`TOKEN_TYPE`. Others, such as ``cached_input``, are parts of these two."""


def callers(settings: StackSettings, window: str) -> list[Panel]:
    """Requests and tokens by caller and model; none without a front door whose proxies are scraped."""
    if settings.front_door is None or not settings.monitoring.scrape:
        return []
    return [
        Panel(
            key=key,
            title=title,
            unit="per second",
            queries=(Query(_sum(expression, CALLER, MODEL), f"{{{{{CALLER}}}}} {{{{{MODEL}}}}}"),),
            reading=reading,
            source=METRICS,
            kind="stacked",
        )
        for key, title, expression, reading in (
            ("caller-requests", "Requests by caller", requests(settings, "rate", window),
             "Answered requests that reported tokens. A caller's second key has a line of its own."),
            ("caller-tokens", "Tokens by caller", tokens(settings, "rate", window),
             "Tokens of prompts and answers together, as the callers' budgets count them."),
        )
    ]  # fmt: skip


def used(settings: StackSettings, seconds: int) -> dict[str, str]:
    """Expressions of the use in the last ``seconds``: ``requests``, and the streams that have ``begun`` and those that
    ``ended``, by caller and model, and by version where a model has several; ``tokens`` also by type.
    """
    window = f"{seconds}s"
    who = (CALLER, MODEL, *([VERSION] if any(model.versions for model in settings.models) else []))
    return {
        "requests": _sum(requests(settings, "increase", window), *who),
        "tokens": _sum(tokens(settings, "increase", window), *who, TOKEN_TYPE),
        **{
            key: _sum(f"increase({metric}_count{_selector(settings)}[{window}])", *who)
            for key, metric in (("begun", AiGateway.STREAM_BEGUN), ("ended", AiGateway.STREAM_ENDED))
        },
    }


def requests(settings: StackSettings, function: str, window: str) -> str:
    """Requests by caller and model. Each is observed once per type of token, so only prompt tokens' are counted."""
    selector = _selector(settings, f'{TOKEN_TYPE}="{INPUT}"')
    return f"{function}({AiGateway.TOKENS}_count{selector}[{window}])"


def tokens(settings: StackSettings, function: str, window: str) -> str:
    """Tokens of prompts and answers by caller, model and type."""
    selector = _selector(settings, promql.one_of(TOKEN_TYPE, (INPUT, OUTPUT)))
    return f"{function}({AiGateway.TOKENS}_sum{selector}[{window}])"


def _selector(settings: StackSettings, *more: str) -> str:
    return "{" + ",".join((f'cluster="{settings.cluster.gke_name}"', f'job="{METRICS_JOB}"', *more)) + "}"


def _sum(expression: str, *labels: str) -> str:
    return f"sum by ({', '.join(labels)}) ({expression})"
