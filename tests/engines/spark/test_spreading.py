"""What Spark's workers and their driver do, without Spark: cuts, joins, numbers, sums of parts."""

from __future__ import annotations

import os
import pickle
import signal
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference.feistel import permuted as slowly
from shoal.audit.described import check_cells, count_cells
from shoal.engines.spark.cells import Cells, Domains, only_published
from shoal.engines.spark.cuts import Cuts, deal
from shoal.engines.spark.scan import as_many
from shoal.engines.spark.scattering import Printing, _gathered, _together
from shoal.engines.spark.searching import ShardJoining
from shoal.engines.spark.work import ShardFound, packed, read_slice, unpacked, write_slices
from shoal.errors import NotAchievable, UsageError
from shoal.kernels.permuting import permuted
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.release.codebook import HeldCells
from shoal.release.cover import Cover
from shoal.release.layout import Suppression
from shoal.table.coded import Coded, code_cells, code_table

SCHEMA = shoal.Schema(quasi=["age", "zip"], sensitive="pay")


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 60, rows),
            "zip": draw.integers(0, 300, rows),
            "pay": draw.integers(0, 1000, rows),
        }
    )


def grown(table: pl.DataFrame, largest: int) -> tuple[Cuts, list[np.ndarray]]:
    coded = code_table(table, SCHEMA)
    cuts = Cuts()
    cuts.grow(coded, np.arange(len(coded)), 1.0, largest)
    return cuts, [column.codes for column in coded.quasi]


