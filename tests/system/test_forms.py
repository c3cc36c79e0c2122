"""The forms of a release, each against its definition, and what is refused."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import pytest

import shoal
from contracts.forms import SCHEMA, FormContract, random_table
from reference import forms as oracle
from shoal.audit.files import audit_directory
from shoal.utility.tilted import Tilted, tilt_below, tilt_rates

if TYPE_CHECKING:
    from pathlib import Path

    from reference.forms import Rows

NUMBERS = ("age", "weight", "born")
Table = dict[str, list[str]]
Members = dict[str, list[int]]


def same_ends(table: Table, members: list[int], name: str, low: str, high: str) -> None:
    least, most = oracle.ends([table[name][row] for row in members])
    assert (oracle.number(low), oracle.number(high)) == (least, most)
    assert {low, high} <= set(table[name])


def same_labels(table: Table, members: list[int], cell: str) -> None:
    labels = {table["town"][row] for row in members}
    bare = len(labels) == 1 and not next(iter(labels)).startswith("[")
    assert labels == ({cell} if bare else set(json.loads(cell)))


class TestIntervals(FormContract):
    form = "intervals"
    header: ClassVar = {"release": ["group", "age", "weight", "born", "town", "income"]}

    def check(self, table: Table, groups: Members, files: dict[str, Rows]) -> None:
        for row in files["release"]:
            members = groups[row["group"]]
            same_labels(table, members, row["town"])
            for name in NUMBERS:
                cell = row[name]
                parts = cell.strip("[]").replace('"', "").split(", ")
                assert len(parts) == (2 if cell.startswith("[") else 1)
                same_ends(table, members, name, parts[0], parts[-1])


class TestBounds(FormContract):
    form = "bounds"
    header: ClassVar = {
        "release": ["group", "age_low", "age_high", "weight_low", "weight_high",
                    "born_low", "born_high", "town", "income"]
    }  # fmt: skip

    def check(self, table: Table, groups: Members, files: dict[str, Rows]) -> None:
        for row in files["release"]:
            members = groups[row["group"]]
            same_labels(table, members, row["town"])
            for name in NUMBERS:
                same_ends(table, members, name, row[f"{name}_low"], row[f"{name}_high"])


class TestMeans(FormContract):
    form = "means"
    header: ClassVar = {
        "release": ["group", "age", "age_low", "age_high", "weight", "weight_low", "weight_high",
                    "born", "born_low", "born_high", "town", "income"]
    }  # fmt: skip

    def check(self, table: Table, groups: Members, files: dict[str, Rows]) -> None:
        for row in files["release"]:
            members = groups[row["group"]]
            same_labels(table, members, row["town"])
            for name in NUMBERS:
                same_ends(table, members, name, row[f"{name}_low"], row[f"{name}_high"])
                own = [table[name][one] for one in members]
                assert row[name] == oracle.mean(own, table[name])

    @pytest.mark.parametrize("seed", range(6))
    def test_a_mean_that_no_such_rows_have_is_refused(self, seed: int, tmp_path: Path) -> None:
        self.published(seed, tmp_path, method="Split()")
        path = tmp_path / "out" / "release.csv"
        lines = path.read_text().splitlines()
        cells = lines[1].split(",")
        low, high = float(cells[2]), float(cells[3])
        cells[1] = f"{high if low < high else high + 1:.2f}"  # all rows at one end
        lines[1] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
        found = audit_directory(tmp_path / "out")
        assert not found.holds
        assert any("mean" in one or "different published" in one for one in found.problems)


class TestTwoTables(FormContract):
    form = "two-tables"
    files = ("people", "values")
    header: ClassVar = {
        "people": ["group", "age", "weight", "born", "town"],
        "values": ["group", "income"],
    }

    def check(self, table: Table, groups: Members, files: dict[str, Rows]) -> None:
        people = oracle.by_group(files["people"])
        assert people.keys() == groups.keys()
        for group, members in groups.items():
            own = people[group]
            assert sorted(row["town"] for row in own) == sorted(table["town"][r] for r in members)
            for name in NUMBERS:
                found = sorted(oracle.number(row[name]) for row in own)
                assert found == sorted(oracle.number(table[name][r]) for r in members)

    def test_people_and_values_of_a_group_stand_in_no_common_order(self, tmp_path: Path) -> None:
        rows = 400
        table = {
            "age": [str(p) for p in range(rows)],
            "income": [str(100 * p) for p in range(rows)],
        }
        schema = shoal.Schema(quasi="age", sensitive="income")
        release = shoal.anonymize(
            pl.DataFrame(table), schema, require="EpsilonM(epsilon=1, m=2)", form="two-tables"
        )
        people, values = release.table
        same = (people["age"].cast(int) * 100 == values["income"].cast(int)).sum()
        assert same < 12  # one in expectation
        ranks = [
            frame.with_columns(pl.int_range(pl.len()).over("group").alias("place"))
            for frame in (people, values)
        ]
        both = ranks[0].join(ranks[1], on=["group", "place"])
        hits = (both["age"].cast(int) * 100 == both["income"].cast(int)).sum()
        assert 0.25 * rows < hits < 0.75 * rows  # groups of two: half by chance


# Refusals


def refused(words: str, **options: object) -> None:
    table = pl.DataFrame(random_table(random.Random(1)))
    settings: dict[str, object] = {"require": "EpsilonM(epsilon=10, m=2)", "schema": SCHEMA}
    settings |= options
    schema = settings.pop("schema")
    with pytest.raises(shoal.UsageError, match=words):
        shoal.anonymize(table, schema, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("require", ["KMap(k=2)", "DeltaPresence(low=0, high=0.5)"])
@pytest.mark.parametrize("form", ["means", "two-tables"])
def test_forms_that_tell_who_is_there_are_refused_where_that_is_protected(
    require: str, form: str
) -> None:
    everybody = pl.DataFrame(random_table(random.Random(1)))
    refused("form", require=require, form=form, population=everybody)


def test_two_tables_are_refused_where_they_would_break_or_tell_too_much() -> None:
    refused("KAnonymity", form="two-tables", require="KAnonymity(k=2)")
    refused("KAnonymity", form="two-tables", require=["EpsilonM(epsilon=10, m=2)", "KAnonymity(2)"])
    plain = shoal.Schema(quasi=["age", "born"], sensitive="income", other="town")
    refused("town", form="two-tables", schema=plain)
    kept = shoal.anonymize(
        pl.DataFrame(random_table(random.Random(1))),
        plain,
        require="EpsilonM(epsilon=10, m=2)",
        form="two-tables",
        keep_other=True,
    )
    people, values = kept.table
    assert people.columns == ["group", "age", "born", "town"]
    assert values.columns == ["group", "income"]
    assert kept.audit().holds


@pytest.mark.parametrize("form", ["means", "two-tables"])
def test_forms_of_groups_are_refused_without_groups(form: str) -> None:
    words = "groups|KAnonymity"
    refused(words, form=form, require="KAnonymity(k=2)", method="Freeform()")


def test_a_name_that_would_stand_twice_is_refused() -> None:
    table = pl.DataFrame(random_table(random.Random(1))).rename({"town": "age_low"})
    schema = shoal.Schema(quasi=["age", "age_low"], sensitive="income")
    for form in ("bounds", "means"):
        with pytest.raises(shoal.UsageError, match="age_low"):
            shoal.anonymize(table, schema, require="EpsilonM(epsilon=10, m=2)", form=form)


def test_there_is_no_other_form() -> None:
    refused("bounds", form="bound")


# The spread that a mean tells


def test_the_tilted_spread_has_its_mean_and_adds_up() -> None:
    chance = np.random.default_rng(1)
    sizes = chance.integers(2, 200, 500).astype(float)
    centres = chance.uniform(0, 1, 500) ** 3 * (sizes - 1)
    rates = tilt_rates(sizes, centres)
    for size, centre, rate in zip(sizes, centres, rates, strict=True):
        places = np.arange(size + 1)
        below = tilt_below(np.full(len(places), size), np.full(len(places), rate), places)
        shares = np.diff(below)
        assert below[0] == 0
        assert below[-1] == pytest.approx(1)
        assert (shares >= -1e-12).all()
        assert shares @ places[:-1] == pytest.approx(centre, abs=1e-6 * size)
        ratios = shares[1:] / np.maximum(shares[:-1], 1e-300)
        steady = shares[:-1] > 1e-9
        assert np.allclose(ratios[steady], np.exp(rate), rtol=1e-4)


def test_groups_of_three_are_known_from_ends_and_mean() -> None:
    for third in range(10, 31):
        mean = round((10 + third + 30) / 3, 2)
        cell = [np.array([value], float) for value in (10, 30, mean, 3)]
        asked = Tilted.of(*cell)
        for unit in range(9, 32):
            found = asked.shares(np.array([unit], float), np.array([unit], float))[0]
            assert found == pytest.approx([10, third, 30].count(unit) / 3)


@pytest.mark.parametrize("form", ["means", "two-tables"])
def test_an_attack_says_what_of_a_form_it_leaves_aside(form: str, tmp_path: Path) -> None:
    table = pl.DataFrame(random_table(random.Random(2)))
    release = shoal.anonymize(table, SCHEMA, require="EpsilonM(epsilon=10, m=2)", form=form)
    release.write(tmp_path / "out")
    said = " ".join(shoal.attack([tmp_path / "out"], original=table).to_dict()["remarks"])
    assert "exclude more groups" in said or "finds the group more often" in said
