"""`--missing value` in quasi columns of numbers and dates: measured again from published files."""

from __future__ import annotations

import csv
import json
import random
import shutil
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference import forms as plain
from reference import missing as oracle
from shoal.audit.tables import digest_of
from shoal.errors import NotAchievable
from shoal.runs.audit import audit_series
from shoal.utility.least import least_loss

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMS = ("intervals", "bounds", "means", "two-tables")
FORMATS = ("csv", "parquet", "jsonl", "feather", "xlsx", "tsv.gz")
METHODS = {
    "Exchange()": "EpsilonM(epsilon=3, m=2)",
    "Mondrian()": "KAnonymity(k=2)",
    "Split()": "EpsilonM(epsilon=3, m=2)",
    "XColor()": "EpsilonM(epsilon=3, m=2)",
    "Oblivious()": "EpsilonM(epsilon=3, m=2)",
}
QUASI = ("age", "born", "size", "town")
NUMBERS = QUASI[:3]
SCHEMA = shoal.Schema(quasi=list(QUASI), sensitive="pay")


def drawn(seed: int, rows: int | None = None) -> dict[str, list[str | None]]:
    """A table with ties, in which each column of numbers lacks none, few, many or nearly all."""
    chance = random.Random(seed)
    count = rows or chance.randint(8, 30)
    lacks = {name: chance.choice([0, 0.05, 0.3, 0.9]) for name in NUMBERS}
    cells: dict[str, Callable[[], str]] = {
        "age": lambda: str(chance.choice([-3, 0, 18, 18, 40, 41, 95])),
        "born": lambda: f"19{chance.randint(50, 59)}-0{chance.randint(1, 9)}-11",
        "size": lambda: chance.choice(["0.5", "2.25", "-1.125", "7", "1e2"]),
        "town": lambda: chance.choice(["Ulm", "Bonn", "Köln"]),
    }
    table: dict[str, list[str | None]] = {
        name: [None if chance.random() < lacks.get(name, 0.1) else cell() for _ in range(count)]
        for name, cell in cells.items()
    }
    for name in NUMBERS:  # one number at least, so that it is known that these are numbers
        table[name][0] = table[name][0] or cells[name]()
    table["pay"] = [str(10 * place) for place in range(count)]
    return table


def released(table: dict, **options: object) -> shoal.Release:
    options = {"method": "Exchange()", "seed": 1, "missing": "value"} | options
    options = {"require": METHODS.get(str(options["method"]))} | options
    schema = options.pop("schema", SCHEMA)
    return shoal.anonymize(pl.DataFrame(table), schema, **options)  # type: ignore[arg-type]


def said_of(row: dict[str, str], name: str, form: str) -> oracle.Said:
    return oracle.read_interval(row[name]) if form == "intervals" else oracle.read_bounds(row, name)


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("seed", range(12))
def test_files_say_of_groups_which_numbers_they_have_and_that_some_are_missing(
    form: str, seed: int, tmp_path: Path
) -> None:
    table = drawn(seed)
    release = released(table, form=form, method=list(METHODS)[seed % len(METHODS)])
    release.write(tmp_path / "out")
    _, rows = plain.read(tmp_path / "out" / "release.csv")
    groups = oracle.groups_of(rows, release.linkage.tolist())
    lost = dict.fromkeys(NUMBERS, Fraction(0))
    for row in rows:
        members = groups[row["group"]]
        for name in NUMBERS:
            values = [table[name][member] for member in members]
            assert said_of(row, name, form) == oracle.told(values)
            lost[name] += oracle.ncp(values, table[name])
            if form == "means":
                known = [value for value in values if value is not None]
                every = [value for value in table[name] if value is not None]
                assert row[name] == (plain.mean(known, every) if known else "")
    measured = json.loads((tmp_path / "out" / "manifest.json").read_text())["loss"]["ncp"]
    for name in NUMBERS:
        assert measured[name] == pytest.approx(float(lost[name] / len(rows)), abs=1e-12)
    assert shoal.audit(tmp_path / "out").holds


@pytest.mark.parametrize("seed", range(4))
def test_two_tables_have_missing_numbers_as_they_were(seed: int, tmp_path: Path) -> None:
    table = drawn(seed)
    release = released(table, form="two-tables")
    release.write(tmp_path / "out")
    _, people = plain.read(tmp_path / "out" / "people.csv")
    for name in NUMBERS:
        found = sorted(row[name] for row in people)
        assert found == sorted(cell or "" for cell in table[name])
    assert shoal.audit(tmp_path / "out").holds
    assert release.loss == pytest.approx(release.as_form("intervals").loss, abs=1e-12)


