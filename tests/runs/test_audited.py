"""No public call hands out a release that fails its own audit, of the cells as they are spelled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.audit import published
from shoal.principles.groups import Groups
from shoal.release.recoding import Recoding
from system.shell import shoal as command
from system.shell import write_csv

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMS = ("intervals", "bounds", "means", "two-tables")
REQUIRE = "EpsilonM(epsilon=3, m=2)"


def people(rows: int = 40) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "who": [f"p{row // 2}" for row in range(rows)],
            "age": draw.integers(18, 80, rows),
            "sex": ["f" if row // 2 % 2 else "m" for row in range(rows)],
            "pay": np.repeat(draw.permutation(rows // 2) * 10, 2),
        }
    )


def asked(**more: Any) -> dict[str, Any]:
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="pay", **more)
    return {"schema": schema, "require": REQUIRE, "method": "Split()"}


@pytest.fixture
def spoiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `Split()` find groups in which everybody is alone."""
    monkeypatch.setattr(
        shoal.methods.Split, "search", lambda _, task: Groups(np.arange(len(task.coded)))
    )


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("more", "how"),
    [
        ({}, {}),
        ({}, {"engine": "Local(shard=10)"}),
        ({"never_mix": ["sex"]}, {}),
        ({"person": "who"}, {}),
        ({"person": "who", "rows": "unknown"}, {}),
    ],
)
def test_a_search_that_went_wrong_is_not_published_in_any_form(form, more, how):
    if form == "two-tables" and more:
        return  # quasi cells of one person differ here, or rows are not known
    with pytest.raises(shoal.AuditFailed, match="failed its own audit"):
        shoal.anonymize(people(), **asked(**more), form=form, **how)


@pytest.mark.usefixtures("spoiled")
def test_python_raises_where_the_command_exits_with_1(tmp_path: Path):
    table = write_csv(tmp_path / "people.csv", people().drop("who").rows(named=True))
    told = shoal.results.Run(table=people(), **asked())
    for do in (told.release, replace(told, output=tmp_path / "b").publish):
        with pytest.raises(shoal.AuditFailed):
            do()
    ran = command(
        "anonymize", table, "--quasi", "age,sex", "--sensitive", "pay", "--require", REQUIRE,
        "--method", "Split()", "--output", tmp_path / "a",
    )  # fmt: skip
    assert ran.code == 1
    assert "failed its own audit" in ran.said
    assert sorted(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("look", ["check_manifest", "check_linked", "check_done"])
def test_a_release_is_looked_at_as_whoever_gets_it_will(look, tmp_path, monkeypatch):
    """Whatever an audit of the files complains of, nothing is published."""
    made = shoal.anonymize(people(), **asked())
    monkeypatch.setattr(published, look, lambda *_: ["Something is wrong."])
    with pytest.raises(shoal.AuditFailed, match=r"Something is wrong\."):
        made.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spoiled")
def test_methods_are_compared_and_parameters_tuned_by_what_holds():
    told = asked()
    del told["method"]
    compared = shoal.compare(people(), **told, methods=["Split()", "Exchange()"], queries=0)
    assert {one.method: one.holds for one in compared.entries} == {
        "Exchange()": True,
        "Split()": False,
    }
    tuned = shoal.tune(people(), **told, method="Split()", vary="m=2,3")
    assert not tuned.reached
    assert all("does not hold" in str(point.problem) for point in tuned.points)
    assert shoal.tune(people(), **told, method="Exchange()", vary="m=2,3").reached


def test_a_coarser_release_is_audited_before_anybody_gets_it(tmp_path, monkeypatch):
    shoal.anonymize(people(), **asked()).write(tmp_path / "fine")
    shoal.coarsen(tmp_path / "fine", require="KAnonymity(k=4)")
    monkeypatch.setattr("shoal.runs.coarsen.Coarsening.run", lambda coarser: coarser.groups)
    with pytest.raises(shoal.AuditFailed, match="KAnonymity"):
        shoal.coarsen(tmp_path / "fine", require="KAnonymity(k=4)")


@pytest.mark.parametrize("form", FORMS)
def test_cells_are_read_as_they_are_spelled(form, monkeypatch):
    """A cell that says something else than the manifest is seen: nothing of the search is used."""
    release = shoal.anonymize(people(), **asked())
    told = Recoding.text

    def wrong(recoding: Recoding, batch: int = 7) -> Iterator[pl.DataFrame]:
        for place, table in enumerate(told(recoding, batch)):
            name = next((name for name in table.columns if name.startswith("age")), None)
            if name is None or place != 2:
                yield table
                continue
            cells = table[name].cast(pl.String).to_list()
            yield table.with_columns(pl.Series(name, ["17", *cells[1:]]))

    shoal.anonymize(people(), **asked(), form=form)
    release.as_form(form)
    monkeypatch.setattr(Recoding, "text", wrong)
    with pytest.raises(shoal.AuditFailed):
        shoal.anonymize(people(), **asked(), form=form)
    if form != "intervals":
        with pytest.raises(shoal.AuditFailed):
            release.as_form(form)


def test_a_release_that_holds_says_what_was_measured():
    release = shoal.anonymize(people(), **asked())
    assert release.manifest.measured == release.audit().measured()


@pytest.mark.parametrize(
    ("require", "method"), [("KAnonymity(k=3)", "Freeform(k=3)"), ("TCloseness(t=0.5)", None)]
)
def test_releases_of_every_kind_are_audited_in_memory(require, method):
    told = asked() | {"require": require, "method": method}
    assert shoal.anonymize(people(), **told).manifest.measured[0].holds
