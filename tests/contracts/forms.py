"""What every form of a release has to keep; a test of each form inherits it.

Tables are small and hold ties, equal rows, negative and long numbers, decimals and dates; what a
file has to say comes from the input and the private linkage, in plain Python.
"""

from __future__ import annotations

import csv
import random
import shutil
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import pytest

import shoal
from reference import forms as oracle
from shoal.audit.files import audit_directory
from shoal.audit.published import read_release
from shoal.audit.tables import read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from reference.forms import Rows

TABLES = 12  # random tables for each test
METHODS = ("Split()", "Exchange()", "Split(partition='round-robin')")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "feather", "xlsx", "csv.gz")


def random_table(chance: random.Random) -> dict[str, list[str]]:
    rows = chance.randint(6, 24)
    ages = [str(chance.choice([-3, 0, 17, 18, 18, 40, 41, 95, 10**15])) for _ in range(rows)]
    weights = [chance.choice(["0.5", "2.25", "-1.125", "7", "1e2", "0.1"]) for _ in range(rows)]
    born = [chance.choice(["1960-02-29", "1999-12-31", "2000-01-01"]) for _ in range(rows)]
    towns = [chance.choice(["Ulm", "Bonn", "Köln", "[x]", "a, b"]) for _ in range(rows)]
    income = [str(1000 * place + chance.randint(0, 5)) for place in range(rows)]
    return {"age": ages, "weight": weights, "born": born, "town": towns, "income": income}


SCHEMA = shoal.Schema(quasi=["age", "weight", "born", "town"], sensitive="income")


class FormContract:
    """Inherited by the tests of every form."""

    form: ClassVar[str]
    files: ClassVar[tuple[str, ...]] = ("release",)
    header: ClassVar[dict[str, list[str]]]

    def published(self, seed: int, place: Path, **options: Any) -> tuple[dict[str, list[str]], Any]:
        chance = random.Random(seed)
        table = random_table(chance)
        options = {"require": "EpsilonM(epsilon=10, m=2)"} | options
        release = shoal.anonymize(
            pl.DataFrame(table),
            SCHEMA,
            method=options.pop("method", chance.choice(METHODS)),
            form=self.form,
            seed=seed,
            **options,
        )
        place.mkdir(exist_ok=True)
        release.write(place / "out", linkage=place / "link.csv")
        return table, release

    def read(self, place: Path) -> dict[str, tuple[list[str], Rows]]:
        return {stem: oracle.read(place / "out" / f"{stem}.csv") for stem in self.files}

    def originals(self, place: Path, table: dict[str, list[str]]) -> dict[str, list[int]]:
        """The input rows of each group, by the private linkage."""
        carried = self.read(place)[self.files[-1]][1]
        with (place / "link.csv").open() as file:
            link = {int(one["release_row"]): int(one["row"]) for one in csv.DictReader(file)}
        assert sorted(link.values()) == list(range(len(table["age"])))
        groups: dict[str, list[int]] = {}
        for row, line in enumerate(carried):
            assert line["income"] == table["income"][link[row]]
            groups.setdefault(line["group"], []).append(link[row])
        return groups

    @pytest.mark.parametrize("seed", range(TABLES))
    def test_files_say_of_groups_what_the_form_says(self, seed: int, tmp_path: Path) -> None:
        table, _ = self.published(seed, tmp_path)
        groups = self.originals(tmp_path, table)
        found = self.read(tmp_path)
        assert {stem: header for stem, (header, _) in found.items()} == self.header
        self.check(table, groups, {stem: rows for stem, (_, rows) in found.items()})

    def check(
        self, table: dict[str, list[str]], groups: dict[str, list[int]], files: dict[str, Rows]
    ) -> None:
        raise NotImplementedError

    @pytest.mark.few(2)
    @pytest.mark.parametrize("format", FORMATS)
    def test_every_format_is_audited_from_its_files_and_says_the_same(
        self, format: str, tmp_path: Path
    ) -> None:
        _, release = self.published(3, tmp_path)
        release.write(tmp_path / "other", format=format)
        assert audit_directory(tmp_path / "other").holds
        one, other = (
            read_release(place, read_manifest(place)).table
            for place in (tmp_path / "out", tmp_path / "other")
        )
        for name in ("group", "town", "income"):
            assert one[name].cast(pl.String).to_list() == other[name].cast(pl.String).to_list()

    @pytest.mark.parametrize("seed", range(4))
    def test_loss_guarantee_and_counts_are_those_of_the_same_groups(
        self, seed: int, tmp_path: Path
    ) -> None:
        _, release = self.published(seed, tmp_path, method="Split()")
        plain = release.as_form("intervals")
        assert release.loss == pytest.approx(plain.loss, abs=1e-12)
        assert release.audit().measured() == plain.audit().measured()
        assert release.count("income >= 0") == pytest.approx(plain.count("income >= 0"))
        assert release.count("age >= -9 and income < 3000") == pytest.approx(
            plain.count("income < 3000")
        )
        assert release.count("18 <= age <= 40") == pytest.approx(
            shoal.count(tmp_path / "out", "18 <= age <= 40")
        )

    def test_a_spoiled_file_is_refused(self, tmp_path: Path) -> None:
        self.published(5, tmp_path)
        for stem in self.files:
            place = tmp_path / f"spoiled-{stem}"
            shutil.copytree(tmp_path / "out", place)
            header, rows = oracle.read(place / f"{stem}.csv")
            rows[0] = rows[0] | {"group": rows[-1]["group"], header[-1]: rows[-1][header[-1]]}
            rows = [*rows, rows[0]]
            with (place / f"{stem}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, header)
                writer.writeheader()
                writer.writerows(rows)
            assert not audit_directory(place).holds

    def test_rows_and_people_stand_in_orders_of_their_own(self, tmp_path: Path) -> None:
        same = {}
        for seed in (1, 2):
            table, _ = self.published(7, tmp_path / str(seed), method="Split()")
            same[seed] = self.read(tmp_path / str(seed))
        assert same[1] == same[2]  # with one seed
        assert table["income"] != [row["income"] for row in same[1][self.files[-1]][1]]

    def test_the_codebook_has_a_line_for_every_published_column(self, tmp_path: Path) -> None:
        self.published(5, tmp_path)
        _, lines = oracle.read(tmp_path / "out" / "codebook.csv")
        named = [(line["file"], line["name"]) for line in lines]
        assert named == [(stem, name) for stem in self.files for name in self.header[stem]]
        assert {line["role"] for line in lines} == {"group", "quasi", "sensitive"}
