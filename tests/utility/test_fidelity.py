"""What the report shows of published rows, counted again in plain Python from table and file."""

import json
import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.table.partition import PersonOf, renumber
from shoal.utility.bands import LEAST
from shoal.utility.dependence import association, least_squares
from shoal.utility.fidelity import fidelity

SEEDS = range(40)


def table(seed: int) -> pl.DataFrame:
    """Return a small table with ties, a heavy tail and rare labels."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(22, 160))
    pay = np.round(np.exp(random.normal(3, 2, rows)), int(random.integers(0, 3)))
    labels = random.choice(
        ["a", "b", "c", "d", "e", "f"], rows, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]
    )
    return pl.DataFrame(
        {
            "age": random.integers(0, int(random.integers(1, 60)) + 1, rows),
            "pay": pay,
            "job": labels,
            "ill": random.choice(["flu", "cold", "none"], rows),
            "score": random.integers(0, 9, rows),
        }
    )  # fmt: skip


SCHEMA = shoal.Schema(quasi=["age", "pay", "job"], sensitive=["score", "ill"])


def made(seed: int) -> shoal.Release:
    method = ["Split()", "Mondrian()", "Freeform()"][seed % 3]
    return shoal.anonymize(table(seed), SCHEMA, require="KAnonymity(k=3)", method=method)


def three(value: float) -> float:
    return float(f"{value:.3g}")


def place(value: float, edges: list[float]) -> int:
    return sum(value >= edge for edge in edges)


def inside(cell: str, edges: list[float], *, whole: bool) -> list[float]:
    """Return which share of a published number lies in which band, all places in it alike."""
    low, high = json.loads(cell) if cell.startswith("[") else (float(cell), float(cell))
    high += 1 if whole else 0
    bounds = [-math.inf, *edges, math.inf]
    if low == high:
        return [float(a <= low < b) for a, b in pairwise(bounds)]
    return [max(0.0, min(b, high) - max(a, low)) / (high - low) for a, b in pairwise(bounds)]


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_of_numbers_are_counted_as_they_stand_and_never_small(seed: int) -> None:
    data, release = table(seed), made(seed)
    known = {one["column"]: one for one in fidelity(release)["columns"]}
    for name in ("age", "pay"):
        found = known[name]
        edges, values = found["edges"], data[name].to_list()
        counts = Counter(place(value, edges) for value in values)
        assert len(found["before"]) == len(edges) + 1
        assert all(counts[band] >= LEAST for band in range(len(edges) + 1))
        assert found["before"] == [
            three(counts[band] / len(values)) for band in range(len(edges) + 1)
        ]
        whole = all(value == int(value) for value in values)
        cells = [inside(c, edges, whole=name == "age") for c in release.published[name]]
        after = [sum(column) / len(cells) for column in zip(*cells, strict=True)]
        if name == "age" or not whole:  # whole numbers written with a point are measured as such
            assert found["after"] == pytest.approx(after, rel=6e-3, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_of_labels_hide_the_rare_ones(seed: int) -> None:
    data, release = table(seed), made(seed)
    known = {one["column"]: one for one in fidelity(release)["columns"]}
    for name in ("job", "ill"):
        found, counts = known[name], Counter(data[name].to_list())
        shown = [label for label in found["names"] if label in counts]
        assert all(counts[label] >= LEAST for label in shown)
        rest = sum(counts[label] for label in counts if label not in shown)
        assert rest == 0 or rest >= LEAST
        assert sum(found["before"]) == pytest.approx(1, abs=0.01)
        shares = {label: three(counts[label] / data.height) for label in shown}
        assert dict(zip(found["names"], found["before"], strict=True)).items() >= shares.items()
        cells = [json.loads(c) if c.startswith("[") else [c] for c in release.published[name]]
        after = [sum((label in c) / len(c) for c in cells) / len(cells) for label in shown]
        assert found["after"][: len(shown)] == pytest.approx(after, rel=6e-3)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_about_few_people_however_many_rows_they_have(seed: int) -> None:
    release = made(3 * seed)
    rows = len(release.coded)
    random = np.random.default_rng(seed)
    persons = np.where(random.random(rows) < 0.5, 0, np.arange(rows))  # one has half the rows
    whom = PersonOf(renumber(persons))
    found = fidelity(replace(release, coded=replace(release.coded, person_of=whom)))
    if "skipped" in found:
        assert len(set(persons.tolist())) < 2 * LEAST
        return
    for column, coded in zip(
        found["columns"], (*release.coded.quasi, *release.coded.sensitive), strict=True
    ):
        if column["edges"] is None:
            continue
        bands = [place(float(v), column["edges"]) for v in coded.numbers[coded.codes]]
        people = [
            len({p for p, b in zip(persons.tolist(), bands, strict=True) if b == band})
            for band in range(len(column["edges"]) + 1)
        ]
        assert min(people) >= LEAST or len(people) == 1
    for group in found["subgroups"]:
        assert all(band["people"] >= LEAST for band in group["bands"])


@pytest.mark.parametrize("seed", range(20))
def test_associations_follow_their_definitions(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=60), random.integers(0, 5, 60).astype(float)
    labels, others = random.integers(0, 4, 60), random.integers(0, 3, 60)
    hot, cold = np.eye(4)[labels], np.eye(3)[others]
    assert association(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    groups = [x[labels == one] for one in set(labels.tolist())]
    between = sum(len(g) * (g.mean() - x.mean()) ** 2 for g in groups)
    assert association(x, hot) == pytest.approx(math.sqrt(between / ((x - x.mean()) ** 2).sum()))
    assert association(hot, x) == association(x, hot)
    counts = np.array([[((labels == a) & (others == b)).sum() for b in range(3)] for a in range(4)])
    expected = np.outer(counts.sum(1), counts.sum(0)) / 60
    v = math.sqrt(((counts - expected) ** 2 / expected).sum() / 60 / 2)
    assert association(hot, cold) == pytest.approx(v)
    assert association(np.ones(60), x) is None
    plain = np.column_stack([np.ones(60), x, y])
    target = random.normal(size=60)
    known, residual, _, _ = np.linalg.lstsq(plain, target, rcond=None)
    fit = least_squares([x, y], target)
    assert fit is not None
    errors = np.sqrt(np.linalg.inv(plain.T @ plain).diagonal() * residual[0] / 57)
    assert fit[0] == pytest.approx(known[1:])
    assert fit[1] == pytest.approx(errors[1:])
    assert least_squares([x, 2 * x], target) is None


def test_a_table_of_few_people_is_not_shown() -> None:
    data = table(1).head(21)
    release = shoal.anonymize(data, SCHEMA, require="KAnonymity(k=3)", method="Split()")
    assert fidelity(release).keys() == {"skipped"}


def test_an_exact_release_changes_nothing() -> None:
    data = pl.DataFrame({"a": [1, 2, 3] * 40, "b": ["x", "y", "z"] * 40, "s": range(120)})
    schema = shoal.Schema(quasi=["a", "b"], sensitive="s")
    release = shoal.anonymize(data, schema, require="KAnonymity(k=4)")
    found = fidelity(release)
    assert all(one["before"] == one["after"] and one["apart"] == 0 for one in found["columns"])
    assert all(pair["before"] == pair["after"] for pair in found["pairs"])
    for group in found["subgroups"]:
        assert all(band["before"] == band["after"] for band in group["bands"])
        assert all(band["loss"] == 0 for band in group["bands"])


def test_numbers_at_the_end_of_what_can_be_written_do_not_cost_a_report() -> None:
    values = [-1.7e308, 1.7e308, 0.0, 5e-324] * 15
    data = pl.DataFrame({"a": values, "b": range(60), "s": values[::-1]})
    schema = shoal.Schema(quasi=["a", "b"], sensitive="s")
    release = shoal.anonymize(data, schema, require="KAnonymity(k=4)", method="Mondrian()")
    assert json.dumps(fidelity(release), allow_nan=False)


def test_two_tables_are_shown_by_what_they_tell(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    age = chance.integers(18, 80, 900)
    frame = pl.DataFrame(
        {
            "age": age,
            "town": chance.choice(["Ulm", "Bonn", "Aalen"], 900),
            "pay": 30 * age + chance.integers(0, 2500, 900),
        }
    )
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    release = shoal.anonymize(
        frame, schema, require="EpsilonM(epsilon=300, m=4)", form="two-tables", seed=1
    )
    found = fidelity(release)
    for one in found["columns"]:  # all of them are published as they were
        assert one["before"] == one["after"]
        assert (one["apart"], one["exact"]) == (0, 1)
        if "means" in one:
            assert one["means"][0] == one["means"][1]
    people, values = release.table
    mean = dict(values.group_by("group").agg(pl.col("pay").mean()).iter_rows())
    ages = people["age"].to_numpy().astype(float)
    towns = people["town"].to_numpy()
    pays = np.array([mean[group] for group in people["group"]])
    own = values["pay"].to_numpy().astype(float)
    pairs = {frozenset((one["one"], one["two"])): one for one in found["pairs"]}
    # By the definition of the correlation, where everybody has each value of the group alike.
    together = np.mean((ages - ages.mean()) * (pays - own.mean())) / (ages.std() * own.std())
    one = pairs[frozenset(("age", "pay"))]
    assert one["after"] == three(float(together))
    assert abs(one["after"]) < abs(one["before"])
    people_only = pairs[frozenset(("age", "town"))]
    assert people_only["before"] == people_only["after"]
    columns = [np.ones(900), ages]
    terms = {term["name"]: term for term in found["regression"]["terms"]}
    commonest = found["columns"][1]["names"]
    columns += [(towns == name).astype(float) for name in commonest[1:]]
    matrix = np.column_stack(columns)
    expected = np.linalg.lstsq(matrix, pays, rcond=None)[0]
    rest = pays - matrix @ expected
    squares = rest @ rest + own @ own - pays @ pays
    error = np.sqrt(np.linalg.inv(matrix.T @ matrix)[1, 1] * squares / (900 - 4))
    assert terms["each unit of age"]["after"] == pytest.approx(expected[1], rel=6e-3)
    assert terms["each unit of age"]["error_after"] == pytest.approx(error, rel=6e-3)
    release.owner_report(tmp_path / "owner.html")
    said = (tmp_path / "owner.html").read_text()
    assert "Every column is exact." in said
    assert "Each column by itself is unchanged" in said
    assert "move to another band" not in said
    for lost in ("bears the loss", "the detail was lost", "made coarser"):
        assert lost not in said
