"""What a reader excludes who knows how cells were made, on releases of any size."""

import json
from datetime import date, timedelta
from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference.refining import keeps, most_under, narrowest, share_left
from shoal.audit.published import open_published
from shoal.runs.downcoding import excluded, narrowest_rooms, rooms_of
from shoal.runs.possibilities import FEW, Room, possible
from system.shell import shoal as command

EPSILON = "EpsilonM(epsilon=2000, m=4)"
TREES = [
    {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1", "c2"]},
    {"X": ["x1", "x2"], "Y": ["y1", "y2", "y3"]},
]


@st.composite
def rooms(draw: st.DrawFn) -> Room:
    rows = draw(st.integers(1, 4))
    runs = tuple(draw(st.lists(st.integers(1, 2), min_size=1, max_size=3)))
    least = tuple(draw(st.integers(0, 1)) for _ in runs)
    most = tuple(draw(st.integers(1, rows)) for _ in runs)
    first = draw(st.integers(1, rows))
    return Room(rows, runs, least, most, (first, draw(st.integers(0, rows - 1))))


@settings(max_examples=examples(60))
@given(rooms())
def test_what_remains_is_what_going_through_all_ways_leaves(room: Room) -> None:
    assert exp(possible(room)) == pytest.approx(float(share_left(room)))


@pytest.mark.parametrize(
    "room",
    [
        Room.between(FEW + 1, 40, 1, 1),
        Room.between(FEW + 1, 40, 0, 3),
        Room(FEW + 1, (3, 2, 1), (0, 0, 0), (FEW, FEW, FEW)),
    ],
)
def test_large_groups_are_counted_as_small_ones(room: Room) -> None:
    whole = room.values**room.rows
    some = [run for run, low in zip(room.runs, room.least, strict=True) if low]
    left = Fraction(whole - sum((room.values - run) ** room.rows for run in some), whole)
    left += Fraction((room.values - sum(some)) ** room.rows, whole) * (len(some) == 2)
    left -= sum(Fraction(run**room.rows, whole) for run in room.runs if max(room.most) < room.rows)
    assert exp(possible(room)) == pytest.approx(float(left))


def people(rows: int) -> pl.DataFrame:
    random = np.random.default_rng(5)
    born = [date(1960, 1, 1) + timedelta(days=int(n)) for n in random.integers(0, 9000, rows)]
    return pl.DataFrame({
        "age": random.integers(-40, 60, rows),
        "height": [f"{n / 2}" for n in random.integers(300, 400, rows)],
        "born": [str(one) for one in born],
        "town": [f"t{n:02}" for n in random.integers(0, 15, rows)],
        "pay": random.integers(0, 60_000, rows),
    })  # fmt: skip


def place_in(cell: str, value: str, column: str, unit: str) -> int:
    """Return at which value of a cell a row lies."""
    if column == "town":
        return (json.loads(cell) if cell.startswith("[") else [cell]).index(value)
    low = json.loads(cell)[0] if cell.startswith("[") else json.loads(f'"{cell}"')
    if column == "born":
        return (date.fromisoformat(value) - date.fromisoformat(low)).days
    return int((Fraction(value) - Fraction(str(low))) / Fraction(unit if column == "height" else 1))


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("cells", ["tight", "regions"])
@pytest.mark.parametrize(
    ("method", "require"),
    [("Mondrian()", "KAnonymity(k=4)"), ("Split()", EPSILON), ("Oblivious()", EPSILON),
     ("Mondrian(split='least-loss')", "KAnonymity(k=3)")],
)  # fmt: skip
def test_what_is_excluded_is_never_true(
    tmp_path: Path, cells: str, bounded: bool, method: str, require: str
) -> None:
    table = people(700)
    quasi = ["age", "height", "born", "town"]
    bounds = {"age": [-50, 73], "born": ["1955-05-05", "1999-09-09"]} if bounded else {}
    schema = shoal.Schema(
        quasi=quasi, sensitive="pay", bounds=bounds, step={"height": 0.5},
        types={"born": "date"},
    )  # fmt: skip
    release = shoal.anonymize(table, schema, require=require, method=method, cells=cells, seed=2)
    release.write(tmp_path / "out")
    published = open_published(tmp_path / "out")
    truth = table.select(pl.col(quasi).cast(pl.String))[release.linkage.tolist()]
    parts = published.groups if cells == "tight" else published.by_cells
    unit = "0.1" if cells == "tight" else "0.5"  # its last digit, or the stated step
    told = 0
    for name, known in zip(quasi, rooms_of(published), strict=True):
        for part, room in enumerate(known):
            rows = parts.rows(part).tolist()
            cell = published.table[name][rows[0]]
            places = [place_in(cell, truth[name][row], name, unit) for row in rows]
            assert keeps(room, places), (name, cell, room, places)
            told += possible(room) < 0
    assert told > 20


@pytest.mark.parametrize("cells", ["tight", "regions"])
def test_oblivious_gives_nothing_away_about_sensitive_values_and_others_do(
    tmp_path: Path, cells: str
) -> None:
    table = shoal.census(1500).with_columns(class_=pl.col("income") // 30_000)
    table = table.with_columns(pl.col("class_").cast(pl.String))
    schema = shoal.Schema(quasi=["age", "occupation"], sensitive="income")
    shoal.anonymize(
        table, schema, require=EPSILON, method="Oblivious()", cells=cells, seed=1
    ).write(tmp_path / "oblivious")
    found = shoal.attack([tmp_path / "oblivious"]).refinements[0]
    assert found.sensitive == 0
    assert "nothing about sensitive values" in found.sentence
    schema = shoal.Schema(quasi=["age", "occupation"], sensitive="class_")
    shoal.anonymize(
        table, schema, require="FrequencyL(l=2)", method="Mondrian()", cells=cells, seed=1
    ).write(tmp_path / "other")
    other = shoal.attack([tmp_path / "other"]).refinements[0]
    assert other.sensitive is not None
    assert other.sensitive > 0.1
    assert "halves, the reader excludes" in other.sentence


def test_whoever_attacks_the_same_release_again_is_told_the_same(tmp_path: Path) -> None:
    """How parts are numbered when files are read is chance."""
    table = shoal.census(2000).with_columns(rank=(pl.col("income") // 30_000).cast(pl.String))
    schema = shoal.Schema(quasi=["age", "occupation"], sensitive="rank")
    shoal.anonymize(table, schema, require="FrequencyL(l=2)", method="Mondrian()").write(
        tmp_path / "out"
    )
    found = {excluded(open_published(tmp_path / "out")) for _ in range(4)}
    assert len(found) == 1


def test_tight_cells_give_away_more_of_quasi_values_than_regions(tmp_path: Path) -> None:
    schema = shoal.Schema(quasi=["age", "occupation"], sensitive="income")
    for cells in ("tight", "regions"):
        shoal.anonymize(
            shoal.census(1500), schema, require=EPSILON, method="Oblivious()", cells=cells, seed=1
        ).write(tmp_path / cells)
    tight, regions = shoal.attack([tmp_path / "tight", tmp_path / "regions"]).refinements
    assert tight.named > 0.3 > 20 * regions.named
    assert tight.narrower > 0.3 > 20 * regions.narrower
    assert f"{tight.named:.1%}" in tight.sentence


def minimal(rows: int) -> tuple[list[tuple[str, ...]], pl.DataFrame, list]:
    random = np.random.default_rng(7)
    labels = [[one for some in tree.values() for one in some] for tree in TREES]
    truth = [
        tuple(random.choice(some, p=skewed(len(some))) for some in labels) for _ in range(rows)
    ]
    cells = narrowest(truth, TREES, 5)
    names = [{tuple(some): name for name, some in tree.items()} for tree in TREES]
    spelled = [
        [
            one[0] if len(one) == 1 else name.get(one, "*")
            for one, name in zip(c, names, strict=True)
        ]
        for c in cells
    ]
    table = pl.DataFrame(spelled, schema=["one", "two"], orient="row")
    return truth, table.with_columns(ill=pl.Series(random.integers(0, 9, rows))), cells


def skewed(many: int) -> np.ndarray:
    found = 1 / np.arange(1, many + 1) ** 2
    return found / found.sum()


def test_a_minimal_hierarchical_release_of_others_is_downcoded() -> None:
    _, table, _ = minimal(300)
    hierarchies = dict(zip(["one", "two"], TREES, strict=True))
    schema = shoal.Schema(quasi=["one", "two"], sensitive="ill", hierarchies=hierarchies)
    found = shoal.attack([table], schema).refinements[0]
    assert found.least == 5
    assert found.named > 0.1
    assert found.narrower > 0.01
    said = "If the nodes of table are the narrowest that groups of 5 rows allow, a reader"
    assert found.sentence.startswith(said)


def test_the_command_takes_the_hierarchies_of_a_table_by_others(tmp_path: Path) -> None:
    _, table, _ = minimal(300)
    table.write_csv(tmp_path / "plain.csv")
    words = ["attack", tmp_path / "plain.csv", "--quasi", "one,two", "--sensitive", "ill", "--json"]
    assert json.loads(command(*words).out)["refinement"] == []  # nothing says what nodes cover
    for name, tree in zip(["one", "two"], TREES, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
        words += ["--hierarchy", f"{name}={tmp_path / name}.json"]
    (found,) = json.loads(command(*words).out)["refinement"]
    assert (found["least"], found["release"]) == (5, "plain.csv")
    assert found["named"] > 0.1


def test_a_linear_program_excludes_no_less_and_never_the_truth() -> None:
    truth, table, cells = minimal(300)
    hierarchies = dict(zip(["one", "two"], TREES, strict=True))
    schema = shoal.Schema(quasi=["one", "two"], sensitive="ill", hierarchies=hierarchies)
    spelled = dict(zip(table.select("one", "two").rows(), cells, strict=True))
    excluded = {"each column": 0.0, "all columns": 0.0}
    for text, column, room in narrowest_rooms(open_published(table, schema), 5):
        cell = spelled[text]
        own = [row for row, one in zip(truth, cells, strict=True) if one == cell]
        program = most_under(cells, TREES, 5, cell, column)
        assert len(program) == len(room.most)
        for (child, most), closed in zip(program.items(), room.most, strict=True):
            assert sum(row[column] in child for row in own) <= most + 1e-9 <= closed + 1e-6
            excluded["each column"] += room.rows - closed
            excluded["all columns"] += room.rows - most
    assert excluded["all columns"] >= excluded["each column"] > 0  # here it excludes the same
