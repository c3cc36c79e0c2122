"""What cells cover is the same in memory and read back, for every kind of cell and every form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.audit.cells import outer_cells, read_cover
from shoal.audit.published import plain_text
from shoal.release.stated import StatedColumn, StatedNode, StatedNodes

if TYPE_CHECKING:
    from shoal.release.cover import Cover

TOWNS = st.sampled_from(["Aa", "Ab", "Ba", "Bb", "C", None])
AGES = st.integers(0, 9) | st.none()
SIZES = st.sampled_from([0.5, 1.0, 2.25, 10.0])
DAYS = st.sampled_from(["2001-01-02", "2001-01-31", "2010-12-01"])
ROWS = st.lists(st.tuples(AGES, SIZES, DAYS, TOWNS, TOWNS), min_size=8, max_size=24)
TREE = {"city": {"A": ["Aa", "Ab"], "B": ["Ba", "Bb"], "D": ["C"]}}

FORMS = [(cells, form) for cells in ("tight", "regions") for form in ("intervals", "bounds")]
FORMS.append(("tight", "means"))


def said(cover: Cover) -> list[Any]:
    """Return what each cell says, whatever its ranks are: ends, missing or not, labels, or node."""
    domain = cover.domain
    if domain.tree is not None:
        return [domain.tree.names[node] for node in cover.nodes.tolist()]
    if cover.starts is not None:
        parts = np.split(cover.ranks, cover.starts[1:-1])
        return [[domain.spellings[rank] for rank in part.tolist()] for part in parts]
    numbers, there = cover.numbers()
    ends = zip(*(numbers.domain.exact[end] for end in (numbers.low, numbers.high)), strict=True)
    return [
        (*(pair if known else ()), bool(gap))
        for pair, known, gap in zip(ends, there, cover.gaps, strict=True)
    ]


@settings(max_examples=examples(12))
@given(ROWS, st.sampled_from(FORMS))
def test_a_cover_in_memory_and_one_read_back_are_equal(rows, drawn):
    cells, form = drawn
    names = ["age", "size", "day", "town", "city"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(pay=np.arange(len(rows)))
    schema = shoal.Schema(quasi=names, sensitive="pay", hierarchies=TREE, types={"day": "date"})
    release = shoal.anonymize(
        table, schema, require="KAnonymity(k=2)", method="Mondrian()", missing="value",
        cells=cells, form=form,
    )  # fmt: skip
    published, layout = plain_text(release), release.recoding.layout
    for name, stated in release.manifest.by_name.items():
        if not stated.quasi:
            continue
        own = release.recoding.covers[name]
        texts = published[name].cast(pl.String)
        found, outside = read_cover(texts, stated)
        bears = own.borne[layout.bears]
        assert not outside.any()
        assert said(found) == [said(own)[cell] for cell in bears.tolist()]
        assert found.loss() == pytest.approx(own.loss()[bears], rel=1e-12)
        assert found.loss().mean() == pytest.approx(release.manifest.loss.ncp[name])


AGE = StatedColumn("age", "quasi", "interval", [20, 40])
OPEN = AGE.but(domain=[20, 40, None], bounds=[0, 100])
TOWN = StatedColumn("town", "quasi", "set", ["a", "b", "c"])
NODES = [StatedNode("*", None, 3), StatedNode("A", "*", 2)]
NODE = StatedColumn("place", "quasi", "node", StatedNodes(3, NODES))


@pytest.mark.parametrize(
    ("stated", "cells", "lost"),
    [
        (AGE, ["20", "[20, 25]", "[20, 40]"], [0, 0.25, 1]),
        (AGE, ["[20, 41]", "[25, 20]", "19", "x", "1e999", '["a"]', None], None),
        (AGE, ["[20, 30, null]"], None),
        (OPEN, ["[20, 40]", "[20, 30, null]", None], [0.2, 1, 0]),
        (OPEN.but(bounds=[21, 100]), ["[25, 30]"], None),
        (AGE.but(domain=["a", "b"]), ["20"], None),
        (TOWN, ["a", '["a", "b"]', '["c", "a", "b", "a"]'], [0, 0.5, 1]),
        (TOWN, ["d", '["a", "d"]', "[", "[1]", None], None),
        (NODE, ["A", "*"], [0.5, 1]),
        (NODE, ["B", None], None),
        (NODE.but(domain=StatedNodes(4, NODES)), ["A"], None),
    ],
)
def test_cells_are_read_with_their_loss_or_found_to_be_outside(stated, cells, lost):
    texts = pl.Series(stated.name, cells, pl.String)
    cover, outside = read_cover(texts, stated)
    assert outside.tolist() == [lost is None] * len(cells)
    if lost is not None:
        assert cover.loss().tolist() == lost


def test_the_outermost_cells_are_those_at_either_end_and_one_that_covers_missing_numbers():
    texts = pl.Series(["[20, 30]", "[25, 30]", "[25, 40]", "[25, 30, null]", None])
    assert outer_cells(texts, read_cover(texts, OPEN)[0]) == {
        "[20, 30]",
        "[25, 40]",
        "[25, 30, null]",
    }
