"""Cells are refined by what the method would have done otherwise; sensitive values are not."""

from itertools import product

import polars as pl
import pytest

import shoal
from reference.refining import told_and_usual

MORE_PAYS = [[1, 9, 1, 20], [1, 5, 9, 20], [1, 9, 9, 20]]
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


def ages(rows: int, values: int, require: str, method: str, cells: str, pays: list[int]):
    table = pl.DataFrame({"age": [n % values for n in range(rows)], "pay": pays})
    schema = shoal.Schema(quasi="age", sensitive="pay", bounds={"age": [0, values - 1]})
    return shoal.measures.refine(table, schema, require=require, method=method, cells=cells)


@pytest.mark.parametrize("cells", ["tight", "regions"])
@pytest.mark.parametrize("values", [2, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "pays", [[1, 9, 1, 9], *(pytest.param(p, marks=pytest.mark.long) for p in MORE_PAYS)]
)
def test_nothing_is_refined_about_sensitive_values_against_oblivious(
    cells: str, values: int, pays: list[int]
) -> None:
    found = ages(4, values, "EpsilonM(epsilon=3, m=2)", "Oblivious()", cells, pays)
    assert found.sensitive == 0
    assert cells == "regions" or found.told >= found.usual  # of quasi values something is told


def test_other_methods_tell_something_of_sensitive_values() -> None:
    assert refined(4, "Oblivious()", "FrequencyL(l=2)").sensitive == 0
    other = refined(4, "Exchange()", "FrequencyL(l=2)")
    assert other.sensitive > 0
    assert other.to_dict()["gain"] == other.told - other.usual
    assert "differ from the group's values" in other.sentence


@pytest.mark.parametrize(
    ("method", "require"),
    [
        ("Mondrian()", "KAnonymity(k=2)"),
        pytest.param("Oblivious()", "EpsilonM(epsilon=3, m=2)", marks=pytest.mark.long),
    ],
)
def test_regions_give_away_less_of_quasi_values_than_tight_cells(method: str, require: str) -> None:
    tight, regions = (
        ages(4, 3, require, method, cells, [1, 9, 1, 9]) for cells in ("tight", "regions")
    )
    assert regions.told - regions.usual < (tight.told - tight.usual) / 2
    assert regions.told < tight.told
    assert "A reader of regions who knows" in regions.sentence


@pytest.mark.long
def test_the_refinement_of_regions_is_that_of_published_files() -> None:
    found = ages(4, 3, "KAnonymity(k=2)", "Mondrian()", "regions", [1, 9, 1, 9])
    schema = shoal.Schema(quasi="age", bounds={"age": [0, 2]})
    tables = []
    for chosen in product(range(3), repeat=4):
        release = shoal.anonymize(
            pl.DataFrame({"age": chosen}), schema, require="KAnonymity(k=2)",
            method="Mondrian()", cells="regions",
        )  # fmt: skip
        ends = release.table_as("bounds").select("group", "age_low", "age_high").rows()
        groups: dict = {}
        for place, (group, low, high) in enumerate(ends):
            inside = tuple(range(low, high + 1))
            groups.setdefault((group, inside), []).append(chosen[release.linkage[place]])
        tables.append([(inside, tuple(own)) for (_, inside), own in groups.items()])
    told, usual = told_and_usual(tables)
    assert [found.told, found.usual] == pytest.approx([float(told), float(usual)])


def test_too_many_tables_are_refused() -> None:
    table = pl.DataFrame({"age": range(8), "ill": [*"abababab"]})
    schema = shoal.Schema(quasi="age", sensitive="ill")
    with pytest.raises(shoal.UsageError, match="fewer rows"):
        shoal.measures.refine(table, schema, require="KAnonymity(k=2)")
