"""The picture of priorities shows what was measured."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

from benchmarks import priorities

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_a_bar_as_long_as_each_callers_median_and_states_machine_and_date() -> None:
    measured = priorities.read()
    drawn = ET.fromstring(priorities.picture(measured))
    lengths = [float(one.attrib["width"]) for one in drawn.iter(f"{SVG}rect") if one.get("fill-opacity") == "1"]
    medians = [measured.callers[key].median for key, _, _ in priorities.ROWS]
    assert [round(one / lengths[0], 1) for one in lengths] == [round(one / medians[0], 1) for one in medians]
    texts = [one.text or "" for one in drawn.iter(f"{SVG}text")]
    assert {f"{one:.2f} s" for one in medians} | {label for _, label, _ in priorities.ROWS} <= set(texts)
    assert f"Measured {measured.date} on {measured.machine}." in texts[-1]
    assert f"the server needs {measured.server_seconds:g} s" in texts[1]


def test_the_line_that_must_not_be_passed_is_at_twice_the_time_alone() -> None:
    measured = priorities.read()
    (limit,) = [
        one for one in ET.fromstring(priorities.picture(measured)).iter(f"{SVG}path") if one.get("stroke-dasharray")
    ]
    x = float(limit.attrib["d"].split()[0].removeprefix("M"))
    bars = [
        one for one in ET.fromstring(priorities.picture(measured)).iter(f"{SVG}rect") if one.get("fill-opacity") == "1"
    ]
    alone, among, streams = (float(one.attrib["x"]) + float(one.attrib["width"]) for one in bars)
    start = float(bars[0].attrib["x"])
    assert abs((x - start) - 2 * (alone - start)) < 0.2
    assert among < x < streams, "what was measured keeps the promise"


def test_what_is_recorded_is_read_again_and_summed_up_from_each_request(tmp_path: Path) -> None:
    of_one = priorities.summary([1.0, 3.0, 2.0, 2.004])
    assert (of_one.requests, of_one.median, of_one.most) == (4, 2.0, 3.0)
    measured = replace(priorities.read(), callers=dict.fromkeys(("idle", "saturated", "batch"), of_one))
    priorities.write(measured, tmp_path / "kept.json")
    assert priorities.read(tmp_path / "kept.json") == measured
    assert priorities.table(measured).splitlines()[-1] == "| priority -10, the streams | 4 | 2.00 | 3.50 | 3.00 |"
