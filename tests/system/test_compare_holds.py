"""`compare` says which methods hold; one that fails its audit never stands before one that does."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal as library
from shoal.audit.published import Published
from shoal.runs.publish import audit_spelled
from shoal.views.pages import comparison_page
from shoal.views.tables import print_comparison
from system.shell import shoal

if TYPE_CHECKING:
    from pathlib import Path

METHODS = ("Split()", "Mondrian()", "Exchange()")
SCHEMA = library.Schema(quasi="age", sensitive="pay")


def table(rows: int = 60) -> pl.DataFrame:
    chance = np.random.default_rng(3)
    return pl.DataFrame({"age": chance.integers(20, 80, rows), "pay": np.arange(rows) * 10})


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the methods whose releases are spoiled before the audit: one row leaves its group."""
    methods: set[str] = set()

    def audit(release: library.Release) -> Any:
        if release.manifest.method not in methods:
            return audit_spelled(release)
        alone = pl.when(pl.int_range(pl.len()) == 0).then(10**6).otherwise("group")
        spoiled = release.published.with_columns(group=alone)
        return release.audit_published(Published(spoiled, release.manifest))

    monkeypatch.setattr("shoal.runs.compare.audit_spelled", audit)
    return methods


CASES = [set(some) for count in range(len(METHODS)) for some in combinations(METHODS, count)]


@pytest.mark.few(5)
@pytest.mark.parametrize("failing", CASES, ids=lambda case: "+".join(sorted(case)))
def test_what_fails_its_audit_stands_behind_what_holds(
    failing: set[str], spoil: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil |= failing
    found = library.compare(table(), SCHEMA, require="KAnonymity(k=4)", methods=METHODS, queries=0)
    facts = found.to_dict()
    holds = [entry["holds"] for entry in facts["entries"]]
    assert holds == sorted(holds, reverse=True)
    assert {one["method"] for one in facts["entries"] if not one["holds"]} == failing
    for judged in (True, False):
        losses = [one["loss"] for one in facts["entries"] if one["holds"] is judged]
        assert losses == sorted(losses)
    assert found.holds
    print_comparison(facts)
    lines = capsys.readouterr().out.splitlines()
    assert "holds" in lines[1].split()
    shown = {line.split()[0]: line for line in lines[2 : 2 + len(METHODS)]}
    for method in METHODS:
        line = shown[method]
        assert line.split()[1] == ("NO" if method in failing else "yes")
    said = " ".join(lines)
    page = comparison_page(facts)
    assert "what is learned" not in page  # nothing was
    for method in METHODS:
        assert (f"{method} does not hold" in said) == (method in failing)
        assert (f"{method} does not hold" in page) == (method in failing)
        assert (f"{method} (does not hold)" in page) == (method in failing)


def test_where_nothing_holds_the_command_ends_with_1(spoil: set[str], tmp_path: Path) -> None:
    table().write_csv(tmp_path / "t.csv")
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "KAnonymity(k=4)", "--json")
    named = ("--method", "Split()", "--method", "Mondrian()")
    spoil |= {"Split()"}
    assert shoal("compare", tmp_path / "t.csv", *asked, *named).code == 0
    spoil |= {"Mondrian()"}
    shown = shoal("compare", tmp_path / "t.csv", *asked, *named)
    assert shown.code == 1
    assert [entry["holds"] for entry in shown.json()["entries"]] == [False, False]
