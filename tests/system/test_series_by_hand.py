"""A series as its definition has it: every change is found, every crash is mended, all is told."""

import csv
import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

import shoal
from amount import examples
from reference import series as oracle
from shoal.release.ledger import locked
from system.shell import redone, write_csv
from system.shell import shoal as command

SCHEMA = shoal.Schema(quasi=["age", "town"], sensitive="pay", other="note", person="who")
REQUIRE = "EpsilonM(epsilon=3, m=2)"
PEOPLE = [
    {
        "who": f"p{number}",
        "age": str(20 + number),
        "town": "abc"[number % 3],
        "pay": str(100 * number),
        "note": "xy"[number % 2],
    }
    for number in range(30)
]


def publish(where: Path, name: str, people: list[dict[str, str]], **more):
    return shoal.results.Run(
        **{
            "table": pl.DataFrame(people),
            "schema": SCHEMA,
            "require": REQUIRE,
            "ledger": where / "ledger",
            "output": where / name,
            **more,
        }
    ).publish()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    where = tmp_path_factory.mktemp("series")
    publish(where, "a", PEOPLE[:20])
    publish(where, "b", PEOPLE[3:26])
    publish(where, "c", PEOPLE[5:])
    return where


@pytest.fixture
def series(made, tmp_path):
    for name in "abc":
        shutil.copytree(made / name, tmp_path / name)
    shutil.copy2(made / "ledger", tmp_path / "ledger")
    return tmp_path


