"""What the owner looks at before deciding: pictures of columns, and how unique people are.

It is for the owner's eyes: nothing of it is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import UnknownColumn
from shoal.sampling import draw
from shoal.table.dates import read_moments
from shoal.table.linked import check_linked_name
from shoal.table.missing import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.inspection.inspect import ColumnInspection
    from shoal.table.schema import Schema

BARS = 26  # of a picture
WHOLE_FROM, WHOLE_UNDER = 1e5, 1e15  # numbers that are written without what is behind the point
SEPARATED_FROM = 1e4  # numbers in which thousands are separated: years are not
NUMBERS = {"numeric", "latitude", "longitude"}


def picture(column: pl.Series, known: ColumnInspection) -> dict[str, Any] | None:
    """Return how often values are there, as bars with the ends and the middle of the values.

    None for columns of which nothing may be shown: those that name people, or have no type.
    """
    if known.role in {"identifying", "person"} or known.type is None or not known.distinct:
        return None
    if known.type in NUMBERS:
        numbers = column.cast(pl.String).cast(pl.Float64, strict=False).drop_nulls()
        return _histogram(numbers.filter(numbers.is_finite()))
    if known.type == "date":
        moments = read_moments(column.drop_nulls().cast(pl.String))
        return None if moments is None else _histogram(pl.Series(moments).cast(pl.Datetime("us")))
    counts = column.drop_nulls().cast(pl.String).value_counts(sort=True)
    bars = counts.get_columns()[1].head(BARS).to_list()
    labels = counts.get_columns()[0].head(len(bars)).to_list()
    return {
        "bars": bars,
        "low": labels[0],
        "high": labels[-1] if len(labels) > 1 else "",
        "median": None,
        "more": max(0, counts.height - BARS),
        "labels": True,
    }


def _histogram(values: pl.Series) -> dict[str, Any] | None:
    if not len(values):
        return None
    numbers = values.to_physical().cast(pl.Float64).to_numpy()
    bars, _ = np.histogram(numbers, bins=min(BARS, max(1, values.n_unique())))
    return {
        "bars": bars.tolist(),
        "low": _said(values.min()),
        "high": _said(values.max()),
        "median": _said(values.sort()[len(values) // 2]),
        "more": 0,
        "labels": False,
    }


def _said(value: Any) -> str:
    """Write a number or a day as people do, also where the number is a year.

    >>> _said(50497400.25), _said(0.25), _said(-3.0), _said(1e20), _said(1982.0)
    ('50,497,400', '0.25', '-3', '1e+20', '1982')
    """
    if not isinstance(value, float):
        return str(value.date())
    if abs(value) < SEPARATED_FROM:
        return f"{value:.6g}"
    return f"{value:,.0f}" if WHOLE_FROM <= abs(value) < WHOLE_UNDER else f"{value:,.6g}"


def some_people(table: pl.DataFrame, person: str | None, most: int) -> pl.DataFrame:
    """Return about so many rows to try something on: those of whole people, where there are."""
    return table[some_rows(table, person, most)]


def some_rows(
    table: pl.DataFrame, person: str | None, most: int, also: int | None = None
) -> NDArray[np.int64]:
    """Return which rows these are, in their order; `also` is a row whose person is among them."""
    if person is None or table.height <= most:
        places = draw(table.height, most).places
    else:
        whom = table[person].unique(maintain_order=True)
        share = len(whom) * most // table.height
        some = whom[np.sort(draw(len(whom), max(share, 1)).places)]
        places = np.flatnonzero(table[person].is_in(some.implode()).to_numpy())
    if also is not None and also < table.height:
        if person is not None:
            whose = table[person]  # categories are compared with a series alone
            own = whose.is_in(whose.gather([also]).implode()).fill_null(value=False)
            places = np.union1d(places, np.flatnonzero(own))
        places = np.union1d(places, [also])
    return np.unique(places).astype(np.int64)


def rows_going(table: pl.DataFrame, schema: Schema, missing: str, least: int = 1) -> dict[str, Any]:
    """Return how many rows will not be published, and why, before anything is searched.

    `by` has for each column whose missing cells leave rows out how many it leaves out; `undecided`
    those about whose missing cells nothing was decided, and `gaps` how many rows have a gap.
    `capped` are those that are more than one person may have, `lowered` those that go at least
    because groups need `least` people with equally many; `people` are those who have the rest.
    """
    gone, gaps = (np.zeros(table.height, bool) for _ in range(2))
    by: dict[str, int] = {}
    undecided: dict[str, int] = {}
    for name in (*schema.quasi, *schema.sensitive, *schema.persons):
        lacking = is_missing(table[name]).to_numpy()
        gaps |= lacking
        policy = schema.missing_cells.get(name, missing)
        if lacking.any() and policy != "value":
            (by if policy == "drop" else undecided)[name] = int(lacking.sum())
            gone |= lacking
    counts = {"rows": table.height, "gone": int(gone.sum()), "gaps": int(gaps.sum())}
    kept = table.filter(~gone)
    people = {"capped": beyond_the_cap(kept, schema), "lowered": lowered(kept, schema, least)}
    whom = None if schema.person is None else kept[schema.person].n_unique()
    return counts | {"by": by, "undecided": undecided, "people": whom} | people


def beyond_the_cap(table: pl.DataFrame, schema: Schema) -> int:
    """Return how many rows are more than one person may have."""
    if schema.person is None or schema.most_rows is None:
        return 0
    counts = table[schema.person].value_counts()["count"].cast(pl.Int64)
    return int((counts - schema.most_rows).clip(0).sum())


def lowered(table: pl.DataFrame, schema: Schema, least: int) -> int:
    """Return how many rows go at least, so that `least` people have each number of rows.

    Where fewer have one, they are published with the next lower number that somebody has. A search
    may have to lower more, for what values people have.
    """
    if schema.person is None or not schema.rows_known or not table.height:
        return 0
    counts = table[schema.person].value_counts()["count"].cast(pl.Int64).to_numpy()
    if schema.most_rows is not None:
        counts = np.minimum(counts, schema.most_rows)
    numbers, people = np.unique(counts, return_counts=True)
    gone = waiting = 0
    for place in range(len(numbers) - 1, 0, -1):
        waiting += int(people[place])
        if waiting >= least:
            waiting = 0
        gone += waiting * int(numbers[place] - numbers[place - 1])
    return gone


def check_link(table: pl.DataFrame, name: str, person: str | None) -> None:
    """Raise where a table cannot be linked under a name, or does not say whom it is about."""
    check_linked_name(name)
    if person is not None and person not in table.columns:
        raise UnknownColumn(person, table.columns)


def about(table: pl.DataFrame, person: str, some: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a linked table about the people of some rows of the first.

    All of them where it does not say whom they are about: whoever is to link it will say so.
    """
    if person not in table.columns:
        return table
    whom = some[person].cast(pl.String).unique()
    return table.filter(table[person].cast(pl.String).is_in(whom.implode()))


