"""The page of figures is what the command writes, and names the machine."""

from __future__ import annotations

from datetime import date

from benchmarks import figures, many_models


def test_the_page_names_machine_day_and_command_of_each_figure() -> None:
    text = figures.page("2 cores", date(2026, 1, 31), [figures.Figure("make up", 61.234), figures.Figure("a|b", 0.5)])
    assert "Measured 2026-01-31 on 2 cores." in text
    assert "| `make up` | 61.23 |" in text
    assert r"| `a\|b` | 0.50 |" in text


def test_the_machine_is_described_by_cores_memory_python_and_load() -> None:
    description = figures.machine()
    assert all(word in description for word in ("cores", "GB of memory", "Python", "load average"))


def test_the_stored_page_was_written_by_the_command() -> None:
    stored = figures.PAGE.read_text(encoding="utf-8")
    start = figures.page("", date.min, []).partition("Measured")[0]
    assert stored.startswith(start)
    assert all(f"`llmd-gke {command}`" in stored for command in (*figures.HELP, *figures.CALLS))
    assert all(f"`make {step} CLOUD=rehearsal" in stored for step in figures.STEPS)


def test_what_the_life_cycles_came_to_is_kept() -> None:
    written = f"{figures.LIFE_CYCLES}\n\n| seeds | 5 |\n"
    assert figures.kept(f"# Figures\n\nseconds\n\n{written}") == f"\n{written}"
    assert figures.kept("# Figures\n") == ""


def test_a_part_takes_the_place_of_its_former_self_and_the_others_stay() -> None:
    before = f"# Figures\n\nseconds\n\n{figures.MANY_MODELS}\n\nold\n\n{figures.LIFE_CYCLES}\n\nseeds\n"
    new = f"{figures.MANY_MODELS}\n\nnew\n\n"
    assert figures.with_part(before, figures.MANY_MODELS, new) == before.replace("old", "new")


def test_a_part_that_is_new_comes_before_the_life_cycles() -> None:
    before = f"# Figures\n\nseconds\n\n{figures.LIFE_CYCLES}\n\nseeds\n"
    new = f"{figures.MANY_MODELS}\n\nnew\n\n"
    expected = f"# Figures\n\nseconds\n\n{new}{figures.LIFE_CYCLES}\n\nseeds\n"
    assert figures.with_part(before, figures.MANY_MODELS, new) == expected


def test_many_models_are_a_row_of_the_seconds_and_one_of_the_megabytes_of_every_step() -> None:
    measured = many_models.StackCost(100, 1330, 1200, [12.3, 140, 13, 30, 20], [236.4, 676, 250, 700, 650])
    text = many_models.section("2 cores", date(2026, 1, 31), [measured])
    assert "Measured 2026-01-31 on 2 cores." in text
    assert "| 100 | 1330 | 1200 | 12.3 | 140.0 | 13.0 | 30.0 | 20.0 |\n" in text
    assert "| 100 | 236 | 676 | 250 | 700 | 650 |\n" in text