def rows_of(directory: Path) -> list[dict[str, str]]:
    with (directory / "release.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.more
def test_every_row_that_goes_or_changes_is_found_in_whatever_release(series):
    given = [series / name for name in "abc"]
    assert shoal.audit_series(given).holds
    draw = random.Random(1)
    for name in "bc":  # of the first release nothing is known but what it says itself
        rows = rows_of(series / name)
        before = {row["group"] for row in rows_of(series / chr(ord(name) - 1))}
        files = ("manifest.json", "release.csv", "report.html")
        kept = {one: (series / name / one).read_bytes() for one in files}
        old = [place for place, row in enumerate(rows) if row["group"] in before]
        counterfeits = sum(
            int(row["real"])
            < len(  # rows that stand for nobody are among them
                [one for one in rows if one["group"] == row["group"]]
            )
            for row in rows
        )
        assert counterfeits
        for place in draw.sample(old, examples(8)):
            fewer = [row for p, row in enumerate(rows) if p != place]
            redone(series / name, fewer, rows=len(fewer))
            assert not shoal.audit_series(given).holds
            for column in draw.sample(["age", "town", "pay", "note"], 2):
                other = [dict(row) for row in rows]
                other[place][column] = {"age": "19", "town": "z", "pay": "7", "note": "q"}[column]
                redone(series / name, other, rows=len(other))
                assert not shoal.audit_series(given).holds
            for one, said in kept.items():
                (series / name / one).write_bytes(said)
    assert shoal.audit_series(given, ledger=series / "ledger").holds


def test_no_other_order_of_the_releases_holds(series):
    for order in permutations("abc"):
        found = shoal.audit_series([series / name for name in order])
        assert found.holds == (order == ("a", "b", "c")), order


def test_a_number_that_is_used_again_is_found(series):
    """A group of the first release that was gone in the second has its number in the third."""
    numbers = {name: {row["group"] for row in rows_of(series / name)} for name in "abc"}
    gone, born = min(numbers["a"]), min(numbers["c"] - numbers["b"], key=int)
    changed = {
        "a": rows_of(series / "a"),
        "b": [row for row in rows_of(series / "b") if row["group"] != gone],
        "c": [
            dict(row, group=gone) if row["group"] == born else row
            for row in rows_of(series / "c")
            if row["group"] != gone
        ],
    }
    previous = None
    for name, rows in changed.items():
        real = {row["group"]: int(row["real"]) for row in rows}
        redone(series / name, rows, rows=len(rows))
        path = series / name / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest |= {"groups": len(real), "people": sum(real.values())}
        if previous is not None:
            manifest["previous"] = previous
        path.write_text(json.dumps(manifest))
        previous = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    found = shoal.audit_series([series / name for name in "abc"])
    assert any("was removed earlier" in one for one in found.problems), found.problems


def test_who_says_that_all_rows_are_real_answers_for_it(series):
    """No file shows which rows are placeholders, so a release with another `real` holds."""
    path, rows = series / "c", rows_of(series / "c")
    sizes = Counter(row["group"] for row in rows)
    before = json.loads((path / "manifest.json").read_text())
    honest = shoal.audit(path)
    assert before["people"] < len(rows)
    more = len(rows) - before["people"]
    changed = [row | {"real": str(sizes[row["group"]])} for row in rows]
    counts = {"people": len(rows), "rows_in": before["rows_in"] + more}
    redone(path, changed, **counts)
    measured = shoal.audit(path).to_dict()
    names = ("exposed", "found", "inferred", "learned")
    redone(path, changed, **counts, **{name: measured[name] for name in names})
    forged = shoal.audit(path)
    said = forged.stated
    assert forged.holds, forged.problems
    assert said == honest.stated
    assert "how many rows stand for real people and which ones" in said[0]
    assert command("certificate", path, series / "signed.html").code == 0
    assert said[0] in (series / "signed.html").read_text("utf-8")
    assert "how many rows stand for real people" in (path / "report.html").read_text("utf-8")
    shoal.anonymize(pl.DataFrame(PEOPLE), SCHEMA, require=REQUIRE).write(series / "alone")
    assert "real people" not in shoal.audit(series / "alone").stated[0]
    assert "real people" not in (series / "alone" / "report.html").read_text("utf-8")


CRASH = """
import os, sys, json
import polars as pl
import shoal
where, step, people = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
count, steps = 0, []
def hook(event, told):
    global count
    path = next((str(one) for one in told if isinstance(one, str | bytes | os.PathLike)), "")
    writes = event == "open" and isinstance(told[2], int) and told[2] & (os.O_WRONLY | os.O_RDWR)
    moves = event in {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}
    swaps = event == "ctypes.dlsym" and told[1] == "renameat2"
    if not ((writes or moves) and where in path or swaps):
        return
    if count == step:
        os._exit(9)
    steps.append(f"{event} {os.path.basename(path)}")
    count += 1
sys.addaudithook(hook)
schema = shoal.Schema(quasi=["age", "town"], sensitive="pay", other="note", person="who")
shoal.results.Run(table=pl.DataFrame(people), schema=schema, require="EpsilonM(epsilon=3, m=2)",
          ledger=f"{where}/ledger", output=f"{where}/d").publish()
print(json.dumps(steps))
"""


def crashed(where: Path, step: int, people: list[dict[str, str]]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CRASH, str(where), str(step), json.dumps(people)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_wherever_a_run_dies_the_series_goes_on_and_newcomers_are_grouped_once(made, tmp_path):
    """The ledger is committed before the release appears, whatever is written when."""

    def copy(name: str) -> Path:
        where = tmp_path / name
        where.mkdir()
        for one in "abc":
            shutil.copytree(made / one, where / one)
        shutil.copy2(made / "ledger", where / "ledger")
        return where

    fresh = [
        dict(PEOPLE[number], who=f"n{number}", pay=str(5000 + 100 * number)) for number in range(8)
    ]
    people = [*PEOPLE[7:], *fresh]
    whole = crashed(copy("whole"), -1, people)
    out, err = whole.communicate()
    assert whole.returncode == 0, err
    steps = json.loads(out)
    moves = [place for place, step in enumerate(steps) if "rename" in step]
    tried = sorted({0, moves[0] // 2, *moves[:2], moves[1] + 1, len(steps) - 2, len(steps) - 1})
    places = {step: copy(f"at{step}") for step in tried}
    running = {step: crashed(where, step, people) for step, where in places.items()}
    appeared, rounds = [], []
    for step, run in running.items():
        run.communicate()
        assert run.returncode == 9, step
        where = places[step]
        before = json.loads((where / "ledger").read_text())
        there = (where / "d" / "manifest.json").is_file()
        appeared.append(there)
        if there:  # whatever can be seen is known to the ledger
            digest = hashlib.sha256((where / "d" / "manifest.json").read_bytes()).hexdigest()
            assert before["rounds"][-1]["manifest"] == f"sha256:{digest}"
        rounds.append(len(before["rounds"]))
        publish(where, "e" if there else "d", people)
        names = "abcde" if there else "abcd"
        found = shoal.audit_series([where / name for name in names], ledger=where / "ledger")
        assert found.holds, (step, found.complaints())
        after = json.loads((where / "ledger").read_text())
        together = dict(zip(after["rows"]["\x00person"], after["rows"]["\x00group"], strict=True))
        for who, group in zip(
            before["rows"]["\x00person"], before["rows"]["\x00group"], strict=True
        ):
            assert together.get(who, group) == group
        assert not [one.name for one in where.iterdir() if one.name.startswith(".")]
    assert appeared[0] is False
    assert appeared[-1] is True
    assert rounds == sorted(rounds)
    assert {*rounds} == {3, 4}


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
def test_trees_dates_and_columns_that_never_mix_live_on_in_every_form(form, tmp_path):
    draw = random.Random(3)

    def somebody(number: int) -> dict[str, str]:
        return {
            "who": str(number),
            "born": f"19{draw.randint(50, 79)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}",
            "zip": draw.choice(["1101", "1102", "1201", "2101", "2102"]),
            "sex": "fm"[number % 2],
            "pay": str(10 * number),
        }

    people = [somebody(number) for number in range(60)]
    schema = shoal.Schema(
        quasi=["born", "zip", "sex"],
        sensitive="pay",
        person="who",
        never_mix="sex",
        types={"zip": "code"},
        hierarchies={"zip": "Prefix()"},
    )
    for name, some in (("a", people[:40]), ("b", people[4:50]), ("c", people[8:])):
        publish(tmp_path, name, some, schema=schema, form=form)
    places = [tmp_path / name for name in "abc"]
    found = shoal.audit_series(places, ledger=tmp_path / "ledger")
    assert found.holds, found.complaints()
    seen: dict[str, set[tuple[str, ...]]] = {}
    for place in places:
        for group, rows in oracle.read(place)[1].items():
            plain = tuple(
                sorted(
                    json.dumps({k: v for k, v in row.items() if k not in {"real", "person"}})
                    for row in rows
                )
            )
            assert len({row["sex"] for row in rows}) == 1
            seen.setdefault(group, set()).add(plain)
    assert all(len(spelled) == 1 for spelled in seen.values())
    other = shoal.Schema(
        quasi=["born", "zip", "sex"], sensitive="pay", person="who", never_mix="sex",
        types={"zip": "code"},
    )  # fmt: skip
    with pytest.raises(shoal.UsageError, match="ledger has"):
        publish(tmp_path, "d", people, schema=other, form=form)


def asked(where: Path, table: Path, *more: object) -> tuple[object, ...]:
    return (
        "anonymize", table, "--quasi", "age,town", "--sensitive", "pay", "--other", "note",
        "--person", "who", "--require", REQUIRE, "--ledger", where / "ledger",
        "--output", where / "d", *more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--form", "two-tables", "--keep-other"), "The ledger has 'form'"),
        (("--round", "age=10"), "has 'rounding and thresholds' = nothing"),
        (("--top", "pay=99%"), "this run has pay=above 99% given as 99%"),
        (("--method", "Split()", "--form", "bounds"), "The ledger has 'form'"),
        (("--batch", "0"), "greater than or equal to 1"),
        (("--least-real", "0"), "greater than or equal to 1"),
    ],
)
def test_what_a_series_cannot_have_is_refused_by_a_dry_run_too(series, more, said):
    table = write_csv(series / "now.csv", PEOPLE[5:])
    before = (series / "ledger").read_bytes()
    for words in ((), ("--dry-run",)):
        done = command(*asked(series, table, *more, *words))
        assert done.code == 2
        assert said in done.said
    assert (series / "ledger").read_bytes() == before


def test_a_dry_run_counts_who_stays_and_writes_nothing(series):
    fresh = [dict(PEOPLE[n], who=f"n{n}", pay=str(5000 + 100 * n)) for n in range(6)]
    table = write_csv(series / "now.csv", [*PEOPLE[9:], *fresh])
    names = sorted(one.name for one in series.iterdir())
    before = (series / "ledger").read_bytes()
    with locked(series / "ledger"):  # it asks for nothing that another run may hold
        done = command(*asked(series, table, "--dry-run"))
    assert done.code == 0, done.said
    assert "release 4 of a series: 21 people stay, 5 left, 6 newcomers" in done.out
    facts = json.loads(command(*asked(series, table, "--dry-run", "--json")).out)
    assert facts["series"] == {
        "releases": 3, "again": False, "stay": 21, "left": 5, "newcomers": 6, "wait": False,
    }  # fmt: skip
    waits = command(*asked(series, table, "--dry-run", "--batch", "7"))
    assert "6 newcomers would wait" in waits.out
    assert sorted(one.name for one in series.iterdir()) == names
    assert (series / "ledger").read_bytes() == before
    done = command(*asked(series, table))
    assert done.code == 0, done.said
    manifest = json.loads((series / "d" / "manifest.json").read_text())
    assert manifest["rows"] == facts["rows"]