def codes(table: pl.DataFrame) -> pl.DataFrame:
    """Return a number for each cell; equal cells of a column have the same one."""
    return table.select(
        pl.col(name).cast(pl.String).rank("dense").fill_null(0).cast(pl.UInt32)
        for name in table.columns
    )


def unique(coded: pl.DataFrame, names: Sequence[str], whom: str | None = None) -> float:
    """Return the share of rows that no other row equals in some columns.

    With a column that says `whom` rows are about, the share of people who have such a row that no
    other person has: their own rows do not hide them.
    """
    if not names or not coded.height:
        return 0.0
    rows = coded.lazy().group_by(list(names))
    if whom is None:
        counts = rows.agg(pl.len().alias("#rows")).collect()["#rows"]
        return int((counts == 1).sum()) / coded.height
    people = rows.agg(pl.col(whom).n_unique().alias("#"), pl.col(whom).first().alias("#who"))
    alone = people.filter(pl.col("#") == 1).select(pl.col("#who").n_unique()).collect().item()
    return int(alone) / coded[whom].n_unique()


def uniqueness(
    coded: pl.DataFrame, names: Sequence[str], whom: str | None = None
) -> dict[str, Any]:
    """Return how unique people are by some columns, by all but one, and as more are left out.

    `falling` leaves out one column after the other, those first without which fewest are unique;
    it ends where nobody is.
    """
    without = {
        name: unique(coded, [other for other in names if other != name], whom) for name in names
    }
    order = sorted(names, key=lambda name: (without[name], -coded[name].n_unique()))
    falling: dict[str, float] = {}
    for place, name in enumerate(order[:-1]):
        falling[name] = unique(coded, order[place + 1 :], whom) if place else without[name]
        if not falling[name]:
            break
    return {
        "all": unique(coded, names, whom),
        "without": {name: without[name] for name in order},
        "falling": falling,
    }