@pytest.mark.few(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_the_same_and_is_audited_from_its_files(
    form: str, format: str, tmp_path: Path
) -> None:
    release = released(drawn(21, 24), form=form)
    for one in ("csv", format):
        release.write(tmp_path / one, format=one, force=True)
    assert shoal.audit(tmp_path / format).holds
    read = [shoal.measures.read(tmp_path / one) for one in ("csv", format)]
    tables, others = (x if isinstance(x, tuple) else (x,) for x in read)
    nothing = 0
    for one, two in zip(tables, others, strict=True):
        assert one.columns == two.columns
        for name in {*one.columns} - {"town"}:
            assert one[name].to_list() == two[name].to_list()
            nothing += one[name].null_count()
    assert nothing


def test_a_column_of_numbers_stays_one_of_numbers_whoever_lacks_one(tmp_path: Path) -> None:
    table = drawn(21, 24)
    release = released(table)
    kinds = {c.name: (c.kind, c.values[-1:]) for c in release.manifest.columns[:4]}
    gaps = {name for name in NUMBERS if None in table[name]}
    assert gaps
    for name in NUMBERS:
        assert kinds[name][0] == "interval"
        assert (kinds[name][1] == [None]) == (name in gaps)


@pytest.mark.parametrize("method", METHODS)
def test_missing_numbers_stand_apart_where_enough_rows_lack_them(method: str) -> None:
    """Forty of eighty rows: mixing one would cost a group all of the column."""
    chance = random.Random(5)
    ages = [str(chance.randint(18, 90)) for _ in range(40)] + [None] * 40
    pay = [str(10 * place) for place in chance.sample(range(80), 80)]
    release = released(
        {"age": ages, "pay": pay},
        method=method,
        schema=shoal.Schema(quasi="age", sensitive="pay"),
    )
    assert not release.table["age"].str.ends_with("null]").any()
    assert int((release.table["age"].fill_null("") == "").sum()) == 40


def test_a_few_missing_numbers_are_mixed_and_the_cell_says_so(tmp_path: Path) -> None:
    table = {"age": ["20", "21", "22", None, "70", "71"], "pay": list("abcdef")}
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = released(table, schema=schema, require="KAnonymity(k=2)")
    (cell,) = [cell for cell in release.table["age"].unique() if "null" in cell]
    ends, missing = oracle.read_interval(cell)
    assert missing
    assert ends is not None
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


def forged(place: Path, change: Callable[[list[dict[str, str]], dict], None]) -> bool:
    """Change a copy, its manifest and its report, with digests that fit; say whether it passes."""
    other = place.parent / "forged"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(place, other)
    manifest = json.loads((other / "manifest.json").read_text())
    header, rows = plain.read(other / "release.csv")
    change(rows, manifest)
    with (other / "release.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(rows)
    manifest["digests"]["release.csv"] = digest_of(other / "release.csv")
    (other / "manifest.json").write_text(json.dumps(manifest))
    try:
        page = shoal.report(other)
    except shoal.ShoalError:
        return False
    (other / "report.html").write_text(page, "utf-8")
    manifest["digests"]["report.html"] = digest_of(other / "report.html")
    (other / "manifest.json").write_text(json.dumps(manifest))
    return shoal.audit(other).holds


def spell(row: dict[str, str], said: oracle.Said, form: str) -> None:
    """Have a row say something else of its age."""
    ends, missing = said
    low, high = ("", "") if ends is None else map(str, ends)
    if form == "intervals":
        both = f"[{low}, {high}, null]" if missing else f"[{low}, {high}]"
        row["age"] = "" if ends is None else low if low == high and not missing else both
        return
    row |= {"age_low": low, "age_high": high, "age_missing": str(int(missing))}
    if form == "means" and ends is None:
        row["age"] = ""
    elif form == "means" and ends is not None and not row["age"]:
        row["age"] = f"{float(sum(ends) / 2):.2f}"


@pytest.mark.few(2)
@pytest.mark.parametrize("form", FORMS[:3])
def test_no_cell_can_be_made_to_say_less_or_more(form: str, tmp_path: Path) -> None:
    """Every group whose cell is changed loses something else, so the loss is not what was said."""
    ages = [*map(str, range(20, 32)), None, "70", None, None, None, "71"]
    table = {"age": ages, "pay": [str(10 * n) for n in range(len(ages))]}
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = released(table, schema=schema, form=form, require="KAnonymity(k=3)")
    release.write(tmp_path / "out")
    assert forged(tmp_path / "out", lambda _rows, _manifest: None)
    _, rows = plain.read(tmp_path / "out" / "release.csv")
    kinds = {said_of(row, "age", form) for row in rows}
    assert any(missing for _, missing in kinds)
    changes: list[tuple[oracle.Said, oracle.Said]] = []
    for said in kinds:
        ends, missing = said
        if ends is None:
            changes.append((said, ((Fraction(20), Fraction(20)), True)))
        else:
            changes += [(said, (ends, not missing)), (said, (None, True))]
    for now, then in changes:

        def change(rows: list, _manifest: dict, now: oracle.Said = now, then: Any = then) -> None:
            for row in rows:
                if said_of(row, "age", form) == now:
                    spell(row, then, form)

        assert not forged(tmp_path / "out", change), (now, then)


def test_cells_that_say_missing_lie_outside_a_domain_that_does_not(tmp_path: Path) -> None:
    table = {"age": ["1", "2", None, None], "pay": list("abcd")}
    schema = shoal.Schema(quasi="age", sensitive="pay")
    released(table, schema=schema, require="KAnonymity(k=2)").write(tmp_path / "out")

    def without_null(_rows: list, manifest: dict) -> None:
        manifest["columns"][0]["domain"].pop()

    assert not forged(tmp_path / "out", without_null)


def test_a_domain_says_that_numbers_are_missing_only_where_they_are(tmp_path: Path) -> None:
    table = {"age": ["1", "2", "3", "4"], "pay": list("abcd")}
    release = released(
        table, schema=shoal.Schema(quasi="age", sensitive="pay"), require="KAnonymity(k=2)"
    )
    release.write(tmp_path / "out")

    def with_null(_rows: list, manifest: dict) -> None:
        manifest["columns"][0]["domain"].append(None)

    assert not forged(tmp_path / "out", with_null)


@pytest.mark.parametrize("form", ["intervals", "bounds"])
@pytest.mark.parametrize("seed", range(3))
def test_counts_take_missing_for_one_value_more_that_nothing_asks_for(
    form: str, seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    ages = [None if chance.random() < 0.3 else str(chance.randint(20, 40)) for _ in range(40)]
    table = {"age": ages, "pay": [str(10 * n) for n in range(40)]}
    release = released(table, schema=shoal.Schema(quasi="age", sensitive="pay"), form=form)
    release.write(tmp_path / "out")
    _, rows = plain.read(tmp_path / "out" / "release.csv")
    said = [said_of(row, "age", form) for row in rows]
    widths = sorted(int(e[1] - e[0]) + 1 for e, _ in said if e is not None)
    if widths[-1] <= 4 * widths[(len(widths) - 1) // 2]:  # see utility/tilted.py
        expected = float(sum(oracle.share_between(one, 25, 33) for one in said))
        assert shoal.count(tmp_path / "out", "25 <= age <= 33") == pytest.approx(expected)
        assert release.count("25 <= age <= 33") == pytest.approx(expected)
    everybody = float(sum(oracle.share_between(one, 0, 99) for one in said))
    assert shoal.count(tmp_path / "out", "age >= 0") == pytest.approx(everybody)
    assert everybody < 40


@pytest.mark.parametrize("seed", range(6))
def test_whoever_lacks_a_number_fits_cells_that_say_so_and_no_others(
    seed: int, tmp_path: Path
) -> None:
    from shoal.audit.covers import CellCover
    from shoal.audit.published import open_published

    table = drawn(seed)
    release = released(table)
    release.write(tmp_path / "out")
    published = open_published(tmp_path / "out")
    cover = CellCover(published, pl.DataFrame(table))
    rows = published.table.select(pl.col(NUMBERS).cast(pl.String).fill_null("")).to_dicts()
    for person in range(len(table["age"])):
        fits = [
            all(
                oracle.covers(oracle.read_interval(row[name]), table[name][person])
                for name in NUMBERS
            )
            for row in rows
        ]
        found = cover.candidates(person)
        assert not (found & ~np.array(fits)).any()  # towns rule out more
        assert found[release.linkage.tolist().index(person)]


@pytest.mark.parametrize("seed", range(8))
def test_no_release_loses_less_than_the_least_and_losses_are_those_of_the_files(
    seed: int, tmp_path: Path
) -> None:
    release = released(drawn(seed), require="KAnonymity(k=2)")
    found = release.losses()
    assert found["gcp"] == pytest.approx(release.loss)
    assert least_loss(release.coded, release.requirements) <= release.loss
    release.write(tmp_path / "out")
    again = shoal.measures.losses(tmp_path / "out", original=pl.DataFrame(drawn(seed)))
    assert {name: pytest.approx(value) for name, value in found.items()} == again


def test_without_groups_missing_and_known_numbers_are_never_in_one_cell(tmp_path: Path) -> None:
    table = drawn(21, 24)
    table = {name: table[name] for name in ("age", "pay")}
    table["age"] = [None if n % 3 == 0 else str(n) for n in range(24)]
    schema = shoal.Schema(quasi="age", sensitive="pay")
    options = {"schema": schema, "require": "KAnonymity(k=3)", "method": "Freeform()"}
    release = released(table, **options)
    assert not release.table["age"].fill_null("").str.contains("null").any()
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out", original=pl.DataFrame(table)).holds
    table["age"] = [None if n < 2 else str(n) for n in range(24)]
    with pytest.raises(NotAchievable, match=r"2 rows have missing cells"):
        released(table, **options)
    fewer = released(table, suppress="10%", **options)
    assert fewer.manifest.suppressed == 2


def test_a_coarser_release_nests_where_numbers_are_missing(tmp_path: Path) -> None:
    fine = released(drawn(21, 24))
    fine.write(tmp_path / "fine")
    coarser = shoal.coarsen(tmp_path / "fine", require="EpsilonM(epsilon=3, m=4)")
    coarser.write(tmp_path / "coarse")
    assert audit_series([tmp_path / "fine", tmp_path / "coarse"]).holds
    assert (coarser.manifest.groups or 0) < (fine.manifest.groups or 0)
    assert coarser.table["age"].str.ends_with("null]").any()


def test_people_with_several_rows_are_covered_by_what_their_rows_lack(tmp_path: Path) -> None:
    table = drawn(33, 40)
    table["who"] = [str(n // 2) for n in range(40)]
    schema = shoal.Schema(quasi=list(QUASI), sensitive="pay", person="who")
    release = released(table, schema=schema)
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds
    _, rows = plain.read(tmp_path / "out" / "release.csv")
    groups = oracle.groups_of(rows, release.linkage.tolist())
    for row in rows:
        for name in NUMBERS:
            values = [table[name][member] for member in groups[row["group"]]]
            assert oracle.read_interval(row[name]) == oracle.told(values)


def test_numbers_that_are_never_mixed_may_be_missing(tmp_path: Path) -> None:
    table = {"age": ["1", "1", None, None, "2", "2"], "size": list("123456"), "pay": list("abcdef")}
    schema = shoal.Schema(quasi=["age", "size"], sensitive="pay", never_mix=["age"])
    for form in FORMS[:3]:
        release = released(table, schema=schema, form=form, require="KAnonymity(k=2)")
        for kind in ("csv", "parquet"):
            release.write(tmp_path / f"{form}.{kind}", format=kind)
            assert shoal.audit(tmp_path / f"{form}.{kind}").holds


def test_a_hierarchy_has_missing_numbers_as_a_branch_under_its_root(tmp_path: Path) -> None:
    ages = [str(n) for n in range(20, 40)] + [None] * 6
    table = {"age": ages, "pay": [str(10 * n) for n in range(26)]}
    schema = shoal.Schema(quasi="age", sensitive="pay", hierarchies={"age": "Bins(width=5)"})
    release = released(table, schema=schema, require="KAnonymity(k=3)")
    (column,) = [c for c in release.manifest.columns if c.name == "age"]
    nodes = {node.name: node for node in column.tree.nodes}
    assert nodes[""].parent == next(name for name, n in nodes.items() if n.parent is None)
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


def test_a_column_that_a_form_would_add_has_to_have_a_free_name() -> None:
    table = {"age": ["1", None, "2", None], "age_missing": list("abcd"), "pay": list("abcd")}
    schema = shoal.Schema(quasi="age", sensitive="pay", other=["age_missing"])
    with pytest.raises(shoal.UsageError, match="already has a column 'age_missing'"):
        released(table, schema=schema, form="bounds", require="KAnonymity(k=2)")
    table["age"] = list("1234")
    released(table, schema=schema, form="bounds", require="KAnonymity(k=2)")


def test_what_is_wrong_with_other_cells_is_said_of_their_rows() -> None:
    table = {"age": ["1", None, "x", "2"], "pay": list("abcd")}
    schema = shoal.Schema(quasi="age", sensitive="pay", types={"age": "numeric"})
    with pytest.raises(shoal.errors.BadCells) as problem:
        released(table, schema=schema, require="KAnonymity(k=2)")
    assert problem.value.rows == (3,)


def test_a_series_covers_missing_numbers_and_who_lacks_one_later_left_the_box(
    tmp_path: Path,
) -> None:
    first = drawn(41, 30) | {"who": [f"p{n}" for n in range(30)]}
    first["age"] = [None if n % 4 == 0 else str(20 + n) for n in range(30)]
    second = first | {"age": [None if n == 1 else age for n, age in enumerate(first["age"])]}
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay", person="who")
    for turn, table in enumerate((first, second)):
        run = shoal.results.Run(
            table=pl.DataFrame(table),
            schema=schema,
            require="EpsilonM(epsilon=3, m=2)",
            missing="value",
            ledger=tmp_path / "ledger",
            output=tmp_path / f"out{turn}",
        )
        run.publish()
    _, rows = plain.read(tmp_path / "out0" / "release.csv")
    assert any(oracle.read_interval(row["age"])[1] for row in rows)
    assert audit_series([tmp_path / "out0", tmp_path / "out1"], ledger=tmp_path / "ledger").holds
