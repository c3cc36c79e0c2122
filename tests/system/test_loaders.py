"""Releases of every form, read by analysts: in R, in pandas, as a typed frame, as numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rscript
import shoal
from parted import in_parts
from shoal.datasets.census import census
from shoal.runs.certificate import write_scripts
from shoal.table.forms import FORMS
from stata import as_stata

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = shoal.Schema(quasi=["age", "born", "birthplace"], sensitive="income")


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    born = pl.date(2024, 5, 17) - pl.duration(days=pl.col("age") * 365)
    table = census(400).with_columns(born.alias("born"))
    row = pl.int_range(pl.len())  # a few ages are missing, and many dates of birth
    return table.with_columns(
        age=pl.when(row % 80 > 0).then("age"), born=pl.when(row % 5 > 0).then("born")
    )


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> shoal.Release:
    require = shoal.principles.EpsilonM(epsilon=1000, m=3)
    return shoal.anonymize(people, SCHEMA, require=require, method="Split()", missing="value")


@pytest.fixture(params=FORMS)
def written(request: pytest.FixtureRequest, release: shoal.Release, tmp_path: Path) -> Path:
    release.as_form(request.param).write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    return tmp_path


def means(tables: dict[str, pl.DataFrame]) -> dict[str, float]:
    """What an analyst would look at first."""
    return {
        name: float(frame[name].cast(pl.Float64).mean())  # type: ignore[arg-type]
        for frame in tables.values()
        for name in frame.columns
        if frame[name].dtype.is_numeric() and name != "group"
    }


def typed(place: Path) -> dict[str, pl.DataFrame]:
    found = shoal.measures.read(place)
    return (
        dict(zip(("people", "values"), found, strict=True))
        if isinstance(found, tuple)
        else {"release": found}
    )


def test_a_typed_frame_has_numbers_dates_and_lists(written: Path) -> None:
    for frame in typed(written / "out").values():
        for name, kind in frame.schema.items():
            if name.startswith("age") or name in {"income", "group", "born_missing"}:
                assert kind.is_numeric()
            elif name.startswith("born"):
                assert kind == pl.Date
            else:
                assert kind in (pl.String, pl.List(pl.String))


@pytest.mark.r
@pytest.mark.smoke
@pytest.mark.few(1)
def test_r_reads_the_same_numbers_and_can_run_a_regression(written: Path) -> None:
    program = rscript.binary()
    assert program is not None, "R is needed; on Debian: apt-get install r-base-core"
    code = """
        source("scripts/load.R"); found <- read_release("out")
        tables <- if (is.data.frame(found)) list(release = found) else found
        for (table in tables) for (name in names(table)) if (is.numeric(table[[name]])) {
          middle <- mean(table[[name]], na.rm = TRUE)
          cat(name, format(middle, digits = 15), class(table$born_low), "\\n")
        }
        if (is.data.frame(found)) {
          age <- if (is.null(found$age)) (found$age_low + found$age_high) / 2 else found$age
          stopifnot(length(coef(lm(found$income ~ age))) == 2, inherits(found$born_low, "Date"))
          stopifnot(is.list(found$birthplace), all(lengths(found$birthplace) > 0))
          stopifnot(all(unlist(lapply(found$birthplace, is.character))))
          cat("labels", length(unique(unlist(found$birthplace))), "\\n")
        } else {
          people <- found$people; values <- found$values; values$twice <- 2 * values$income
          for (misuse in expression(
            lm(income ~ age, found), merge(found, found), merge(people, found),
            merge(people, values), cbind(people, values), cbind(people$age, values$income),
            data.frame(people, values), data.frame(a = people$age, b = values$income),
            lm(values$income ~ people$age), lm(log(values$income) ~ factor(people$age)),
            glm(values$income > 30000 ~ people[["age"]], family = binomial),
            lm(values$income ~ as.numeric(people$age)),
            lm(as.numeric(values$income) ~ as.numeric(people$age)), lm(income ~ people$age, values),
            with(people, lm(values$income ~ age)), lm(values$income ~ people$born),
            t.test(values$income ~ people$age > 40), people$age * values$income,
            {people$income <- values$income; lm(income ~ age, people)}
          )) {
            said <- tryCatch(eval(misuse), error = conditionMessage)
            if (!is.character(said) || !grepl("whose they are", said)) stop(deparse(misuse))
          }
          towns <- data.frame(group = unique(people$group), town = "a")
          joined <- merge(found$people, towns)
          stopifnot(nrow(joined) == nrow(people), inherits(joined$age, "shoal_people"))
          stopifnot(length(coef(lm(income ~ twice, values))) == 2, is.numeric(values$income))
          stopifnot(length(coef(lm(age ~ birthplace, found$people))) > 2)
          old <- found$people[found$people$age > 40 & !is.na(found$people$age), ]
          stopifnot(all(as.numeric(people$born) == unclass(found$people$born), na.rm = TRUE))
          stopifnot(sd(as.numeric(people$age), na.rm = TRUE) == sd(people$age, na.rm = TRUE))
          stopifnot(mean(old$age) > 40, inherits(old$age, "shoal_people"))
          days <- found$people$born - as.Date("1950-01-01")
          stopifnot(inherits(days, "difftime"), ncol(cbind(found$people, one = 1)) == ncol(people))
        }
    """
    done = subprocess.run(
        [program, "-e", code], cwd=written, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    found.pop("group")
    labels = found.pop("labels", None)
    assert labels in (None, census(400)["birthplace"].n_unique())
    assert found == pytest.approx(means(typed(written / "out")))


@pytest.mark.few(2)
def test_pandas_reads_the_same_numbers(written: Path) -> None:
    code = """
