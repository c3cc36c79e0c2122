"""A completed table is searched again as the release was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from estimation.people import published, simulated
from shoal.estimation import judging
from shoal.estimation.opening import open_release
from shoal.runs import correcting
from shoal.runs.correcting import search_again, unrepeatable

DONE = {
    "decimal",
    "round",
    "top",
    "keep_other",
    "other",
}  # to the cells already, or of columns left out
FORMULA = "log(income) ~ age + hours"


def everything_asked() -> shoal.Release:
    """Return a release of which all is asked that may decide over groups."""
    table = simulated(600, 4).with_columns(
        place=pl.Series(["low", "mid", "high"] * 200),
        zip=pl.Series([f"0{10 + i % 7}" for i in range(600)]),
        born=pl.Series([f"{1 + i % 28:02}/{1 + i % 12:02}/19{50 + i % 40}" for i in range(600)]),
        rate=pl.format("{},5", "age"),
        wealth=pl.Series([i * 7919 % 5000 for i in range(600)]),
        w=pl.Series([1.0 + i % 3 for i in range(600)]),
        kept=pl.Series([i % 2 for i in range(600)]),
        sex=pl.when(pl.int_range(600) % 50 == 0).then(None).otherwise("sex"),
    )
    schema = shoal.Schema(
        quasi=["age", "hours", "place", "zip", "born", "rate"],
        sensitive=["income", "wealth"],
        other="kept",
        never_mix="sex",
        types={"place": "ordered", "zip": "code", "sex": "categorical"},
        order={"place": ["low", "mid", "high"]},
        hierarchies={"zip": "Prefix()"},
        weights={"age": 3},
        bounds={"hours": [0, 100]},
        date_formats={"born": "dd/mm/yyyy"},
        missing_cells={"sex": "value"},
        survey_weight="w",
        decimal=",",
        round={"age": 2},
        top={"income": 60_000},
    )
    require = ["income: EpsilonM(epsilon=500, m=3)", "wealth: EpsilonM(epsilon=20, m=2)"]
    options: dict[str, Any] = {"suppress": "2%", "seconds": 1, "engine": "Local(shard=100)"}
    options |= {"method": "Exchange()", "form": "two-tables", "keep_other": True, "seed": 1}
    return shoal.anonymize(table, schema, require=require, missing="drop", **options)


def test_everything_that_was_asked_is_asked_again():
    made = everything_asked()
    release = open_release(made)
    order = np.arange(release.rows, dtype=np.int32)
    again = search_again(release, order, 2)
    first, second = (one.manifest.asked.to_dict() for one in (made, again))
    assert second.keys() >= first.keys() - DONE
    assert {"weight", "hierarchy", "suppress", "seconds", "engine", "never_mix"} <= first.keys()
    assert {name: sorted(second[name]) for name in ("quasi", "sensitive", "schema")} == {
        name: sorted(first[name]) for name in ("quasi", "sensitive", "schema")
    }
    assert first.pop("type").items() <= second.pop("type").items()
    for name in first.keys() - DONE - {"quasi", "sensitive", "schema"}:
        assert second[name] == first[name], name
    for one in made.manifest.quasi:
        own = again.manifest.by_name[one.name]
        done = {"round": None, "domain": None, "type": None, "date_format": None}
        assert own.but(**done) == one.but(**done)
        assert own.type == one.type or one.type in {None, "date"}
    assert again.manifest.by_name["place"].domain == ["low", "mid", "high"]
    assert (again.manifest.require, again.manifest.method) == (
        made.manifest.require,
        made.manifest.method,
    )
    kept = open_release(again)
    assert kept.weights is not None
    assert kept.values.keys() == release.values.keys()
    left_out = again.manifest.suppressed or 0
    assert kept.rows == release.rows - left_out
    if not left_out:
        for name, column in release.quasi.items():
            assert sorted(correcting.spelled(column)) == sorted(
                correcting.spelled(kept.quasi[name])
            )


def test_what_is_not_published_of_what_was_asked_is_a_reason_to_refuse(monkeypatch):
    made = published(simulated(600, 4), 9000, method="Exchange()")
    manifest = made.manifest
    assert unrepeatable(manifest) is None
    assert "earlier releases" in str(unrepeatable(manifest.but(previous="sha256:" + "0" * 64)))
    listed = manifest.but(asked=manifest.asked.but(hierarchy={"age": True}))
    assert "hierarchy of age" in str(unrepeatable(listed))
    monkeypatch.setattr(correcting, "unrepeatable", lambda _: "Cannot be repeated.")
    found = shoal.estimate(made, FORMULA, seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert "Cannot be repeated." in found.reason


@pytest.mark.parametrize("labels", [1, 2])
def test_a_completed_table_that_loses_a_label_is_no_measure_of_bias(labels, monkeypatch):
    table = simulated(600, 1).with_columns(sex=pl.int_range(600) % 3)
    made = published(table, 500, method="Split()")
    fewer = published(table.filter(pl.col("sex") < labels), 100, method="Split()")
    monkeypatch.setattr(judging, "NEAR", 0.0)
    monkeypatch.setattr(correcting, "search_again", lambda *_: fewer)
    found = shoal.estimate(made, "log(income) ~ age + C(sex)", seed=1)
    assert found.status == "refused"
    assert correcting.NOT_REACHED in found.reason


def test_a_seed_repeats_what_is_corrected(monkeypatch):
    monkeypatch.setattr(judging, "NEAR", 0.0)
    made = published(simulated(300, 1), 500, method="Exchange()")
    one, other = (shoal.estimate(made, FORMULA, seed=5, anyway=True) for _ in range(2))
    assert one == other