@pytest.mark.parametrize("seed", range(5))
def test_every_row_walks_to_the_leaf_that_its_cuts_say(seed):
    table = people(900, seed)
    cuts, ranks = grown(table, 100)
    leaves = cuts.walk(ranks, np.zeros(table.height, np.int64))
    for row in range(table.height):
        node = 0
        while cuts.column[node] >= 0:
            right = ranks[cuts.column[node]][row] > cuts.cut[node]
            node = cuts.children[node][int(right)]
        assert leaves[row] == node
    assert max(Counter(leaves.tolist()).values()) <= 125
    assert set(cuts.leaves(0)) == set(leaves.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_shards_that_are_cut_from_all_rows_lose_what_the_whole_loses(seed):
    table = people(6000, seed)
    coded = code_table(table, SCHEMA)
    cuts, ranks = grown(table, 1500)
    leaves = cuts.walk(ranks, np.zeros(table.height, np.int64))
    asked = tuple(requirements("EpsilonM(epsilon=3, m=4)", SCHEMA.sensitive))

    def lost(part: Coded) -> float:
        solved, groups, _ = shoal.Local().solve(
            Task(part, asked), shoal.methods.Split(), Fraction(0)
        )
        assert isinstance(groups, Groups)
        return sum(float(Cover.of(one, groups).loss() @ groups.sizes) for one in solved.coded.quasi)

    shards = [coded.part(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)]
    assert len(shards) == 4
    assert sum(map(lost, shards)) == pytest.approx(lost(coded))


def test_where_cuts_lie_depends_on_quasi_columns_alone():
    table = people(500)
    shuffled = table.with_columns(pl.col("pay").shuffle(seed=3))
    assert vars(grown(table, 60)[0]) == vars(grown(shuffled, 60)[0])


def test_a_point_with_most_of_the_rows_is_dealt_and_every_part_has_the_same_values():
    table = people(1000).with_columns(
        pl.when(pl.int_range(1000) < 600).then(30).otherwise("age").alias("age"),
        pl.when(pl.int_range(1000) < 600).then(7).otherwise("zip").alias("zip"),
    )
    cuts, ranks = grown(table, 150)
    (crowded,) = [leaf for leaf in range(len(cuts.dealt)) if cuts.dealt[leaf] > 1]
    assert cuts.dealt[crowded] == 4
    leaves = cuts.walk(ranks, np.zeros(1000, np.int64))
    pay = table["pay"].to_numpy()[leaves == crowded]
    parts = deal(pay, 4, 0)
    assert set(np.bincount(parts)) <= {len(pay) // 4, len(pay) // 4 + 1}
    for value in np.unique(pay):
        held = np.bincount(parts[pay == value], minlength=4)
        assert held.max() - held.min() <= 1


def found(number: int, rows: int, problem: str | None = None) -> ShardFound:
    return ShardFound(number, rows, rows, file=f"{number}", problem=problem)


def test_a_shard_that_cannot_hold_is_joined_to_the_smallest_one_beside_it():
    cuts, _ = grown(people(800), 100)
    joining = ShardJoining(cuts)
    waiting = joining.waiting()
    bad = waiting[0]
    joining.take([found(n, 10 + n, "no" if n == bad else None) for n in waiting], waiting)
    (again,) = joining.waiting()
    assert again >= joining.units  # a number that no group has yet
    units = np.flatnonzero(joining.numbers([again]) == again)
    assert bad in units
    assert len(units) == 2
    joining.take([found(again, 50)], [again])
    assert joining.waiting() == []
    assert len(joining.found()) == len(waiting) - 1


def test_joins_end_with_the_whole_table_or_say_why():
    cuts, _ = grown(people(800), 100)
    joining = ShardJoining(cuts)
    for _ in range(12):
        waiting = joining.waiting()
        if len(waiting) == 1 and len(joining.shards[waiting[0]].units) == joining.units:
            break
        joining.take([found(n, 10, "nobody can") for n in waiting], waiting)
    with pytest.raises(NotAchievable, match="nobody can"):
        joining.take([found(waiting[0], 10, "nobody can")], waiting)
    assert max(map(len, (shard.units for shard in joining.shards.values()))) == joining.units


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_permuted_as_the_definition_says_and_stay_different(seed):
    draw = np.random.default_rng(seed)
    key = draw.bytes(32)
    numbers = np.unique(draw.integers(0, 2**62, 40))
    numbers = np.concatenate([numbers, [0, 1, 2**62 - 1]])
    assert permuted(key, numbers).tolist() == [slowly(key, int(one)) for one in numbers]
    many = permuted(os.urandom(32), np.arange(20_000) + (seed << 36))
    assert len(np.unique(many)) == 20_000
    assert many.min() >= 0
    rank = np.corrcoef(np.arange(20_000), many.astype(float))[0, 1]
    assert abs(rank) < 0.05


def test_some_of_a_part_are_the_rows_that_were_meant():
    schema = shoal.Schema(quasi="age", sensitive="pay", hierarchies={"age": "Bins(width=7)"})
    whole = code_table(people(200), schema).quasi[0]
    rows, few = np.arange(50, 150), np.arange(0, 100, 3)
    assert whole.part(rows).only(few).codes.tolist() == whole.only(rows[few]).codes.tolist()
    assert whole.part(rows).only(few).spellings.equals(whole.only(rows[few]).spellings)


@pytest.mark.parametrize("hierarchy", [None, "Quantiles(parts=3)", "Bins(width=7)"])
def test_distinct_cells_make_the_column_that_rows_make(hierarchy):
    table = people(300)
    said = {} if hierarchy is None else {"age": hierarchy}
    schema = shoal.Schema(quasi=["age", "zip"], sensitive="pay", hierarchies=said)
    whole = code_table(table, schema).quasi[0]
    counts = table["age"].value_counts().sample(fraction=1, shuffle=True, seed=1)
    cells = Cells(counts["age"], code_cells(counts["age"], schema, {}, counts["count"].to_numpy()))
    made = pickle.loads(pickle.dumps(cells)).ranks(cells.places(table["age"]))
    assert made.spellings.equals(whole.spellings)
    assert made.codes.tolist() == whole.codes.tolist()
    assert cells.as_they_came(pl.Series(cells.places(table["age"]))).equals(table["age"])
    kept = np.flatnonzero(table["age"].to_numpy() % 3 != 1)
    fewer = whole.only(kept)
    times = Counter(cells.places(table["age"])[kept].tolist())
    column, moved = only_published(cells.column, times)
    assert column.spellings.equals(fewer.spellings)
    assert moved[made.codes[kept]].tolist() == fewer.codes.tolist()
    if hierarchy is not None:
        assert column.tree is not None
        assert fewer.tree is not None
        assert column.tree.names == fewer.tree.names
        assert column.tree.leaves.tolist() == fewer.tree.leaves.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_people_are_made_of_how_many_have_how_many_rows_and_which_values(seed):
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(1, 60))
    table = pl.DataFrame(
        {
            "who": draw.integers(0, 20, rows),
            "pay": draw.integers(0, 4, rows),
            "ill": [["flu", "cold", None][at] for at in draw.integers(0, 3, rows)],
        }
    )
    schema = shoal.Schema(sensitive=["pay", "ill"], person="who")
    cells = []
    for name in schema.sensitive:
        known = table[name].value_counts()
        column = code_cells(known[name], schema, {}, known["count"].to_numpy())
        cells.append(Cells(known[name], column))
    named = table.select("who", pl.struct(c0="pay", c1="ill").alias("values"))
    each = named.group_by("who").agg(rows=pl.len(), values=pl.col("values").unique().sort())
    told = each.group_by("rows", "values").agg(pl.len().alias("count"))
    assert told.height <= each.height
    coded = as_many(Domains((), tuple(cells), schema), told)
    spelled = [one.spellings.gather(one.codes).to_list() for one in coded.sensitive]
    made: dict[int, list[tuple[str, ...]]] = {}
    for person, *values in zip(coded.person_of.labels.tolist(), *spelled, strict=True):
        made.setdefault(person, []).append(tuple(values))
    wanted: dict[int, list[tuple[str, ...]]] = {}
    for person, pay, ill in table.iter_rows():
        wanted.setdefault(person, []).append((str(pay), ill or ""))
    assert as_counts(made) == as_counts(wanted)


def as_counts(people: dict[int, list[tuple[str, ...]]]) -> Counter[tuple[int, frozenset[Any]]]:
    """Return how many people have how many rows and which values."""
    return Counter((len(rows), frozenset(rows)) for rows in people.values())


def test_what_parts_count_of_cells_adds_up_to_what_the_whole_says():
    release = shoal.anonymize(people(400), SCHEMA, require="KAnonymity(k=3)")
    table = release.published
    whole = {c.name: count_cells(table, c) for c in release.manifest.columns[:2]}
    parts = [table[begin : begin + 100] for begin in range(0, 400, 100)]
    for column in release.manifest.columns[:2]:
        counted = [count_cells(part, column) for part in parts]
        added = sum(counted[1:], start=counted[0])
        assert added.lost == pytest.approx(whole[column.name].lost)
        assert whole[column.name].outer <= added.outer
    assert check_cells(whole, release.manifest, table.height) == []


def test_types_of_parts_are_those_of_the_whole():
    ints, floats = (pl.Int64(), False), (pl.Float64(), False)
    assert _together([ints, ints], spelled=True) == pl.Int64()
    assert _together([ints, (None, False)], spelled=True) is None
    assert _together([ints, floats], spelled=True) is None
    assert _together([ints, floats], spelled=False) == pl.Float64()
    assert _together([(pl.UInt64(), False), ints], spelled=True) == pl.UInt64()
    assert _together([(pl.UInt64(), False), (pl.Int64(), True)], spelled=True) == pl.Decimal(38, 0)


def test_what_parts_hold_adds_up_in_the_codebook():
    cells = pl.Series(range(40))
    parts = [HeldCells.of(part, part) for part in (cells[:20], cells[20:])]
    assert (parts[0] + parts[1]).line() == {"type": "integer", "domain": "[0, 39]"}
    texts = pl.Series(["b", None, "a"])
    both = HeldCells.of(texts, texts) + HeldCells.of(texts[:1], texts[:1])
    assert both.line() == HeldCells.of(texts, texts).line()


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "seed": ({"seed": 1}, "seed"),
    "seed 0": ({"seed": 0}, "seed"),
    "seconds": ({"seconds": 3}, "seconds"),
    "enough": ({"enough": lambda: True}, "enough"),
    "better": ({"better": print}, "better"),
    "linkage": ({"linkage": "x.csv"}, "linkage"),
    "format": ({"format": "csv"}, "Parquet"),
    "form": ({"form": "two-tables", "require": "FrequencyL(l=2)"}, "two-tables"),
    "method": ({"method": "Freeform(k=3)", "require": "KAnonymity(k=3)"}, "no groups"),
    "escape": ({"escape_formulas": True}, "escape_formulas"),
    "output": ({"output": "-"}, "directory"),
    "population": ({"population": people(10)}, "population"),
    "owner_report": ({"owner_report": "x.html"}, "owner_report"),
    "history": ({"history": "x.db"}, "history"),
    "ledger": ({"ledger": "x.ledger"}, "ledger"),
    "trials": ({"trials": True}, "Trials"),
    "hold_out": ({"hold_out": "9%", "hold_out_file": "x.csv"}, "hold_out"),
    "query": ({"query": "select 1"}, "query"),
    "sheet": ({"sheet": "1"}, "sheet"),
    "pseudonyms": (
        {
            "schema": shoal.Schema(quasi="age", sensitive="pay", pseudonymize="zip"),
            "key": bytes(16),
        },
        "pseudonymize",
    ),
    "bottom": ({"schema": shoal.Schema(quasi="age", sensitive="pay", bottom={"age": 5})}, "bottom"),
    "top": ({"schema": shoal.Schema(quasi="age", sensitive="pay", top={"age": 5})}, "top"),
    "never mixed": (
        {
            "schema": shoal.Schema(quasi=["age", "zip"], sensitive="pay", never_mix="zip"),
            "require": "TCloseness(t=0.3)",
        },
        "whole table, and on Spark `never_mix` splits",
    ),
    "a frame of Polars": ({}, "reads Spark data frames.* got a DataFrame"),
    "a lazy frame": ({"table": people(10).lazy()}, "reads Spark data frames.* got a LazyFrame"),
    "an Arrow table": ({"table": people(10).to_arrow()}, "reads Spark data frames.* got a Table"),
    "no table": ({"table": None}, "No table was named"),
    "no tables": ({"table": []}, "No table was named"),
    "standard input": ({"table": "-"}, "not standard input"),
    "standard input too": ({"table": ["a.csv", "-"]}, "not standard input"),
    "a database": ({"table": "sqlite:///people.db?table=people"}, "or a database"),
    "rounding": ({"schema": shoal.Schema(quasi="age", sensitive="pay", round={"age": 5})}, "round"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_had_is_refused_before_anything_runs(name):
    asked, word = REFUSED[name]
    usual: dict[str, Any] = {"table": people(10), "schema": SCHEMA, "require": "KAnonymity(k=2)"}
    run = shoal.results.Run(**(usual | asked), engine='Spark(master="nowhere")')
    for done in (run.release, run.rehearse):
        with pytest.raises(UsageError, match=word):
            done()


@pytest.mark.parametrize("name", ["a frame of Polars", "a lazy frame", "no table", "a database"])
def test_a_plan_is_refused_before_anything_runs_too(name):
    asked, word = REFUSED[name]
    usual: dict[str, Any] = {"table": people(10), "schema": SCHEMA}
    run = shoal.results.Run(**(usual | asked), engine='Spark(master="nowhere")')
    with pytest.raises(UsageError, match=word):
        run.plan()


def test_an_audit_on_spark_is_of_part_files_and_of_what_they_say_alone(tmp_path):
    release = shoal.anonymize(people(60), SCHEMA, require="KAnonymity(k=3)")
    release.write(tmp_path / "one", format="parquet")
    nowhere: Any = 'Spark(master="nowhere")'
    asked: list[tuple[Any, dict[str, Any]]] = [
        (tmp_path / "one", {}),
        (release, {}),
        (people(5), {"schema": SCHEMA, "require": "KAnonymity(k=3)"}),
        (people(5), {"schema": SCHEMA}),
        (tmp_path / "one", {"original": people(60)}),
        (tmp_path / "one", {"population": people(60), "require": "KMap(k=3)"}),
        (tmp_path / "one", {"hierarchies": {"age": "Bins(width=5)"}}),
    ]
    for what, how in asked:
        with pytest.raises(UsageError, match=r"[Ll]eave out `engine`"):
            shoal.audit(what, **how, engine=nowhere)


@pytest.mark.parametrize(
    "said", ["Spark(shard=0)", "Spark(threads=0.5)", "Spark(memory='much')", "Spark(session=3)"]
)
def test_an_engine_has_sensible_parameters(said):
    with pytest.raises(UsageError):
        shoal.results.Run(
            table=people(5), schema=SCHEMA, require="KAnonymity(k=2)", engine=said
        ).check()


def test_an_engine_is_written_as_it_is_read():
    said = 'Spark(master="local[2]", shard=1000)'
    assert repr(eval(said, {"Spark": shoal.Spark})) == said.replace('"', "'")


def rooted(*sizes: int) -> Cuts:
    """Return trees of one leaf each, whose rows are never mixed."""
    cuts = Cuts()
    for _ in sizes:
        cuts.roots.append(cuts.add(-1))
    return cuts


def worked(cuts: Cuts, share: Fraction, shards: dict[int, tuple[int, int, int]]) -> dict[int, int]:
    """Search as workers would: of each shard its members, who are in the way, and who are costly.

    Returns how many each left out.
    """
    joining = ShardJoining(cuts, share)
    while waiting := joining.waiting():
        spared = joining.spared(waiting)
        back = []
        for number in waiting:
            members, needed, costly = shards[number]
            limit = int(members * spared.get(number, share))
            if needed > limit:
                back.append(ShardFound(number, members, members, problem=f"{needed} in the way."))
                continue
            more = 0 if number in spared else min(costly, limit - needed)
            gone = Suppression(in_the_way=needed, costly=more)
            left = members - needed - more
            back.append(ShardFound(number, members, members, published=left, suppression=gone))
        joining.take(back, waiting)
    return {one.shard: one.suppression.people for one in joining.found() if one.suppression}


NEVER = 10**6  # so many are in the way as nobody has


def test_what_may_be_left_out_is_a_share_of_the_whole_table():
    share = Fraction(5, 100)
    # A part that is never mixed needs more than its part, which the others leave over.
    assert worked(rooted(1, 2), share, {0: (1000, 0, 0), 1: (20, 9, 0)}) == {0: 0, 1: 9}
    # It goes whole where nothing helps it.
    assert worked(rooted(1, 2), share, {0: (1000, 0, 0), 1: (20, NEVER, 0)}) == {0: 0, 1: 20}
    # What others left out to lose less they keep where it is needed.
    assert worked(rooted(1, 2), share, {0: (1000, 3, 47), 1: (40, 30, 0)}) == {0: 3, 1: 30}
    # Two that need all of it cannot both have it, and the one that needs less does.
    with pytest.raises(NotAchievable, match=r"remove 30 of 200 there.* allows 51 of the whole"):
        worked(rooted(1, 2, 3), share, {0: (1000 - 380, 0, 0), 1: (200, 30, 0), 2: (200, 25, 0)})
    with pytest.raises(NotAchievable, match="allows 52 of the whole"):
        worked(rooted(1, 2), share, {0: (1000, 0, 0), 1: (53, NEVER, 0)})


@pytest.mark.parametrize("seed", range(60))
def test_never_is_more_left_out_than_the_share_and_what_can_be_had_is_had(seed):
    draw = np.random.default_rng(seed)
    share = Fraction(int(draw.integers(1, 30)), 100)
    count = int(draw.integers(1, 6))
    shards = {
        number: (
            members := int(draw.integers(2, 200)),
            int(draw.choice([0, 0, int(draw.integers(0, members + 1)), NEVER])),
            int(draw.integers(0, 20)),
        )
        for number in range(count)
    }
    limit = int(sum(members for members, _, _ in shards.values()) * share)
    least = sum(min(members, needed) for members, needed, _ in shards.values())
    everybody = sum(members for members, _, _ in shards.values())
    try:
        gone = worked(rooted(*range(count)), share, shards)
    except NotAchievable:
        assert least > limit or least == everybody
        return
    assert sum(gone.values()) <= limit
    for number, (members, needed, _) in shards.items():
        assert gone[number] >= min(needed, members)


def test_an_interrupt_stays_one_whatever_it_becomes_on_its_way():
    session = pytest.importorskip("shoal.engines.spark.session")
    protocol = pytest.importorskip("py4j.protocol")

    def lost() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise protocol.Py4JNetworkError("closed")  # noqa: B904 - as py4j does

    with pytest.raises(KeyboardInterrupt), session.on_spark():
        lost()
    with pytest.raises(session.SparkFailed, match="Py4JNetworkError"), session.on_spark():
        raise protocol.Py4JNetworkError("closed")
    with pytest.raises(session.SparkFailed, match="ConnectionRefusedError"), session.on_spark():
        raise ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(FileNotFoundError), session.on_spark():
        raise FileNotFoundError


# Rows by numbers


def numbered(rows: int, count: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Return rows of many kinds, and a number for each; some numbers may have none."""
    draw = np.random.default_rng(seed)
    numbers = draw.integers(0, count, rows) // 2 * 2
    table = pl.DataFrame(
        {
            "row": np.arange(rows),
            "text": [None if row % 5 == 0 else f"é{row % 3}" for row in range(rows)],
            "set": [[row] * (row % 4) for row in range(rows)],
            "cell": [{"low": row, "high": row + 0.5} for row in range(rows)],
        },
        schema_overrides={"set": pl.List(pl.Int64)},
    )
    return table, numbers


@pytest.mark.parametrize(("rows", "count"), [(1, 1), (7, 3), (500, 9), (500, 1), (40, 700)])
def test_each_slice_of_a_file_holds_the_rows_of_its_number_in_order(rows, count, tmp_path):
    for seed in range(3):
        table, numbers = numbered(rows, count, seed)
        path = tmp_path / f"{seed}"
        write_slices(path, table, numbers.astype(np.uint32), count)
        for number in range(count):
            found = read_slice(path, number, count)
            wanted = table.filter(pl.Series(numbers == number))
            if found is None:
                assert wanted.is_empty()
            else:
                assert found.equals(wanted)


def test_rows_that_travel_as_bytes_arrive_once_each_under_their_number(monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.work.AT_ONCE", 100)
    table, numbers = numbered(950, 6, 4)
    frames = [(numbers[at : at + 30], table[at : at + 30]) for at in range(0, 950, 30)]
    batches = list(packed(iter(frames)))
    assert len(batches) > 3 * len(np.unique(numbers))
    for number in np.unique(numbers):
        given = list(unpacked(one for one in batches if one.column(0)[0].as_py() == number))
        assert {found for found, _ in given} == {number}
        rows = pl.concat([some for _, some in given])
        assert rows.equals(table.filter(pl.Series(numbers == number)))
    assert list(unpacked(iter([]))) == []
    assert list(packed(iter([]))) == []


def printing(files: list[str], parts: int) -> Printing:
    rest: Any = None
    return Printing(rest, rest, (), (), (), (), {}, "intervals", 1, "", tuple(files), parts)


def test_a_part_has_its_rows_of_every_shard_once_and_in_another_order_each_time(tmp_path):
    draw = np.random.default_rng(2)
    whole = []
    for shard in range(3):
        rows = pl.DataFrame({"_group": np.arange(400) + 1000 * shard})
        numbers = draw.integers(0, 2, 400)
        write_slices(tmp_path / f"{shard}", rows, numbers, 2)
        whole += rows["_group"].to_list()
    told = printing([str(tmp_path / f"{shard}") for shard in range(3)], 2)
    parts = [pl.concat(_gathered(told, part))["_group"].to_list() for part in range(2)]
    assert sorted(parts[0] + parts[1]) == whole
    again = pl.concat(_gathered(told, 0))["_group"].to_list()
    assert sorted(again) == sorted(parts[0])
    assert len({tuple(sorted(parts[0])), tuple(parts[0]), tuple(again)}) == 3  # of 600!


def test_sums_that_are_too_large_in_one_shard_are_text_from_every_shard(tmp_path):
    for name, sums in (("few", [7, -2]), ("many", [str(10**20), "5"])):
        rows = pl.DataFrame({"_group": [0, 1], "sum0": sums})
        write_slices(tmp_path / name, rows, np.zeros(2, np.int64), 1)
    told = printing([str(tmp_path / "few"), str(tmp_path / "many")], 1)
    assert sorted(pl.concat(_gathered(told, 0))["sum0"]) == sorted(["7", "-2", str(10**20), "5"])
