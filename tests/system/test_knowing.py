"""Readers who know the method, through files and the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from system.shell import shoal, write_csv

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = [
    {"age": str(age), "zip": str(zip_code), "salary": str(salary)}
    for age, zip_code, salary in [
        (20, 1, 10), (31, 9, 20), (42, 4, 30), (53, 16, 31), (64, 25, 50), (75, 36, 51),
    ]
]  # fmt: skip
COLUMNS = ("--quasi", "age,zip", "--sensitive", "salary")


def published(tmp_path: Path, method: str) -> tuple[Path, Path]:
    table = write_csv(tmp_path / "people.csv", PEOPLE)
    made = shoal(
        *("anonymize", table, *COLUMNS, "--require", "EpsilonM(epsilon=1, m=2)"),
        *("--method", method, "--output", tmp_path / "out", "--quiet"),
    )
    assert made.code == 0, made.err
    return table, tmp_path / "out"


@pytest.mark.parametrize("method", ["Oblivious()", "Split()"])
def test_the_attack_says_what_such_a_reader_learns(method: str, tmp_path: Path) -> None:
    table, release = published(tmp_path, method)
    asked = ("attack", release, "--original", table, "--knows-method")
    facts = shoal(*asked, "--json").json()
    (found,) = facts["knowing"]
    assert (found["method"], found["assignments"]) == (method, 720)
    assert (found["distance"] == 0) == (method == "Oblivious()")
    assert facts["minimality"] == found["sentence"]
    said = " ".join(shoal(*asked).out.split())
    assert found["sentence"] in said


def test_a_large_table_is_refused_and_so_is_none(tmp_path: Path) -> None:
    table, release = published(tmp_path, "Oblivious()")
    alone = shoal("attack", release, "--knows-method")
    assert alone.code == 2
    assert "--original" in alone.err
    plain = shoal("attack", table, *COLUMNS, "--original", table, "--knows-method")
    assert plain.code == 2
    assert "does not say how it was made" in plain.err.replace("\n", " ")
    many = write_csv(tmp_path / "many.csv", PEOPLE + PEOPLE)
    found = shoal("attack", release, "--original", many, "--knows-method")
    assert found.code == 2
    assert "at most 8 rows" in " ".join(found.err.split())


def test_what_cannot_be_dealt_exits_with_3(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", [row | {"salary": "7"} for row in PEOPLE])
    made = shoal(
        *("anonymize", table, *COLUMNS, "--require", "FrequencyL(l=2)"),
        *("--method", "Oblivious(block=3)", "--output", tmp_path / "out"),
    )
    assert made.code == 3
    assert not (tmp_path / "out").exists()
