"""Estimates: what is right, what is refused, and what decides that."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from estimation.people import QUASI, TRUTH, published, release, simulated
from shoal.estimation import analyses, judging
from shoal.estimation.analyses import regression
from shoal.estimation.completing import Problem
from shoal.estimation.judging import before
from shoal.estimation.opening import Analysable, open_release
from shoal.estimation.recovering import recovered
from shoal.release.manifest import NoConclusion, caveats, conclusion_of
from shoal.release.stated import StatedColumn, StatedLoss
from shoal.runs import correcting
from shoal.runs.correcting import CORRECTED, NOT_REACHED
from shoal.table.coding import code_lenient
from shoal.views.tables import explained
from stated import stated

FORMULA = "log(income) ~ age + hours + C(sex)"


def test_a_release_and_its_directory_give_the_same_numbers(tmp_path):
    release().write(tmp_path / "published")
    one = shoal.estimate(release(), FORMULA, seed=3)
    other = shoal.estimate(tmp_path / "published", FORMULA, seed=3)
    assert one == other
    assert one.status == "valid"


def test_slopes_are_right_where_naive_ones_are_not():
    table = simulated(3000, 7)
    found = shoal.estimate(published(table, 2500), FORMULA, seed=1)
    assert found.status == "valid"
    assert [one.name for one in found.quantities] == list(TRUTH)
    for one in found.quantities:
        assert one.low < one.estimate < one.high
        assert abs(one.estimate - TRUTH[one.name]) < 3.5 * one.se
        assert 0 <= one.missing < 0.5
        assert one.rhat < 1.1
    own = shoal.estimate(published(table, 1), FORMULA, seed=1)["hours"].estimate
    hours = found["hours"]
    assert abs(hours.estimate - own) < abs(hours.naive - own) / 2


def test_fits_are_those_of_the_textbook_where_the_order_is_known():
    table = simulated(300, 8)
    columns = {name: code_lenient(table[name]) for name in table.columns}
    alone = Analysable(stated(), np.arange(301), columns, {"income": columns.pop("income")})
    analysis = regression(alone, "log(income) ~ age * C(sex)", logit=False)
    assert analysis.names == ("Intercept", "age", "C(sex)[T.2]", "age:C(sex)[T.2]")
    found, squares = analysis.fit(np.arange(300, dtype=np.int32))
    age, woman = table["age"].to_numpy(), table["sex"].to_numpy() == 2
    design = np.column_stack([np.ones(300), age, woman, age * woman])
    log = np.log(table["income"].to_numpy())
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ log
    meat = design * (log - design @ slopes)[:, None]
    assert found == pytest.approx(slopes)
    robust = inverse @ meat.T @ meat @ inverse * 300 / 296  # HC1
    assert squares == pytest.approx(np.diag(robust))


@pytest.mark.parametrize(
    ("asked", "exact"),
    [
        ({"mean": "income"}, lambda y: y.mean()),
        ({"quantile": 0.9}, lambda y: np.quantile(y, 0.9)),
        ({"share": "income > 30000"}, lambda y: (y > 30000).mean()),
        ({"mean": "log(income)"}, lambda y: np.log(y).mean()),
    ],
)
def test_what_depends_on_no_pairing_needs_no_model(asked, exact):
    found = shoal.estimate(release(), **asked)
    (one,) = found.quantities
    assert found.status == "valid"
    assert one.missing == 0
    assert one.estimate == pytest.approx(exact(simulated(900, 1)["income"].to_numpy()))


def test_parts_are_named_and_near_the_truth():
    table = simulated(900, 1)
    found = shoal.estimate(release(), mean="income", by="age < 40", seed=1)
    assert [one.name for one in found.quantities] == [
        "mean(income)[age < 40=0]",
        "mean(income)[age < 40=1]",
    ]
    for one, young in zip(found.quantities, (False, True), strict=True):
        own = table.filter((pl.col("age") < 40) == young)["income"].to_numpy().mean()
        assert abs(one.estimate - own) < 2 * one.se


def test_correlations_and_logits_have_their_names():
    found = shoal.estimate(release(), correlation=True, seed=1)
    assert [one.name for one in found.quantities] == [
        f"correlation({name}, income)" for name in QUASI
    ]
    found = shoal.estimate(release(), "income > 30000 ~ age", logit=True, seed=1)
    assert found["age"].estimate > 0


@pytest.mark.parametrize(
    "formula", ["age ~ income", "income ~ age + income", "log(income) ~ income:age"]
)
def test_a_sensitive_column_on_the_right_is_refused(formula):
    found = shoal.estimate(release(), formula)
    assert (found.status, found.quantities) == ("refused", ())
    assert "sensitive" in found.reason


@cache
def wealthy() -> shoal.Release:
    """Return a release of two sensitive columns."""
    table = simulated(300, 1).with_columns(wealth=pl.int_range(300) * 7 % 900)
    schema = shoal.Schema(quasi=QUASI, sensitive=["income", "wealth"])
    require = ["income: EpsilonM(epsilon=200, m=3)", "wealth: EpsilonM(epsilon=2, m=3)"]
    options: Any = {"method": "Exchange()", "form": "two-tables", "seed": 1}
    return shoal.anonymize(table, schema, require=require, **options)


@pytest.mark.parametrize(
    "asked",
    [
        {"formula": "log(income) ~ age + wealth"},
        {"formula": "I(income - wealth) ~ age"},
        {"formula": "income > wealth ~ age", "logit": True},
        {"formula": "wealth ~ age + log(income):hours"},
        {"mean": "income * wealth"},
        {"share": "income > wealth"},
        {"mean": "income", "by": "wealth > 100"},
    ],
)
def test_two_sensitive_columns_in_one_question_are_refused(asked):
    made = wealthy()
    found = shoal.estimate(made, **asked, anyway=True)
    assert (found.status, found.quantities) == ("refused", ())
    assert "sensitive column" in found.reason
    assert shoal.estimate(made, mean="wealth").quantities


@pytest.mark.parametrize(
    "formula",
    [
        "income",
        "income ~ nobody",
        "income ~ __import__('os').getpid()",
        "income ~ age.mean()",
        "income ~ eval(age)",
        "hours ~ age",
        "log(income - 9000000) ~ age",
        "income ~ age + I(2 * age)",
        "income ~ age | hours",
        "income ~ 0",
        "income ~ 0 * age",
        "income ~ (age + hours",
        "income ~ age + 5",
        "income ~ .",
        "income ~ C(sex)[T.2]",
        "poly(income, 2) ~ age",
        "C(income) ~ age",
        "income ~ age > 40",
    ],
)
def test_what_makes_no_sense_is_bad_usage(formula):
    with pytest.raises(shoal.UsageError) as found:
        shoal.estimate(release(), formula)
    said = str(found.value)
    assert said.isprintable()  # no colours of formulaic's
    assert said.endswith(".")
    assert not said.endswith("..")
    assert "for 0 of" not in said


def test_as_many_terms_as_rows_are_bad_usage():
    table = simulated(60, 2)
    columns = {name: code_lenient(table[name]) for name in (*QUASI, "income")}
    columns["who"] = code_lenient(pl.Series([f"p{place}" for place in range(60)]))
    values = {"income": columns.pop("income")}
    alone = Analysable(stated(), np.arange(61), columns, values)
    with pytest.raises(shoal.UsageError, match="as many terms"):
        regression(alone, "income ~ who", logit=False)


@pytest.mark.parametrize("same", [7, "x"])
def test_a_column_of_one_value_breaks_nothing(same, tmp_path):
    table = simulated(150, 2).with_columns(same=pl.lit(same))
    schema = shoal.Schema(quasi=["age", "sex"], sensitive=["income", "same"])
    require = shoal.principles.EpsilonM(epsilon=300, m=3)
    options: Any = {"method": "Oblivious()", "form": "two-tables", "seed": 1}
    made = shoal.anonymize(table, schema, require=f"income: {require!r}", **options)
    assert recovered(made, 1) == []
    with pytest.raises(shoal.NotAchievable, match="hardly differ"):
        shoal.complete(made, tmp_path / "tables", of="same", seed=1)
    left = "same == 'x'" if same == "x" else "same"
    found = shoal.estimate(made, f"{left} ~ age", seed=1)
    assert found.status == "approximate"
    assert "standard error comes out as 0" in found.reason
    with pytest.raises(shoal.UsageError, match="some rows meet"):
        shoal.estimate(made, f"{left} == 1 ~ age" if same == 7 else f"{left} ~ age", logit=True)


@pytest.mark.parametrize(
    ("left", "computed"),
    [
        ("income / age", lambda t: t["income"] / t["age"]),
        ("-income", lambda t: -t["income"]),
        ("log(income) + hours", lambda t: np.log(t["income"]) + t["hours"]),
    ],
)
def test_the_left_side_is_arithmetic(left, computed):
    table = simulated(300, 2)
    columns = {name: code_lenient(table[name]) for name in (*QUASI, "income")}
    values = {"income": columns.pop("income")}
    alone = Analysable(stated(), np.arange(301), columns, values)
    found = regression(alone, f"{left} ~ age", logit=False).fit(np.arange(300, dtype=np.int32))[0]
    design = np.column_stack([np.ones(300), table["age"]])
    assert found == pytest.approx(
        np.linalg.lstsq(design, computed(table).to_numpy(), rcond=None)[0]
    )


def test_one_thing_is_asked_at_a_time():
    for asked in ({}, {"mean": "income", "share": "income > 1"}, {"mean": "income", "tables": 1}):
        with pytest.raises(shoal.UsageError):
            shoal.estimate(release(), **asked)


def test_a_heap_is_refused_and_anyway_keeps_the_status():
    table = simulated(600, 9).with_columns(
        income=pl.when(pl.int_range(600) % 5 == 0).then(50_000).otherwise("income")
    )
    heaped = published(table, 400)
    found = shoal.estimate(heaped, FORMULA)
    assert (found.status, found.quantities) == ("refused", ())
    assert "20%" in found.reason
    anyway = shoal.estimate(heaped, FORMULA, anyway=True, seed=1)
    assert anyway.status == "refused"
    assert len(anyway.quantities) == 4
    assert all(one.status == "refused" for one in anyway.quantities)


def test_nothing_to_learn_from_is_refused():
    table = simulated(600, 10)
    shuffled = table.with_columns(pl.col("income").shuffle(seed=1))
    problem = Problem(open_release(published(shuffled, 2000)), "income")
    (reason,) = before(problem)
    assert "hardly differ" in reason
    assert before(Problem(open_release(release()), "income")) == []


@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
def test_what_depends_on_values_alone_is_told_in_every_form(form, tmp_path):
    made = release().as_form(form)
    made.write(tmp_path / "out")
    known: list[dict[str, Any]] = [{"mean": "income"}, {"quantile": 0.9}, {"share": "income > 3e4"}]
    for asked in known:
        found = shoal.estimate(tmp_path / "out", **asked)
        assert found.status == "valid"
        assert found == shoal.estimate(made, **asked)
        (one,), (same,) = found.quantities, shoal.estimate(release(), **asked).quantities
        assert (one.estimate, one.se) == pytest.approx((same.estimate, same.se))
    with pytest.raises(shoal.UsageError, match="There is no column 'incme'"):
        shoal.estimate(made, mean="incme")


def test_placeholders_of_a_series_are_no_people(tmp_path):
    table = simulated(300, 4).with_columns(who=pl.int_range(pl.len()))
    schema = shoal.Schema(quasi=QUASI, sensitive="income", person="who")
    require = shoal.principles.EpsilonM(epsilon=100, m=3)
    for name, rows in (("one", table), ("two", table[30:])):
        asked = {"require": require, "ledger": tmp_path / "ledger", "output": tmp_path / name}
        shoal.results.Run(table=rows, schema=schema, **asked).publish()
    assert shoal.estimate(tmp_path / "one", mean="income").status == "valid"
    found = shoal.estimate(tmp_path / "two", mean="income")
    assert (found.status, found.quantities) == ("refused", ())
    assert "placeholders for people who left" in found.reason


def test_values_alone_are_told_without_groups_and_with_rows_left_out():
    table = simulated(300, 4)
    require = shoal.principles.KAnonymity(k=5)
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    made = shoal.anonymize(table, schema, require=require, method="Freeform()", seed=1)
    found = shoal.estimate(made, mean="income")
    assert (found.status, found.quantities[0].estimate) == ("valid", table["income"].mean())
    few = published(table, 3000, suppress="5%", method="Exchange()", form="intervals")
    left_out = few.manifest.suppressed
    found = shoal.estimate(few, mean="income")
    assert found.status == ("approximate" if left_out else "valid")
    assert bool(left_out) == ("rows were left out" in found.reason)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"method": "Split()"}, "Split() formed the groups"),
        ({"method": "Oblivious(block=100)"}, "Oblivious(block=100) formed the groups"),
        ({"suppressed": 3}, "3 rows were left out"),
        ({"dropped": 4}, "4 rows were left out"),
        ({"rows_in": None, "suppressed": None, "dropped": None}, "Rows may have been left out"),
        ({"columns": [StatedColumn("income", "sensitive", top=5)]}, "Extreme values of income"),
    ],
)
def test_what_makes_answers_approximate_is_read_from_the_manifest(changed, said):
    manifest = release().manifest
    assert caveats(manifest) == []
    (reason,) = caveats(manifest.but(**changed))
    assert reason.startswith(said)


def test_rows_that_may_be_left_out_make_answers_approximate_though_nobody_says_how_many(tmp_path):
    table = simulated(900, 1)
    gone = pl.when(pl.col("income") > 40_000).then(None).otherwise("income")
    made = published(table.with_columns(income=gone), 800, missing="drop", withhold_counts=True)
    before = shoal.estimate(made, "log(income) ~ age", seed=1)
    made.write(tmp_path / "out")
    found = shoal.estimate(tmp_path / "out", "log(income) ~ age", seed=1)
    assert found == before
    assert found.status == "approximate"
    assert "does not publish how many" in found.reason
    whole = shoal.estimate(tmp_path / "out", mean="income", seed=1)
    assert whole.status == "approximate"


def test_rounded_values_make_answers_approximate():
    schema = shoal.Schema(quasi=QUASI, sensitive="income", round={"age": 5})
    found = shoal.estimate(published(simulated(900, 1), 800, schema=schema), mean="income", seed=1)
    assert found.status == "approximate"
    assert "age were rounded" in found.reason


def test_methods_that_look_at_values_are_approximate():
    found = shoal.estimate(published(simulated(600, 1), 500, method="Split()"), FORMULA, seed=1)
    assert found.status == "approximate"
    assert "Split()" in found.reason


@pytest.mark.long
def test_near_the_limit_the_bias_of_groups_is_measured_and_subtracted(monkeypatch):
    made = published(simulated(600, 4), 3000, method="Split()")
    found = {}
    for near in (0.0, 2.0):
        monkeypatch.setattr(judging, "NEAR", near)
        found[near] = shoal.estimate(made, FORMULA, seed=1, anyway=True)
    corrected, plain = found[0.0], found[2.0]
    assert CORRECTED in corrected.reason
    assert CORRECTED not in plain.reason
    assert corrected["age"].estimate != plain["age"].estimate
    assert corrected["age"].se > plain["age"].se


def test_a_bias_that_cannot_be_measured_is_a_reason_to_refuse(monkeypatch):
    def unreached(*_):
        msg = "not reached"
        raise shoal.NotAchievable(msg)

    monkeypatch.setattr(judging, "NEAR", 0.0)
    monkeypatch.setattr(correcting, "search_again", unreached)
    made = published(simulated(600, 1), 500, method="Split()")
    found = shoal.estimate(made, FORMULA, seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert NOT_REACHED in found.reason
    assert len(shoal.estimate(made, FORMULA, seed=1, anyway=True).quantities) == 4


def test_oblivious_groups_are_never_corrected(monkeypatch):
    monkeypatch.setattr(judging, "NEAR", 0.0)
    assert shoal.estimate(release(), FORMULA, seed=1).status == "valid"


def test_a_quantity_of_which_much_is_missing_is_approximate(monkeypatch):
    monkeypatch.setattr(judging, "UNSURE", 0.0)
    found = shoal.estimate(release(), FORMULA, seed=1)
    assert found.status == "approximate"
    assert "of the information about it is missing" in found.reason
    split = published(simulated(600, 1), 500, method="Split()")
    found = shoal.estimate(split, FORMULA, seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert "of the information about it is missing" in found.reason


def test_terms_that_the_model_lacks_are_approximate():
    found = shoal.estimate(release(), "log(income) ~ age:hours:sex", seed=1)
    assert found.status == "approximate"
    assert "age and hours and sex" in found.reason


def test_labels_are_estimated_too():
    random = np.random.default_rng(11)
    age = random.integers(20, 70, 1500)
    ill = random.random(1500) < 1 / (1 + np.exp((55 - age) / 6))
    kind = np.where(ill, "ill", np.where(random.random(1500) < 0.5, "well", "fine"))
    table = pl.DataFrame({"age": age, "zip": random.integers(0, 30, 1500), "state": kind})
    schema = shoal.Schema(quasi=["age", "zip"], sensitive="state")
    made = shoal.anonymize(
        table, schema, require="DistinctL(l=2)", method="Mondrian()", form="two-tables"
    )
    found = shoal.estimate(made, share="state == 'ill'", by="age < 45", seed=1, anyway=True)
    for one, young in zip(found.quantities, (False, True), strict=True):
        assert abs(one.estimate - ill[(age < 45) == young].mean()) < 4 * one.se


@pytest.mark.long
def test_intervals_hold_the_truth_as_often_as_they_say():
    hits = []
    for seed in range(40):
        found = shoal.estimate(
            published(simulated(1500, 100 + seed), 9000, seed=seed), FORMULA, anyway=True, seed=seed
        )
        hits.append([one.low <= TRUTH[one.name] <= one.high for one in found.quantities])
    assert np.mean(hits, 0).min() >= 0.8
    assert 0.89 <= np.mean(hits) <= 0.99


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({}, "valid", "research under an agreement"),
        ({"method": "Exchange()"}, "approximate", "Exchange() formed the groups"),
        (
            {"form": "intervals", "loss": StatedLoss(0.3, {"age": 0.3})},
            "refused",
            "30% of its range",
        ),
        ({"form": "intervals", "loss": StatedLoss(0.1, {"age": 0.1})}, "approximate", "wide cells"),
        ({"form": "means", "cells": "regions"}, "refused", "cells that are regions"),
        ({"method": "Freeform()", "heterogeneous": True}, "refused", "no groups"),
        (
            {"require": ["KAnonymity(k=5)"], "form": "intervals", "method": "Mondrian()"},
            "approximate",
            "ordinary regression",
        ),
        (
            {"require": ["KAnonymity(k=5)"], "form": "intervals", "groups": 49},
            "refused",
            "49 groups (at least 50 are needed)",
        ),
    ],
)
def test_what_a_form_and_a_method_allow_is_said_without_a_draw(changed, status, said):
    found, reason = conclusion_of(release().manifest.but(**changed))
    assert found == status
    assert said in reason


def test_the_report_and_comparisons_say_what_a_regression_is(tmp_path):
    release().write(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Regression: valid. Oblivious()" in page
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    require, methods = "EpsilonM(epsilon=500, m=3)", ["Oblivious()", "Split()"]
    made = shoal.compare(simulated(300, 1), schema, require=require, methods=methods, queries=0)
    found = {one.method: one.regression for one in made.entries}
    assert found == {"Oblivious()": "valid", "Split()": "approximate"}
    said = " ".join(explained(made.to_dict()))
    assert "valid with Oblivious(); approximate with Split()." in said
    alone = made.to_dict() | {
        "entries": [one for one in made.to_dict()["entries"] if one["method"] == "Split()"]
    }
    assert "Oblivious() allows most estimates. Readers can tell who is in the table" in " ".join(
        explained(alone)
    )


@pytest.mark.parametrize(
    ("require", "said"),
    [
        (["KAnonymity(k=3)"], "Regression on the published table: approximate with Split()."),
        (
            ["KAnonymity(k=3)", "EpsilonM(epsilon=500, m=3)"],
            "Regression by shoal estimate: approximate with Split().",
        ),
    ],
)
def test_comparisons_promise_no_form_that_the_requirements_refuse(require, said):
    schema = shoal.Schema(quasi=QUASI, sensitive="income")
    made = shoal.compare(simulated(300, 1), schema, require=require, methods=["Split()"], queries=0)
    lines = explained(made.to_dict())
    assert said in lines
    assert "two-tables" not in " ".join(lines)


def weighted(rows: int) -> pl.DataFrame:
    """People of whom the older stand for more, so that weights matter."""
    table = simulated(rows, 12)
    return table.with_columns(w=1 + (pl.col("age") > 45) * 3)


def test_survey_weights_are_used_and_make_answers_approximate(tmp_path):
    table = weighted(900)
    schema = shoal.Schema(quasi=QUASI, sensitive="income", survey_weight="w")
    made = published(table, 800, schema=schema, keep_other=True)
    plain = shoal.estimate(published(table.drop("w"), 800), mean="income", seed=1)
    found = shoal.estimate(made, mean="income", seed=1)
    assert (plain.status, found.status) == ("valid", "approximate")
    assert "survey weight w" in found.reason
    w, income = table["w"].to_numpy(), table["income"].to_numpy()
    one = found.quantities[0]
    assert abs(one.estimate - np.average(income, weights=w)) < one.se
    assert abs(one.estimate - income.mean()) > 2 * one.se
    shoal.complete(made, tmp_path / "tables", tables=2, seed=1)
    long = pl.read_csv(tmp_path / "tables" / "completed.csv", infer_schema_length=None)
    assert long.filter(pl.col(".imp") == 1)["w"].sum() == pytest.approx(w.sum())


def test_weights_of_nothing_are_refused():
    table = simulated(60, 12)
    columns = {name: code_lenient(table[name]) for name in (*QUASI, "income")}
    values = {"income": columns.pop("income")}
    alone = Analysable(stated(), np.arange(61), columns, values, np.zeros(60))
    with pytest.raises(NoConclusion, match="are 0"):
        regression(alone, "income ~ age", logit=False)
    women = replace(alone, weights=(table["sex"].to_numpy() == 2) * 1.0)
    with pytest.raises(shoal.UsageError, match="fewer than 5 rows"):
        analyses.means(women, "income", "sex")


def test_weighted_fits_are_those_of_as_many_copies():
    table = weighted(240)
    w = table["w"].to_numpy()
    copies = table[np.repeat(np.arange(240), w)]

    def fitted(rows, weights, ask):
        columns = {name: code_lenient(rows[name]) for name in (*QUASI, "income")}
        values = {"income": columns.pop("income")}
        alone = Analysable(stated(), np.arange(rows.height + 1), columns, values, weights)
        return ask(alone).fit(np.arange(rows.height, dtype=np.int32))[0]

    for ask in (
        lambda one: regression(one, "log(income) ~ age + hours", logit=False),
        lambda one: regression(one, "income > 30000 ~ age", logit=True),
        lambda one: analyses.means(one, "income", "sex"),
        lambda one: analyses.correlations(one, None),
    ):
        once, often = fitted(table, w.astype(float), ask), fitted(copies, None, ask)
        assert once == pytest.approx(often, rel=1e-5)
    middle, _ = analyses.quantile_of(np.arange(5.0), np.ones(5), 0.3)
    assert middle == pytest.approx(np.quantile(np.arange(5.0), 0.3))
    heavy, _ = analyses.quantile_of(np.arange(5.0), np.array([1, 1, 1, 1, 40.0]), 0.5)
    assert heavy > 3
