"""What a report says of the ends of cells is true of the cells that it is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.views.sentences import limits

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pl.DataFrame({"age": [n % 20 for n in range(40)], "pay": [100 * n for n in range(40)]})


@pytest.mark.parametrize(
    ("asked", "held", "cut"),
    [
        ({}, True, False),
        ({"cells": "regions"}, False, True),
        ({"form": "two-tables"}, False, False),
    ],
)
def test_only_tight_cells_are_said_to_end_at_values_that_somebody_has(
    tmp_path: Path, asked: dict[str, Any], *, held: bool, cut: bool
) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(TABLE, schema, require="EpsilonM(epsilon=150, m=3)", **asked)
    release.write(tmp_path / "out")
    shoal.certificate(tmp_path / "out", tmp_path / "sheet.html")
    for path in (tmp_path / "out" / "report.html", tmp_path / "sheet.html"):
        page = path.read_text("utf-8")
        assert "a statement that is true of exactly one row" in page
        assert ("values of people in the group" in page) == held
        assert ("their ends need not be values of people" in page) == cut
        assert ("may still learn that a row lies near an end" in page) == cut
        assert ("the smallest and the largest published value" in page) == cut


@pytest.mark.parametrize(
    ("known", "aside"),
    [
        ({}, "the same people can"),
        ({"coarsened_from": "sha256:0"}, "the same people (other than the finer one) can"),
        ({"previous": None}, "the same people outside this series can"),
    ],
)
def test_what_is_said_of_other_releases_does_not_contradict_what_was_made_to_go_together(
    tmp_path: Path, known: dict[str, Any], aside: str
) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    shoal.anonymize(TABLE, schema, require="KAnonymity(k=4)").write(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert aside in dict(limits(manifest | known))["Other releases."]


@pytest.mark.parametrize(
    ("method", "weaker"), [("Oblivious()", False), ("Oblivious(block=8)", True)]
)
def test_a_report_says_that_blocks_promise_about_each_person_alone(
    tmp_path: Path, method: str, *, weaker: bool
) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(TABLE, schema, require="EpsilonM(epsilon=50, m=3)", method=method)
    release.write(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert ("holds for each person alone" in page) == weaker
