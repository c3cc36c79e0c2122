"""`shoal tune`: loss against one parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal as library
from system.shell import people, shoal, write_csv

if TYPE_CHECKING:
    from pathlib import Path

ROLES = ("--quasi", "age,town,score", "--sensitive", "salary")
KEYS = {
    "rows", "method", "require", "parameter", "asked", "grows", "points", "knee", "sentence"
}  # fmt: skip


def test_the_frontier_agrees_with_anonymize_point_by_point(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    for method, require in (
        ("Split()", "EpsilonM(epsilon=500, m=3)"),
        ("Ring()", "KAnonymity(k=3)"),
    ):
        asked = ("--require", require, "--method", method)
        vary = ("--vary", "epsilon=100,500,900" if "Eps" in require else "k=2..4:3")
        found = shoal("tune", table, *ROLES, *asked, *vary, "--json").json()
        assert set(found) == KEYS
        assert found["rows"] == 300
        frame = pl.read_csv(table, infer_schema=False)
        schema = library.Schema(quasi=["age", "town", "score"], sensitive="salary")
        for point in found["points"]:
            release = library.anonymize(frame, schema, require=point["require"], method=method)
            assert point["loss"] == pytest.approx(release.loss)
            assert point["groups"] == release.manifest.groups
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_is_not_achievable_is_marked_with_the_reason(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    asked = ("--require", "EpsilonM(epsilon=500, m=3)", "--vary", "epsilon=100,500,90000")
    found = shoal("tune", table, *ROLES, *asked, "--json").json()
    assert [point["loss"] is None for point in found["points"]] == [False, False, True]
    assert "What would help" in found["points"][2]["problem"]
    shown = shoal("tune", table, *ROLES, *asked)
    assert shown.code == 0
    assert "not reached" in shown.out
    assert "What would help" in " ".join(shown.out.split())
    assert "asked for" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_nothing_achievable_ends_with_3_and_bad_usage_with_2(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people(30))
    asked = ("--require", "EpsilonM(epsilon=500, m=3)")
    ended = shoal("tune", table, *ROLES, *asked, "--vary", "epsilon=80000,90000", "--json")
    assert ended.code == 3
    assert not ended.out
    assert "What would help" in ended.said
    for wrong in ("k=3", "epsilon=9..1", "m=2.5", "m=0", "epsilon=x"):
        ended = shoal("tune", table, *ROLES, *asked, "--vary", wrong)
        assert ended.code == 2
        assert "Traceback" not in ended.err
    assert shoal("tune", table, *ROLES).code == 2


def test_the_knee_is_one_of_the_points_and_the_page_shows_it(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    page = tmp_path / "tune.html"
    asked = ("--require", "KAnonymity(k=4)", "--method", "Mondrian()", "--vary", "k=2..60:20")
    found = shoal("tune", table, *ROLES, *asked, "--json", "--report", page).json()
    assert found["knee"]["value"] in [point["value"] for point in found["points"]]
    text = page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600
    assert "<svg" in text
    assert found["sentence"] in text
    assert not re.search(r"(?:src|href)=[\"']https?:", text)
    again = shoal("tune", table, *ROLES, *asked, "--report", page)
    assert again.code == 4


def test_a_notebook_shows_the_curve_in_python() -> None:
    frame = pl.DataFrame({"age": range(80), "pay": range(0, 8000, 100)})
    schema = library.Schema(quasi="age", sensitive="pay")
    found = library.tune(frame, schema, require=library.principles.KAnonymity(k=4), vary="k=2,90")
    assert found.points[1].problem
    shown = found._repr_html_()
    assert "<svg" in shown
    assert "<html" not in shown
    assert "not reached" in shown
