"""`shoal estimate` and `shoal complete`: answers, refusals, and tables that R pools."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import rscript
import shoal
from estimation.people import published, release, simulated
from shoal.estimation import completing
from system.shell import shoal as command

if TYPE_CHECKING:
    from pathlib import Path

FORMULA = "log(income) ~ age + C(sex)"
KEYS = {"name", "estimate", "se", "low", "high", "naive", "missing", "rhat", "status", "reason"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("estimate") / "published"
    release().write(place)
    return place


def test_an_answer_is_one_object(written):
    done = command("estimate", written, FORMULA, "--json", "--seed", 1)
    assert done.code == 0
    found = done.json()
    assert found["formula"] == FORMULA
    assert found["status"] == "valid"
    assert [one["name"] for one in found["quantities"]] == ["Intercept", "age", "C(sex)[T.2]"]
    assert all(one.keys() == KEYS for one in found["quantities"])
    assert found == shoal.estimate(written, FORMULA, seed=1).to_dict()


def test_an_answer_is_a_table_with_its_status(written):
    done = command("estimate", written, "--mean", "income", "--by", "sex", "--seed", 1)
    assert done.code == 0
    assert "mean(income)[sex=" in done.out
    assert "Valid:" in done.out


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (("--quantile", "0.9"), "quantile(income, 0.9)"),
        (("--quantile", "0.5", "--of", "income", "--by", "age < 40"), "quantile(income, 0.5)[age"),
        (("--share", "income > 30000"), "share(income > 30000)"),
        (("--share", "income > 30000", "--by", "sex"), "share(income > 30000)[sex=1]"),
        (("--correlation",), "correlation(age, income)"),
        (("income > 30000 ~ age", "--logit"), "Intercept"),
    ],
)
def test_every_kind_of_question_is_answered(asked, name, written):
    done = command("estimate", written, *asked, "--json", "--seed", 1)
    assert done.code == 0, done.err
    found = done.json()
    assert found["status"] == "valid"
    one = next(one for one in found["quantities"] if one["name"].startswith(name))
    assert one["low"] < one["estimate"] < one["high"]
    table = simulated(900, 1)
    known = {
        "quantile(income, 0.9)": np.quantile(table["income"], 0.9),
        "share(income > 30000)": (table["income"] > 30_000).mean(),
        "share(income > 30000)[sex=1]": (table.filter(sex=1)["income"] > 30_000).mean(),
    }
    if name in known:
        assert one["estimate"] == pytest.approx(known[name], abs=3 * one["se"])


def test_people_with_several_rows_are_refused_with_what_would_serve(tmp_path):
    table = simulated(300, 1).with_columns(who=pl.int_range(300) // 2)
    same = table.with_columns(pl.col("age", "hours", "sex").first().over("who"))
    schema = shoal.Schema(quasi=["age", "hours", "sex"], sensitive="income", person="who")
    made = published(same, 100, schema=schema, method="Split()")
    made.write(tmp_path / "out")
    sentence = "Some people have several rows in this release"
    for asked in ((FORMULA,), ("--mean", "income"), (FORMULA, "--anyway")):
        done = command("estimate", tmp_path / "out", *asked)
        assert (done.code, done.out) == (3, "")
        assert sentence in done.said
        assert "one row per person" in done.said
    done = command("complete", tmp_path / "out", "--output", tmp_path / "tables")
    assert done.code == 3
    assert sentence in done.said


def test_a_refusal_says_why_and_what_would_serve(written, tmp_path):
    done = command("estimate", written, "age ~ income")
    assert (done.code, done.out) == (3, "")
    assert "sensitive column" in done.said
    table = simulated(400, 3).with_columns(pl.col("income").shuffle(seed=1))
    published(table, 100).write(tmp_path / "out")
    done = command("estimate", tmp_path / "out", FORMULA, "--json")
    assert done.code == 3
    assert done.json()["status"] == "refused"
    assert done.json()["quantities"] == []
    assert "What would serve" in done.said
    anyway = command("estimate", tmp_path / "out", FORMULA, "--anyway", "--json", "--seed", 1)
    assert anyway.code == 0
    assert anyway.json()["status"] == "refused"
    assert len(anyway.json()["quantities"]) == 3
    assert command("complete", tmp_path / "out", "--output", tmp_path / "tables").code == 3
    assert not (tmp_path / "tables").exists()


def test_anyway_ends_with_3_where_nothing_can_be_computed(written):
    done = command("estimate", written, "age ~ income", "--anyway")
    assert (done.code, done.out) == (3, "")
    assert "sensitive column on its right side" in done.said
    done = command("estimate", written, "age ~ income", "--anyway", "--json")
    assert done.code == 3
    assert done.json()["quantities"] == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "asked", [("income ~ nobody",), (), ("--mean", "income", "--quantile", "0.5"), ("income",)]
)
def test_bad_usage_ends_with_2(written, asked):
    assert command("estimate", written, *asked).code == 2


def test_completed_tables_are_numbered_and_keep_every_group(written, tmp_path):
    done = command("complete", written, "--tables", 3, "--output", tmp_path / "tables", "--seed", 1)
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {
        "completed.csv", "pool.R", "README.txt",
    }  # fmt: skip
    long = pl.read_csv(tmp_path / "tables" / "completed.csv", infer_schema_length=None)
    assert long.columns == [".imp", ".id", "age", "hours", "sex", "income", "drawn"]
    assert long[".imp"].unique().sort().to_list() == [0, 1, 2, 3]
    values = sorted(simulated(900, 1)["income"])
    for number in (1, 2, 3):
        one = long.filter(pl.col(".imp") == number)
        assert one[".id"].to_list() == list(range(1, 901))
        assert sorted(one["income"]) == values
    first, second = (long.filter(pl.col(".imp") == number) for number in (1, 2))
    assert not first["income"].equals(second["income"])
    assert first.drop(".imp", "income").equals(second.drop(".imp", "income"))
    empty = long.filter(pl.col(".imp") == 0)
    assert (empty["income"].is_null() == empty["drawn"]).all()
    told = " ".join((tmp_path / "tables" / "README.txt").read_text().split())
    assert "draws, not records" in told
    assert "Products of labels or of three columns" in told
    assert "Status of estimates from these tables: valid" in told


def test_completed_tables_are_not_written_into_a_release(written):
    before = sorted(written.iterdir())
    for place in (written / "tables", written):
        assert command("complete", written, "--output", place).code == 2
    assert sorted(written.iterdir()) == before


def test_completed_tables_replace_nothing_and_are_not_drawn_for_nothing(
    written, tmp_path, monkeypatch
):
    monkeypatch.setattr(completing, "complete_tables", None)
    with pytest.raises(shoal.OutputError) as found:
        shoal.complete(written, tmp_path)
    assert "exists" in str(found.value)
    assert "force" not in str(found.value)  # there is no such option


def test_a_column_is_named_by_its_name_alone(tmp_path):
    table = simulated(300, 1).rename({"income": "monthly income"})
    schema = shoal.Schema(quasi=["age", "hours", "sex"], sensitive="monthly income")
    made = published(table, 500, schema=schema)
    exact = table["monthly income"].to_numpy().mean()
    for name in ("monthly income", "`monthly income`"):
        assert shoal.estimate(made, mean=name).quantities[0].estimate == pytest.approx(exact)
    with pytest.raises(shoal.UsageError, match="backticks"):
        shoal.estimate(made, share="monthly income > 30000")


@pytest.mark.mice
def test_r_pools_what_shoal_pools(written, tmp_path):
    shoal.complete(written, tmp_path / "tables", tables=5, seed=2)
    mine = shoal.estimate(written, FORMULA, tables=5, seed=2)
    (tmp_path / "pool.R").write_text(
        """
        source("tables/pool.R")
        tables <- read_completed("tables")
        one <- mice::pool(with(as_mids(tables), lm(log(income) ~ age + factor(sex))))
        two <- mitools::MIcombine(with(as_imputations(tables), lm(log(income) ~ age + factor(sex))))
        design <- survey::svydesign(ids = ~1, weights = ~1, data = as_imputations(tables))
        three <- mitools::MIcombine(with(design, survey::svyglm(log(income) ~ age + factor(sex))))
        cat(one$pooled$estimate, two$coefficients, three$coefficients, sqrt(diag(three$variance)))
        """
    )
    done = subprocess.run(
        [rscript.binary() or "", "pool.R"],
        cwd=tmp_path,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    numbers = list(map(float, done.stdout.split()))
    estimates = [one.estimate for one in mine.quantities]
    for pooled in (numbers[:3], numbers[3:6], numbers[6:9]):
        assert pooled == pytest.approx(estimates, rel=1e-5)
    assert numbers[9:] == pytest.approx([one.se for one in mine.quantities], rel=0.02)
    assert json.dumps(mine.to_dict())
