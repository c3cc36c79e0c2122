"""What exposed columns show is what the definition says, on small tables of every kind."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import verdict as oracle
from shoal.audit.published import Published
from shoal.audit.verdict import Exposed
from shoal.audit.verify import audit_table
from shoal.exact import upward
from shoal.principles.requirement import requirements

CELLS = [None, "a", "b", "1", "1.5", "2", "-3", "2.0"]
THRESHOLDS = [Fraction(1, 11), Fraction(1, 3), Fraction(1, 2), Fraction(1)]
REQUIRED = {  # of `pay`, in the notation and by the definition
    "pay: FrequencyL(l=2)": (lambda u, v: u == v, Fraction(1, 2)),
    "pay: EpsilonM(epsilon=1, m=3)": (lambda u, v: abs(int(u) - int(v)) <= 1, Fraction(1, 3)),
}


class Table:
    """A published table that was drawn, as frames and as the oracle reads it."""

    def __init__(self, draw: Any, kind: str) -> None:
        self.kind, self.draw = kind, draw
        self.quasi = ["age", "town"]
        self.require = draw(st.sampled_from(list(REQUIRED)))
        self.known = kind != "people" or draw(st.booleans())
        several = kind in {"people", "linked", "two-people"}
        self.groups = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        self.boxes = [draw(st.sampled_from("xy")) for _ in self.groups]  # some are equal
        self.other = ["ward", "note"] if kind != "two-people" else []
        self.bare = ["mark"]
        self.rows: list[dict[str, Any]] = []
        self.people: list[tuple[int, int]] = []
        for group, size in enumerate(self.groups):
            real = draw(st.integers(1, size))
            for _ in range(size):
                who = len(self.people)
                self.people.append((group, who))
                for _ in range(draw(st.integers(1, 3)) if several else 1):
                    self.rows.append(self.row(group, who, real))

    def row(self, group: int, who: int, real: int) -> dict[str, Any]:
        row: dict[str, Any] = {"group": str(group)}
        if self.kind in {"series", "two-series"}:
            row["real"] = str(real)
        if self.kind not in {"rows", "two-tables"}:
            row["person"] = str(who)
        apart = self.kind.startswith("two")
        row |= {"age": self.boxes[group], "town": "z"}
        row |= {name: self.cell() for name in ([] if apart else self.other)}
        return row | {name: self.cell() for name in self.bare} | {"pay": str(self.number())}

    def cell(self) -> str | None:
        return self.draw(st.sampled_from(CELLS))

    def number(self) -> int:
        return self.draw(st.integers(0, 3))

    @property
    def linked(self) -> dict[str, list[dict[str, Any]]]:
        if self.kind != "linked":
            return {}
        rows = [
            {"v.group": str(group), "v.person": str(who), "v.drug": self.cell()}
            for group, who in self.people
            for _ in range(self.draw(st.integers(0, 2)))
        ]
        return {"v": rows} if rows else {}

    @property
    def beside(self) -> list[dict[str, Any]] | None:
        """The people of two tables: quasi values of their own, and other columns."""
        if not self.kind.startswith("two"):
            return None
        reals = {row["group"]: row.get("real") for row in self.rows}
        return [
            {"group": str(group)}
            | ({"real": reals[str(group)]} if self.kind == "two-series" else {})
            | {"age": self.draw(st.sampled_from("pq")), "town": "z"}
            | {name: self.cell() for name in self.other}
            for group, _ in self.people
        ]


KINDS = ["rows", "people", "linked", "series", "two-tables", "two-people", "two-series"]


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_exposed_columns_show_is_what_the_definition_says(kind: str, data: Any) -> None:
    table = Table(data.draw, kind)
    linked, beside = table.linked, table.beside
    names = [*table.other, *table.bare, *(["v.drug"] if linked else [])]
    said = {name: data.draw(st.booleans()) for name in names}
    some = data.draw(st.sampled_from([[], ["mark"], ["v.drug"], ["ward", "note"]]))
    if kind not in {"rows", "series"}:
        some = some[:1]  # rows of people are paired by one number, not by several
    near = {name: Fraction(1, 2) for name in some if name in names}
    threshold = data.draw(st.sampled_from(THRESHOLDS))
    asked = requirements(table.require, ["mark", "pay"])
    schema = shoal.Schema(
        quasi=table.quasi,
        sensitive=["mark", "pay"],
        other=table.other,
        near={name: 0.5 for name in near if name != "v.drug"},
        person=None if kind in {"rows", "two-tables"} else "person",
        rows="known" if table.known else "unknown",
        linked={
            "v": shoal.Schema(
                other="v.drug", person="v.person", near={n: 0.5 for n in near if n == "v.drug"}
            )
        }
        if linked
        else {},
    )
    found = audit_table(
        Published(
            frame(table.rows),
            said=schema,
            group="group",
            linked={name: frame(rows) for name, rows in linked.items()},
            people=None if beside is None else frame(beside),
        ),
        asked,
        exposed=Exposed(said, threshold),
    )
    expected = oracle.measure(
        oracle.Published(
            table.rows,
            table.quasi,
            said,
            threshold,
            near,
            table.known,
            linked,
            beside,
            {"pay": REQUIRED[table.require]},
        )
    )
    assert found.exposed is not None
    facts = msgspec.to_builtins(found.exposed.stated())
    assert {one["column"]: one["alone"] for one in facts["exposed"]} == expected["alone"]
    assert facts["found"] == {
        "quasi": upward(expected["quasi"]),
        "with_exposed": {
            "largest": upward(expected["largest"]),
            "above": upward(expected["above"]),
        },
    }
    assert facts["inferred"] == {
        name: {"certain": upward(certain), "likely": upward(likely)}
        for name, (certain, likely) in expected["inferred"].items()
    }
    assert [one["share"] for one in facts["learned"]] == list(
        map(upward, expected["learned"].values())
    )
    holds = data.draw(st.booleans())
    assert found.exposed.verdict(holds=holds) == oracle.verdict(expected, holds=holds)


TWO_EACH = [  # what the two rows of each of four people say, and for how many it is told
    ([("hiv", "flu"), ("hiv", "cold"), ("hiv", "gout"), ("flu", "hiv")], 4, 4),
    ([("hiv", "flu"), ("hiv", "cold"), ("gout", "hiv"), ("flu", "cold")], 0, 3),
    ([("hiv", "flu"), ("hiv", "cold"), ("a", "b"), ("c", "d")], 0, 0),
    ([("hiv", "hiv"), ("hiv", "hiv"), ("a", "b"), ("c", "d")], 0, 0),  # counts once a person
    ([("1", "9"), ("2", "30"), ("3", "50"), ("2", "70")], 2, 4),  # all have one within 1 of 2
    ([("1", "9"), ("2", "30"), ("3", "50"), ("20", "70")], 0, 1),
]


@pytest.mark.parametrize(("held", "certain", "likely"), TWO_EACH)
def test_what_all_candidates_have_in_some_row_is_certain_of_each(held, certain, likely):
    rows = [
        {"group": "0", "person": str(who), "age": "x", "ward": cell, "pay": str(who)}
        for who, cells in enumerate(held)
        for cell in cells
    ]
    schema = shoal.Schema(
        quasi="age", sensitive="pay", other="ward", person="person", near={"ward": 1}
    )
    found = audit_table(
        Published(frame(rows), said=schema, group="group"),
        requirements("pay: FrequencyL(l=2)", ["pay"]),
        exposed=Exposed({"ward": False}, Fraction(1, 11)),
    )
    assert found.exposed is not None
    told = msgspec.to_builtins(found.exposed.stated())["inferred"]["ward"]
    assert told == {"certain": certain / 4, "likely": likely / 4}


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
