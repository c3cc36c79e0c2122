"""A committed figure that is no longer what its command gives is found, and a missing table too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import squares

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import results

    monkeypatch.setattr(results, "WRITTEN", tmp_path / "figures.csv")
    return results


def test_a_figure_within_its_margin_agrees_and_one_beyond_it_does_not(results, monkeypatch):
    measured = {"loss": 0.100, "risk": 0.2}
    one = results.Result("python some.py", lambda: measured)
    monkeypatch.setitem(results.RESULTS_OF, "some", one)
    results.write("some", measured)
    assert results.check("some") == []
    measured["loss"] = 0.1019
    assert results.check("some") == []
    measured["loss"] = 0.1021
    (off,) = results.check("some")
    assert off == "loss: 0.1021 now, 0.1 written (margin 2%)"
    del measured["risk"]
    assert any("was not measured again" in line for line in results.check("some"))


def test_figures_of_a_paper_are_named_by_their_settings_and_times_are_not_compared(results):
    frame = pl.DataFrame(
        {"table": ["t"], "m": [5], "method": ["Split"], "gcp": [0.1], "seconds": [3.0], "rows": [9]}
    )
    assert results.from_file(frame) == {"m 5, method Split: gcp": 0.1}


def test_every_written_figure_has_its_command_version_and_date():
    text = pl.read_csv(BENCHMARKS.parent / "docs" / "results" / "figures.csv")
    assert text.height
    assert text.select("command", "version", "date", "margin").null_count().sum_horizontal()[0] == 0


def test_every_written_figure_is_the_one_that_its_page_shows():
    docs = BENCHMARKS.parent / "docs"
    figures = pl.read_csv(docs / "results" / "figures.csv", infer_schema=False)
    assert figures.height > 100
    pages = {page: (docs / page).read_text("utf-8") for page in figures["page"].unique()}
    assert [
        (one["result"], one["figure"], one["shown"])
        for one in figures.to_dicts()
        if not re.search(rf"(?<![\d.]){re.escape(one['shown'])}(?!\d)", pages[one["page"]])
    ] == []


def test_every_result_is_written_with_its_page_and_command(results):
    figures = pl.read_csv(BENCHMARKS.parent / "docs" / "results" / "figures.csv")
    written = set(figures.select("result", "page", "command").rows())
    assert written == {(k, one.page, one.command) for k, one in results.RESULTS_OF.items()}


def test_what_is_written_of_squares_is_not_above_what_others_reach():
    """Nor may it be, measured again, within its margin."""
    figures = pl.read_csv(BENCHMARKS.parent / "docs" / "results" / "figures.csv")
    written = {one["figure"]: one for one in figures.to_dicts() if one["result"] == "squares"}
    for name, (_, _, reached) in squares.TABLES.items():
        for k, limit in zip(squares.LEVELS, reached, strict=True):
            for order in range(3):
                one = written.pop(f"{name}, k = {k}, order {order}")
                assert one["value"] * (1 + one["margin"]) <= limit
    assert not written


@pytest.mark.long
def test_a_missing_table_ends_with_2_and_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "results.py", "--check", "queries"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"SHOAL_DATA": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "sal_acs2024_500k.csv.gz is not in" in done.stderr
