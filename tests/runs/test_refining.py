"""Cells are refined by what the method would have done otherwise; sensitive values are not."""

from itertools import product

import polars as pl
import pytest

import shoal
from reference.refining import told_and_usual

TREE = {"A": ["11", "12"], "B": ["21", "22"]}


def refined(rows: int, method: str, require: str, **more) -> shoal.results.Refinement:
    zips = ["11", "12", "21", "22"] if more.get("hierarchies") else ["11", "12", "21"]
    ill = "a" * rows if require.startswith("KAnonymity") else "abacab"[:rows]
    table = pl.DataFrame({"zip": [zips[n % len(zips)] for n in range(rows)], "ill": [*ill]})
    schema = shoal.Schema(quasi="zip", sensitive="ill", types={"zip": "code"}, **more)
    return shoal.measures.refine(table, schema, require=require, method=method)


@pytest.mark.parametrize("rows", [4])
def test_a_minimal_hierarchical_release_is_downcoded(rows: int) -> None:
    found = refined(rows, "Mondrian()", "KAnonymity(k=2)", hierarchies={"zip": TREE})
    schema = shoal.Schema(quasi="zip", types={"zip": "code"}, hierarchies={"zip": TREE})
    under = {"A": ("11", "12"), "B": ("21", "22"), "*": ("11", "12", "21", "22")}
    tables = []
    for chosen in product(under["*"], repeat=rows):
        frame = pl.DataFrame({"zip": chosen})
        release = shoal.anonymize(frame, schema, require="KAnonymity(k=2)", method="Mondrian()")
        link = release.linkage
        groups: dict = {}
        for place, (group, cell) in enumerate(release.table.iter_rows()):
            groups.setdefault((group, cell), []).append(chosen[link[place]])
        tables.append([(under.get(cell, (cell,)), tuple(own)) for (_, cell), own in groups.items()])
    told, usual = told_and_usual(tables)
    assert found.tables == 4**rows
    assert [found.told, found.usual] == pytest.approx([float(told), float(usual)])
    assert found.told > found.usual + 0.1
    assert found.sensitive == 0  # it never looks at them
    assert "learns nothing more about sensitive values" in found.sentence


def test_nothing_is_refined_about_sensitive_values_against_oblivious() -> None:
    found = refined(4, "Oblivious()", "FrequencyL(l=2)")
    assert found.sensitive == 0
    assert found.told >= found.usual  # about quasi values it is not zero
    other = refined(4, "Exchange()", "FrequencyL(l=2)")
    assert other.sensitive > 0
    assert other.to_dict()["gain"] == other.told - other.usual
    assert "differ from the group's values" in other.sentence


def test_too_many_tables_are_refused() -> None:
    table = pl.DataFrame({"age": range(8), "ill": [*"abababab"]})
    schema = shoal.Schema(quasi="age", sensitive="ill")
    with pytest.raises(shoal.UsageError, match="fewer rows"):
        shoal.measures.refine(table, schema, require="KAnonymity(k=2)")
