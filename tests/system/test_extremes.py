"""Whatever a parameter or a cell is, the command ends with its result or a sentence."""

from __future__ import annotations

import dataclasses
import random
import warnings
from typing import TYPE_CHECKING

import pytest

from shoal.errors import ShoalError
from shoal.notation import known_terms, parse
from shoal.views import pages
from system.shell import Outcome, shoal

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = (
    *("0", "1", "2", "0.5", "-1", "-0.0", "1e-9", "1e-320", "5e-324", "1e18", "1e308"),
    *("1.7976931348623157e308", str(2**63), "1" + "0" * 400, "1e999", "-1e999", "nan"),
    *("True", "None", "'x'", "[]"),
)
USUAL = {
    **dict.fromkeys(("k", "l", "m", "c", "beta", "size", "parts"), "2"),
    **dict.fromkeys(("epsilon", "e", "at_least", "width", "below", "above", "high"), "1"),
    **dict.fromkeys(("t", "delta", "alpha", "low", "p"), "0.5"),
    "name": "'f'",
    "distances": "[Absolute()]",
    "paths": "[['20', 'all']]",
}
QUASI, SENSITIVE = ("--quasi", "q,z"), ("--sensitive", "s")
ROLES = (*QUASI, *SENSITIVE)
WILD = ("1.7e308", "-1.7e308", "0", "1", "2", "3", "5", "1e-300", "7", "1e300", "9", "11")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    chance = random.Random(1)
    where = tmp_path_factory.mktemp("tables")
    made = {}
    for name, values in (("plain", tuple(map(str, range(1, 13)))), ("wild", WILD)):
        lines = [f"{chance.randint(20, 40)},{chance.randint(1, 3)},{value}" for value in values]
        made[name] = where / f"{name}.csv"
        made[name].write_text("\n".join(["q,z,s", *lines]) + "\n", "utf-8")
    return made


def terms(*roles: str) -> list[str]:
    """Return every term of some roles with each of its parameters at each of the numbers."""
    spelled = []
    for name, term in sorted(known_terms().items()):
        if term.role not in roles:
            continue
        every = dataclasses.fields(term)  # type: ignore[arg-type]
        fields = [field for field in every if field.name != "distance"]
        needed = [field.name for field in fields if field.default is dataclasses.MISSING]
        for field in fields:
            for number in NUMBERS:
                given = {one: USUAL[one] for one in needed} | {field.name: number}
                parts = ", ".join(f"{one}={value}" for one, value in given.items())
                spelled.append(f"{name}({parts})")
        if not fields:
            spelled.append(f"{name}()")
    return spelled


def readable(term: str) -> bool:
    """Say whether a term is one at all; what is not is refused before anything is done."""
    try:
        parse(term)
    except ShoalError:  # anything else is an error that nobody has foreseen
        return False
    return True


