"""Results for people: one run, or two side by side."""

from __future__ import annotations

from datetime import date

from rich.table import Table

from llmd_gke.catalog.zones import PRICES_AS_OF, old_prices
from llmd_gke.wording import cents, counted
from operations.bench.result import BenchResult, Level, workloads
from operations.printing import table

NAMES = {"random": "no common prefix (control)", "shared": "a common prefix", "agentic": "the history of a session"}
HEADINGS = (
    "at once",
    "requests",
    "failed",
    "output tokens/s",
    "TTFT p50",
    "p95",
    "between tokens",
    "cached",
    "USD a million",
)


def run(result: BenchResult, today: date) -> list[Table | str]:
    """A table for each workload, the reason why it ended, the gain of the shared prefix, and the age of the price."""
    parts: list[Table | str] = []
    for kind in workloads(result):
        made = table(f"{result.model} of stack {result.stack}: prompts with {NAMES[kind]}", (), HEADINGS)
        best = result.best(kind)
        for level in result.of(kind):
            price = result.usd_per_million(level)
            made.add_row(
                str(level.concurrency),
                str(level.requests),
                str(level.errors),
                f"{level.output_tokens_per_second:,.0f}",
                _time(level.ttft_p50),
                _time(level.ttft_p95),
                _time(level.itl_p50),
                _share(level.cached_share),
                "-" if price is None else f"{price:,.2f}",
                style="bold" if level is best else "",
            )
        stopped = result.stopped.get(kind, "the maximum concurrency (--most) was reached")
        parts += [made, *_by_turn(best), f"Stopped: {stopped}."]
    parts += gain(result)
    if result.usd_per_hour is None and not result.mark:
        parts.append("No price: there is no public price for this capacity and region.")
    elif result.usd_per_hour is not None and not result.mark:
        parts.append(
            f"Price: {counted(result.chips, 'chip')} at {cents(result.usd_per_hour):,.2f} USD per hour, list price of "
            f"{PRICES_AS_OF}."
        )
        parts += [old] if (old := old_prices(today)) is not None else []
    if result.mark:
        parts.append(f"NOT A MEASUREMENT: {result.mark}.")
    return parts


def _by_turn(level: Level | None) -> list[Table | str]:
    if level is None or len(level.turns) < 2:
        return []
    headings = ("turn", "requests", "prompt tokens", "TTFT p50", "cached")
    made = table(f"By turn, {level.concurrency} at once", (), headings)
    for number, turn in enumerate(level.turns, 1):
        counts = (str(number), str(turn.requests), str(turn.prompt_tokens))
        made.add_row(*counts, _time(turn.ttft_p50), _share(turn.cached_share))
    return [made]


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.0%}"


def gain(result: BenchResult) -> list[str]:
    """Sentences on what prompts with a shared prefix gain over the control, for each concurrency that both have."""
    control = {level.concurrency: level for level in result.of("random")}
    differences: list[str] = []
    for level in result.of("shared"):
        other = control.get(level.concurrency)
        if other and other.ttft_p50 and other.output_tokens_per_second:
            first = level.ttft_p50 / other.ttft_p50 - 1
            through = level.output_tokens_per_second / other.output_tokens_per_second - 1
            differences.append(f"{level.concurrency} concurrent: first token {first:+.0%}, throughput {through:+.0%}")
    return [f"Common prefix compared with control: {'; '.join(differences)}."] if differences else []


def comparison(old: BenchResult, new: BenchResult) -> list[Table | str]:
    """Each level that both results have, with the change."""
    parts: list[Table | str] = []
    for kind in workloads(old):
        headings = ("at once", "output tokens/s", "TTFT p50", "TTFT p95", "between tokens", "failed")
        made = table(f"Prompts with {NAMES[kind]}: {old.taken} → {new.taken}", (), headings)
        before = {level.concurrency: level for level in old.of(kind)}
        both = [(before[level.concurrency], level) for level in new.of(kind) if level.concurrency in before]
        for one, other in both:
            made.add_row(str(one.concurrency), *_changes(one, other))
        if both:
            parts.append(made)
        parts += _cheapest(kind, old, new)
    if not parts:
        parts.append("The two results share no combination of workload and concurrency.")
    parts += [f"Not the same: {difference}." for difference in differences(old, new)]
    parts += [f"NOT A MEASUREMENT ({name}): {one.mark}." for name, one in (("first", old), ("second", new)) if one.mark]
    return parts


def differences(old: BenchResult, new: BenchResult) -> list[str]:
    """Sentences on differences between the runs that make their results hard to compare."""
    pairs = {
        "cloud": (old.cloud, new.cloud),
        "model": (old.model, new.model),
        "hardware": (old.hardware, new.hardware),
        "chips": (old.chips, new.chips),
        "generator": (old.generator, new.generator),
        **{key: (old.settings.get(key), new.settings.get(key)) for key in sorted({*old.settings, *new.settings})},
    }
    return [f"{name} {one} and {other}" for name, (one, other) in pairs.items() if one != other]


def _cheapest(kind: str, *results: BenchResult) -> list[str]:
    """The lowest price of an output token that each result reached, at whatever concurrency; lowest first."""
    found: list[tuple[float, str]] = []
    for result in results:
        level = result.best(kind)
        price = result.usd_per_million(level) if level else None
        if level is None or price is None:
            return []
        hosts = result.hardware or counted(result.chips, "chip")
        found.append((price, f"{price:,.2f} USD with {result.model} on {hosts} at {level.concurrency} concurrent"))
    prices = "; ".join(text for _, text in sorted(found))
    return [f"Lowest price of a million output tokens, prompts with {NAMES[kind]}: {prices}."]


def _changes(one: Level, other: Level) -> list[str]:
    def change(before: float, after: float, written: tuple[str, str]) -> str:
        share = f" ({after / before - 1:+.0%})" if before else ""
        return f"{written[0]} → {written[1]}{share}"

    through = (one.output_tokens_per_second, other.output_tokens_per_second)
    times = [(one.ttft_p50, other.ttft_p50), (one.ttft_p95, other.ttft_p95), (one.itl_p50, other.itl_p50)]
    return [
        change(*through, (f"{through[0]:,.0f}", f"{through[1]:,.0f}")),
        *(change(a, b, (_time(a), _time(b))) for a, b in times),
        f"{one.errors} → {other.errors}",
    ]


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 10 else f"{seconds:,.1f} s"
