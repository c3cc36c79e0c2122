"""Every column that is published as it is: how many rows are alone in their group by it."""

import csv
import random
from collections import defaultdict

import pytest

from system.shell import shoal

HEADER = ("patient", "age", "pay", "ill", "ward", "note", "weight")


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def table(path, seed, rows=60):
    chance = random.Random(seed)
    return write(
        path,
        HEADER,
        [
            [
                f"p{number // 2}",
                20 + number // 2,
                number * 10,
                chance.choice(["flu", "gout", "none"]),
                chance.choice(["A", "B"]),
                "the same" if seed % 2 else f"n{number}",
                number % 5 + 1,
            ]
            for number in range(rows)
        ],
    )


def alone(files, name):
    """Count from published files the rows whose cell nobody else of their group has."""
    with files.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    have = defaultdict(set)
    for place, row in enumerate(rows):
        have[row["group"], row[name]].add(row.get("person", place))
    return sum(len(have[row["group"], row[name]]) == 1 for row in rows), len(rows)


def sentence(name, count, rows):
    if not count:
        return f"Column '{name}' is published as it is; no row is alone in its group by it."
    return (
        f"Column '{name}' is published as it is, and {count} of {rows} rows are alone in "
        "their group by it: whoever knows it of somebody knows which of them is theirs."
    )


@pytest.mark.parametrize("more", [(), ("--person", "patient"), ("--form", "means")])
@pytest.mark.parametrize("seed", range(4))
def test_each_other_column_is_said_to_tell_so_many_rows_apart(seed, more, tmp_path):
    given, target = table(tmp_path / "t.csv", seed), tmp_path / "out"
    done = shoal(
        "anonymize", given, "--quasi", "age", "--sensitive", "pay", "--other", "ill,ward,note",
        "--survey-weight", "weight", "--require", "EpsilonM(epsilon=5, m=4)", "--output", target,
        *more,
    )  # fmt: skip
    assert done.code == 0, done.err
    for name in ("ill", "ward", "note"):
        assert sentence(name, *alone(target / "release.csv", name)) in done.said
    assert "'weight' is published as it is" not in done.said


def test_columns_of_linked_tables_and_of_two_tables_are_too(tmp_path):
    given = write(tmp_path / "t.csv", ("p", "age"), [[f"p{n}", 20 + n] for n in range(12)])
    visits = [[f"p{n % 12}", "abc"[n % 3], f"w{n % 7}"] for n in range(24)]
    linked = write(tmp_path / "v.csv", ("p", "diagnosis", "ward"), visits)
    done = shoal(
        "anonymize", given, "--quasi", "age", "--sensitive", "visits.diagnosis", "--person", "p",
        "--linked", f"visits={linked}", "--other", "visits.ward",
        "--require", "KAnonymity(k=3)", "--output", tmp_path / "linked",
    )  # fmt: skip
    assert done.code == 0, done.err
    said = sentence("visits.ward", *alone(tmp_path / "linked" / "visits.csv", "ward"))
    assert said in done.said

    done = shoal(
        "anonymize", table(tmp_path / "u.csv", 2), "--quasi", "age", "--sensitive", "pay",
        "--other", "note", "--form", "two-tables", "--keep-other",
        "--require", "EpsilonM(epsilon=5, m=4)", "--output", tmp_path / "two",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert sentence("note", *alone(tmp_path / "two" / "people.csv", "note")) in done.said