def ends(*arguments: object, codes: tuple[int, ...] = (0, 1, 2, 3)) -> Outcome:
    """Run a command that has to end with a result or a sentence, and without warnings."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        done = shoal(*arguments)
    assert not [str(one.message) for one in raised], arguments
    assert done.code in codes, (arguments, done.said)
    assert "unforeseen" not in done.err, (arguments, done.said)
    assert "Warning" not in done.err, (arguments, done.said)
    assert done.code < 2 or "shoal: " in done.err, arguments
    return done


def some(cases: list, number: int, seed: int) -> list:
    """Return some of the cases, other ones for each seed: together they see all kinds."""
    return random.Random(seed).sample(cases, min(number, len(cases)))


# A share of all cases, and all of them among what takes minutes.
shares = pytest.mark.parametrize("most", [1, pytest.param(10_000, marks=pytest.mark.long)])


def test_every_parameter_is_read_or_refused() -> None:
    everything = terms("requirement", "method", "distance", "hierarchy", "rival", "workload")
    read = [term for term in everything if readable(term)]
    assert 300 < len(read) < len(everything) - 300


@shares
@pytest.mark.parametrize("table", ["plain", "wild"])
def test_every_requirement_is_audited(table: str, most: int, tables: dict[str, Path]) -> None:
    asked = [term for term in terms("requirement") if readable(term)]
    people = ("--population", tables[table])
    for term in some(asked, 25 * most, seed=len(table)):
        more = people if term.startswith(("KMap", "DeltaPresence")) else ()
        ends("audit", tables[table], *ROLES, "--require", term, *more)
    refused = [term for term in terms("requirement") if term not in asked]
    for term in some(refused, 5 * most, seed=len(table)):
        ends("audit", tables[table], *ROLES, "--require", term, codes=(2,))


@pytest.mark.parametrize(
    "term",
    [
        "DeltaDisclosure(delta=1e308)",
        "KE(k=2, e=1e308)",
        "KE(k=2, e=1e-320)",
        "TCloseness(t=1e-320)",
        "BetaLikeness(beta=1e308, enhanced=True)",
        "Variance(at_least=1e308)",
        "DeltaL(delta=1e308, l=2)",
    ],
)
def test_extreme_requirements_are_searched(
    term: str, tables: dict[str, Path], tmp_path: Path
) -> None:
    for table in tables.values():
        output = tmp_path / table.stem
        options = ("--output", output, "--quiet")
        ends("anonymize", table, *ROLES, "--require", term, *options, codes=(0, 3))


@pytest.mark.long
@pytest.mark.parametrize("table", ["plain", "wild"])
def test_every_requirement_is_searched(table: str, tables: dict[str, Path], tmp_path: Path) -> None:
    asked = [term for term in terms("requirement") if readable(term)]
    for place, term in enumerate(asked):
        options = ("--output", tmp_path / f"{place}", "--quiet", "--suppress", "20%")
        more = ("--population", tables[table]) if term.startswith(("KMap", "DeltaP")) else ()
        ends("anonymize", tables[table], *ROLES, "--require", term, *options, *more)


@shares
def test_every_requirement_is_planned(most: int, tables: dict[str, Path]) -> None:
    asked = [term for term in terms("requirement") if readable(term)]
    for table in tables.values():
        for term in some(asked, 12 * most, seed=len(table.stem)):
            ends("plan", table, *SENSITIVE, "--require", term, codes=(0, 2))
        for number in ("1e-320", "1e308", "nan"):
            ends("plan", table, *SENSITIVE, "--epsilon", number, "--relative", codes=(0, 2))
            ends("plan", table, *SENSITIVE, "--epsilon", number, codes=(0, 2))


@shares
def test_every_distance_measures_or_refuses(most: int, tables: dict[str, Path]) -> None:
    distances = terms("distance")
    distances += [f"Lp(weights=[{number}])" for number in NUMBERS]
    distances += [f"Lp(p={number}, scale='none')" for number in NUMBERS]
    distances += [f"Lookup(pairs=[['1', '2', {number}]])" for number in NUMBERS]
    for table in tables.values():
        read = [term for term in distances if readable(term)]
        for term in some(read, 15 * most, seed=len(table.stem)):
            asked = f"Dissimilarity(epsilon=0.1, delta=0.5, k=2, distance={term})"
            ends("audit", table, *ROLES, "--require", asked)


@shares
def test_every_method_and_hierarchy_ends(
    most: int, tables: dict[str, Path], tmp_path: Path
) -> None:
    methods = [term for term in terms("method") if readable(term)]
    hierarchies = [term for term in terms("hierarchy") if readable(term)]
    cases = [("--method", term) for term in some(methods, 4 * most, seed=7)]
    huge = [f"Quantiles(parts={2**63})", f"Grouped(size={2**63})", "Bins(width=1e308)"]
    cases += [
        ("--hierarchy", f"q={term}") for term in (*huge, *some(hierarchies, 2 * most, seed=8))
    ]
    for place, case in enumerate(cases):
        options = ("--require", "KAnonymity(k=2)", "--output", tmp_path / f"{place}", "--quiet")
        ends("anonymize", tables["plain"], *ROLES, *options, *case, codes=(0, 2, 3))


DEEP = ("[" * 100_000, '{"a":' * 50_000, "[" * 900 + "]" * 900)
CELLS = (*DEEP, "[1e999, 1e999]", "[-1e999, 1e999]", "[NaN, 1]", "[1, 2", "[1e308, -1e308]",
         "9" * 5000)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[:15]}-{len(cell)}")
def test_every_cell_is_read_or_refused(cell: str, tables: dict[str, Path], tmp_path: Path) -> None:
    quoted = cell.replace('"', '""')
    lines = [f'"{quoted if row < 3 else "[1, 2]"}",{row % 2},{row}' for row in range(6)]
    table = tmp_path / "cells.csv"
    table.write_text("\n".join(["q,z,s", *lines]) + "\n", "utf-8")
    ends("audit", table, *ROLES)
    ends("audit", table, *ROLES, "--require", "KAnonymity(k=2)")
    ends("audit", table, *ROLES, "--population", table)
    for name, text in (("h.json", f'{{"a": {cell}}}'), ("h.toml", f"a = {cell}")):
        (tmp_path / name).write_text(text, "utf-8")
        asked = ("--require", "KAnonymity(k=2)", "--hierarchy", f"q={tmp_path / name}")
        ends("anonymize", tables["plain"], *ROLES, *asked, "--output", tmp_path / "o", codes=(2,))
    schema = tmp_path / "schema.toml"
    schema.write_text(f"quasi = {cell}\n", "utf-8")
    said = ("--schema", schema, "--require", "KAnonymity(k=2)", "--output", tmp_path / "o")
    ends("anonymize", tables["plain"], *said, codes=(2,))


def test_no_picture_costs_a_release(
    tables: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = (*ROLES, "--require", "EpsilonM(epsilon=1, m=2)", "--quiet")
    whole = tmp_path / "whole"
    ends("anonymize", tables["wild"], *options, "--output", whole, codes=(0,))
    assert "<svg" in (whole / "report.html").read_text("utf-8")

    def broken(*_: object, **__: object) -> str:
        raise OverflowError

    for module in ("release", "comparison", "attack", "strips"):
        monkeypatch.setattr(f"shoal.views.charts.{module}.draw", broken)
    bare = tmp_path / "bare"
    ends("anonymize", tables["plain"], *options, "--output", bare, codes=(0,))
    report = (bare / "report.html").read_text("utf-8")
    assert "This picture could not be drawn (OverflowError)." in report
    assert str(pages.drawn(broken)) == "<p>This picture could not be drawn (OverflowError).</p>"
