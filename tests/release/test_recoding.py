"""Nodes of hierarchies and intervals of dates against their definitions."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import recoding
from shoal.kernels.space import NODE, extent
from shoal.table.coded import code_table
from shoal.table.coding import code_column
from shoal.table.dates import parse_dates

METHODS = (
    "Split()",
    "Split(partition='round-robin')",
    "Mondrian()",
    "Mondrian(split='least-loss')",
    "Mondrian(relaxed=True)",
    "Exchange()",
    "Freeform()",
)


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[tuple[str, ...], ...]:
    """Random paths of one length with names that say their place, and at most 12 labels."""
    depth, labels = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    nodes = [draw(st.lists(st.integers(0, 3), min_size=labels, max_size=labels))
             for _ in range(depth - 1)]  # fmt: skip
    paths = []
    for label in range(labels):
        names, name = ["*"], ""
        for level in range(depth - 1):
            name = f"{name}/{nodes[level][label]}"
            names.append(name)
        paths.append((f"{name}/{label}", *reversed(names)))
    return tuple(draw(st.permutations(paths)))


@st.composite
def people(draw: st.DrawFn, *, least: int = 2) -> tuple[pl.DataFrame, tuple[tuple[str, ...], ...]]:
    """Rows with labels of a hierarchy, dates, a number and a salary."""
    paths = draw(hierarchies())
    rows = draw(st.integers(least, 30))

    def column(cells: st.SearchStrategy) -> list:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    table = {
        "place": column(st.sampled_from([path[0] for path in paths])),
        "born": column(st.dates(dt.date(1850, 1, 1), dt.date(2030, 1, 1)).map(str)),
        "age": column(st.integers(0, 5)),
        "salary": column(st.integers(0, 50)),
    }
    return pl.DataFrame(table), paths


@settings(deadline=None, max_examples=examples(60))
@given(people(), st.sampled_from(METHODS), st.integers(1, 4), st.floats(0.1, 10))
def test_published_nodes_and_dates_cover_their_rows_tightly(drawn, method, k, weight):
    table, paths = drawn
    if k > table.height or (method == "Freeform()" and k < 2):
        return
    schema = shoal.Schema(
        quasi=["place", "born", "age"],
        sensitive="salary",
        hierarchies={"place": shoal.hierarchies.Listed(paths=paths)},
        weights={"place": weight},
    )
    release = shoal.anonymize(
        table, schema, require=shoal.principles.KAnonymity(k=k), method=method
    )
    assert release.audit().holds
    paths = [path for path in paths if path[0] in set(table["place"])]  # leaves are values
    published, rows = release.published, release.linkage
    losses: dict[str, list] = {"place": [], "born": []}
    cells = ["group"] if "group" in published.columns else ["place", "born", "age"]
    covered: dict[tuple, list[int]] = {}
    for number, key in enumerate(published.select(cells).iter_rows()):
        covered.setdefault(key, []).append(int(rows[number]))
    for number, row in enumerate(published.iter_rows(named=True)):
        own = table.row(int(rows[number]), named=True)
        low, high = recoding.date_ends(row["born"])
        losses["place"].append(recoding.node_ncp(paths, row["place"]))
        losses["born"].append(recoding.date_ncp(row["born"], table["born"].to_list()))
        if release.heterogeneous:
            continue
        assert own["place"] in recoding.leaves(paths, row["place"])
        assert low <= recoding.moment(own["born"]) <= high
        members = covered[tuple(row[name] for name in cells)]
        labels = {table["place"][member] for member in members}
        assert losses["place"][-1] == recoding.lowest_ncp(paths, labels)
        dates = [recoding.moment(table["born"][member]) for member in members]
        assert (low, high) == (min(dates), max(dates))
    for name, found in losses.items():
        mean = float(sum(found) / len(found))
        assert release.manifest.loss.ncp[name] == pytest.approx(mean, abs=1e-12)


@settings(deadline=None)
@given(hierarchies(), st.data())
def test_the_kernel_reads_the_loss_of_every_range_off_its_table(paths, data):
    labels = data.draw(st.lists(st.sampled_from([path[0] for path in paths]), min_size=1))
    schema = shoal.Schema(
        quasi="place", hierarchies={"place": shoal.hierarchies.Listed(paths=paths)}
    )
    coded = code_table(pl.DataFrame({"place": labels}), schema)
    spelled = coded.quasi[0].spellings.to_list()
    paths = [path for path in paths if path[0] in spelled]  # leaves are values that occur
    space = coded.space
    assert space.kinds[0] >= NODE
    for low in range(len(spelled)):
        for high in range(low, len(spelled)):
            expected = recoding.lowest_ncp(paths, set(spelled[low : high + 1]))
            found = extent(0, low, high, 0, *space.shape_arrays)
            assert found == pytest.approx(float(expected), abs=1e-12)


moments = st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29))  # noqa: DTZ001
zones = st.sampled_from(["", "Z", "+02:00", "-11:30"])


@given(st.lists(st.tuples(moments, zones), min_size=1, max_size=8))
def test_days_of_timestamps_are_those_of_the_standard_library(drawn):
    texts = [when.isoformat(" ") + zone for when, zone in drawn]
    read = parse_dates(pl.Series(texts))
    assert read is not None
    units, per_day = read
    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - all are in UTC
    unit = dt.timedelta(days=1) / per_day
    assert unit * per_day == dt.timedelta(days=1)
    assert [int(one) * unit for one in units] == [recoding.moment(text) - epoch for text in texts]


@given(st.lists(st.dates().map(str), min_size=1, max_size=20))
def test_dates_are_ranked_by_time(texts):
    column = code_column(pl.Series("born", texts))
    assert column.dates
    assert np.array_equal(np.argsort(column.codes, kind="stable"), np.argsort(texts, kind="stable"))