import json, sys; sys.path.insert(0, "scripts")
from load_release import read_release
found = read_release("out")
tables = found if isinstance(found, dict) else {"release": found}
print(json.dumps({n: float(t[n].mean()) for t in tables.values()
                  for n in t.columns if t[n].dtype.kind in "if"}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=written, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    groups = [name for name in found if name.startswith("group")]
    tables = typed(written / "out")
    two = ["group_of_people", "group_of_values"]  # so that nobody joins them unawares
    assert groups == (two if len(tables) == 2 else ["group"])
    for name in groups:
        found.pop(name)
    assert found == pytest.approx(means(tables))


def test_pandas_pairs_no_rows_of_two_tables(release: shoal.Release, tmp_path: Path) -> None:
    pd, sm = pytest.importorskip("pandas"), pytest.importorskip("statsmodels.api")
    release.as_form("two-tables").write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    space: dict[str, Any] = {}
    exec((tmp_path / "scripts" / "load_release.py").read_text(), space)
    people, values = space["read_release"](tmp_path / "out").values()
    rows = len(people)
    assert list(people.index) == list(range(rows))
    with pytest.raises(ValueError, match="not aligned"):
        sm.OLS(values["income"], people["age"].fillna(0))
    assert len(pd.concat([people, values], axis=1)) == 2 * rows
    assert np.isnan(values["income"].corr(people["age"]))
    assert people.assign(income=values["income"])["income"].isna().all()
    assert people.join(values)["income"].isna().all()


def test_pandas_finds_no_column_to_join_two_tables_by(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    require = shoal.principles.EpsilonM(epsilon=100, m=3)
    schema = shoal.Schema(quasi=["age", "birthplace"], sensitive="income")
    options: Any = {"method": "Oblivious()", "form": "two-tables"}
    shoal.anonymize(census(200), schema, require=require, **options).write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    space: dict[str, Any] = {}
    exec((tmp_path / "scripts" / "load_release.py").read_text(), space)
    people, values = space["read_release"](tmp_path / "out").values()
    assert "node_of_people" in people.columns
    with pytest.raises(pd.errors.MergeError):
        people.merge(values)


@pytest.fixture(params=["tight", "regions"])
def drawn(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    schema = shoal.Schema(quasi=["age", "birthplace"], sensitive="income")
    shoal.anonymize(
        census(200), schema, require="KAnonymity(k=9)", method="Mondrian()", cells=request.param
    ).write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    return request.param, tmp_path


def test_pandas_says_which_kind_cells_are(drawn: tuple[str, Path]) -> None:
    kind, place = drawn
    space: dict[str, Any] = {}
    exec((place / "scripts" / "load_release.py").read_text(), space)
    assert space["read_release"](place / "out").attrs["cells"] == kind


@pytest.mark.r
def test_r_says_which_kind_cells_are(drawn: tuple[str, Path]) -> None:
    kind, place = drawn
    program = rscript.binary()
    assert program is not None, "R is needed; on Debian: apt-get install r-base-core"
    code = 'source("scripts/load.R"); cat(attr(read_release("out"), "cells"))'
    done = subprocess.run(
        [program, "-e", code], cwd=place, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, kind), done.stderr


ODD = (
    "a\tb",
    "g\nh",
    'q"u',
    "b\\s",
    "b\\ns",
    "s/l",
    "\b\f\x01",
    "é\u2028",
    "\U0001f41f",
    "uäu",
    "[x",
    "t",
)


@pytest.mark.r
@pytest.mark.few(1)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_loaders_undo_what_sets_escape(locale: str, tmp_path: Path) -> None:
    row = pl.int_range(240, eager=True)
    place = pl.Series([ODD[one % len(ODD)] for one in row])
    table = pl.DataFrame({"place": place, "pay": row * 1_000 % 7_000})
    schema = shoal.Schema(quasi="place", sensitive="pay")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=25)")
    release.write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    sets = shoal.measures.read(tmp_path / "out")["place"].to_list()
    assert {label for labels in sets if len(labels) > 1 for label in labels} == set(ODD)
    space: dict[str, Any] = {}
    exec((tmp_path / "scripts" / "load_release.py").read_text(), space)
    assert [list(cell) for cell in space["read_release"](tmp_path / "out")["place"]] == sets
    texts = [*ODD, "\U0001f41f\U0001f41f\u00e4\\u00e4"]  # with all escapes that JSON has
    escaped = [json.dumps(one)[1:-1].replace("/", "\\/") for one in texts]
    (tmp_path / "escaped.txt").write_text("\n".join(escaped))
    code = """
        source("scripts/load.R"); found <- read_release("out")
        told <- function(text) paste(charToRaw(enc2utf8(text)), collapse = "")
        for (cell in found$place) cat(vapply(cell, told, ""), "\\n")
        cat(vapply(shoal_unescaped(readLines("escaped.txt", warn = FALSE)), told, ""), "\\n")
    """
    program = rscript.binary()
    assert program is not None, "R is needed; on Debian: apt-get install r-base-core"
    done = subprocess.run(
        [program, "-e", code],
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": locale},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [
        [bytes.fromhex(one).decode() for one in line.split()] for line in done.stdout.splitlines()
    ]
    assert found == [*sets, texts]


@pytest.mark.parametrize("role", ["other", "sensitive"])
@pytest.mark.parametrize("form", FORMS)
def test_no_column_is_lost_by_the_names_that_intervals_are_loaded_as(
    people: pl.DataFrame, form: str, role: str, tmp_path: Path
) -> None:
    refused = set()
    for number, suffix in enumerate(("low", "high", "missing", "mean")):
        name, place = f"age_{suffix}", tmp_path / str(number)
        table = people.with_columns((pl.int_range(pl.len()) % 40).alias(name))
        secret = ["income", name] if role == "sensitive" else ["income"]
        schema = shoal.Schema(
            quasi="age", sensitive=secret, other=[name] if role == "other" else []
        )
        asked: Any = {"require": "income: EpsilonM(epsilon=1000, m=3)", "method": "Split()"}
        said: Any = {"missing": "value", "keep_other": True}
        try:
            shoal.anonymize(table, schema, form=form, **asked, **said).write(place)
        except shoal.UsageError as problem:
            refused |= {suffix} if f"already has a column {name!r}" in str(problem) else {"?"}
            continue
        write_scripts(place, tmp_path / f"scripts-{number}")
        script = (tmp_path / f"scripts-{number}" / "load_release.py").read_text()
        space: dict[str, Any] = {}
        exec(script, space)
        loaded = space["read_release"](place)
        frames = loaded.values() if isinstance(loaded, dict) else [loaded]
        assert sum(frame[name].sum() for frame in frames if name in frame) == 10 * sum(range(40))
        for ending in (".dta", ".sav"):
            assert shoal.measures.export_file(place, tmp_path / f"{number}{ending}")
    assert refused == (set() if form == "two-tables" else {"low", "high", "missing"})


@pytest.mark.parametrize("name", ["group_of_values", "node_of_people", "shoal_part"])
def test_names_that_loaders_give_to_columns_of_two_tables_are_taken(
    name: str, people: pl.DataFrame
) -> None:
    table = people.rename({"income": name})
    schema = shoal.Schema(quasi="birthplace", sensitive=name)
    with pytest.raises(shoal.UsageError, match=f"Rename the input column '{name}'"):
        shoal.anonymize(table, schema, require="EpsilonM(epsilon=1000, m=3)", form="two-tables")


def test_loaders_are_refused_for_what_is_no_text(release: shoal.Release, tmp_path: Path) -> None:
    release.write(tmp_path / "out", format="parquet")
    for change in (lambda _: None, in_parts):
        change(tmp_path / "out")
        with pytest.raises(shoal.UsageError, match=r"release\.parquet is not a text file"):
            write_scripts(tmp_path / "out", tmp_path / "scripts")


def test_features_of_a_frame_are_refused_with_what_to_do(written: Path) -> None:
    with pytest.raises(shoal.ShoalError, match="takes a release or its directory"):
        shoal.measures.features(shoal.measures.read(written / "out"))


def test_features_are_the_same_from_memory_and_from_files(
    written: Path, release: shoal.Release
) -> None:
    form = json.loads((written / "out" / "manifest.json").read_text())["form"]
    one, other = shoal.measures.features(written / "out"), release.as_form(form).features()
    assert one.columns == other.columns
    shares = [name for name in one.columns if name.startswith("birthplace=")]
    assert np.allclose(one.select(shares).sum_horizontal(), 1)
    assert np.allclose(
        one.select("age", *shares).mean().row(0), other.select("age", *shares).mean().row(0)
    )


def test_features_of_means_and_two_tables_have_the_mean_of_the_table(
    people: pl.DataFrame,
) -> None:
    people = people.drop_nulls()
    release = shoal.anonymize(people, SCHEMA, require="EpsilonM(epsilon=1000, m=3)")
    for form, near in (("means", 0.01), ("two-tables", 1e-9)):
        found: Any = release.as_form(form).features()["age"].mean()
        assert found == pytest.approx(people["age"].mean(), abs=near)


def test_a_pipeline_learns_from_cells_and_is_asked_about_people(
    people: pl.DataFrame, release: shoal.Release
) -> None:
    linear, pipeline = (pytest.importorskip(f"sklearn.{n}") for n in ("linear_model", "pipeline"))
    answers = []
    for form in ("intervals", "bounds", "means"):
        table = release.table_as(form)
        cells = shoal.measures.CellTransformer(["age", "birthplace"])
        model = pipeline.make_pipeline(cells, linear.Ridge()).fit(table, table["income"])
        answers.append(model.predict(people))
        assert model[0].get_feature_names_out()[0] == "age"
    assert np.allclose(answers[0], answers[1])
    assert np.corrcoef(answers[0], answers[2])[0, 1] > 0.95


def test_scripts_are_refused_where_they_could_not_read(
    release: shoal.Release, tmp_path: Path
) -> None:
    release.write(tmp_path / "out", format="parquet")
    with pytest.raises(shoal.UsageError, match="csv"):
        write_scripts(tmp_path / "out", tmp_path / "scripts")


def test_stata_reads_the_same_numbers_and_dates(written: Path) -> None:
    program = (written / "scripts" / "load.do").read_text("utf-8")
    for stem, frame in typed(written / "out").items():
        found = as_stata(program, written / "out", stem)
        own = {} if stem == "release" else {"group": f"group_of_{stem}"}
        part = found.pop("shoal_part", None)
        assert (part is None) == (stem == "release")
        if part is not None:  # Stata merges no variables of which one is text and one a number
            assert {type(one) for one in part} == {str if stem == "people" else int}
        wanted = frame.rename(own)
        assert set(found) == set(wanted.columns)
        for name, kind in wanted.schema.items():
            if kind.is_numeric() or kind == pl.Date:
                assert found[name] == wanted[name].to_list(), name


def test_features_of_an_escaped_release_are_those_of_the_table_as_it_was(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {
            "shift": [-5, -3, 2, 4, -1, 7, 8, -9],
            "town": ["=Ulm", "+Bonn", "Aalen", "@Kiel"] * 2,
            "pay": [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000],
        }
    )
    schema = shoal.Schema(quasi=["shift", "town"], sensitive="pay")
    for form in ("intervals", "bounds", "means"):
        plain, escaped = (
            shoal.anonymize(
                people, schema, require="KAnonymity(k=2)", form=form, escape_formulas=escape, seed=1
            )
            for escape in (False, True)
        )
        escaped.write(tmp_path / form)
        assert "'=Ulm" in (tmp_path / form / "release.csv").read_text("utf-8")
        wanted = plain.features()
        assert {"town==Ulm", "town=Aalen"} <= set(wanted.columns)
        for found in (escaped.features(), shoal.measures.features(tmp_path / form)):
            assert found.columns == wanted.columns
            assert sorted(found.rows()) == sorted(wanted.rows())


@pytest.mark.few(2)
@pytest.mark.parametrize("form", FORMS)
def test_features_are_the_kind_of_frame_that_came_in(people: pl.DataFrame, form: str) -> None:
    whole = people.drop_nulls()
    for given in (whole, whole.to_pandas(), whole.to_arrow()):
        made = shoal.anonymize(given, SCHEMA, require="EpsilonM(epsilon=1000, m=3)", form=form)
        assert type(made.features()) is type(given)
