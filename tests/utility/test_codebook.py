"""A codebook says what the published tables and the manifest say, or the audit finds where not."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.audit.published import read_release
from shoal.audit.tables import digest_of, read_manifest
from shoal.utility.bias import HELD, untrue_codebook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def people(rows: int = 60) -> pl.DataFrame:
    draw = random.Random(rows)
    ages = [draw.randint(20, 60) for _ in range(rows)]
    return pl.DataFrame(
        {
            "who": [f"p{place}" for place in range(rows)],
            "age": [draw.choice([age, age, None]) for age in ages],
            "town": [draw.choice(["Aix", "Bari", "Cork, west"]) for _ in range(rows)],
            "pay": [age * 100 + draw.randint(0, 300) for age in ages],
            "ill": [draw.choice(["flu", "=1+1", "asthma"]) for _ in range(rows)],
            "seen": [f"2001-0{draw.randint(1, 9)}-11" for _ in range(rows)],
        }
    )


CASES: dict[str, dict[str, Any]] = {
    "intervals": {},
    "bounds": {"form": "bounds", "escape_formulas": True},
    "means": {"form": "means"},
    "two-tables": {"form": "two-tables", "keep_other": True, "require": "ill: FrequencyL(l=2)"},
    "linked": {"linked": {"visits": people().select("who", pl.col("ill").alias("found"))}},
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name, how in CASES.items():
        linked = {"person": "who", "sensitive": ["pay", "ill", "visits.found"]}
        roles: dict[str, Any] = {"quasi": ["age", "town"], "other": "seen"}
        roles |= linked if name == "linked" else {"sensitive": ["pay", "ill"]}
        asked = {"require": "pay: EpsilonM(epsilon=10, m=2)", "missing": "value"} | how
        made[name] = tmp_path_factory.mktemp("codebook") / name
        shoal.anonymize(people(), shoal.Schema(**roles), **asked).write(made[name])
    return made


def altered(lines: list[dict[str, str]]) -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    """Yield the column, what was altered, and codebooks with one cell or one line altered."""
    for at, line in enumerate(lines):
        before, after = lines[:at], lines[at + 1 :]
        yield line["name"], "gone", before + after
        yield line["name"], "again", [*lines, line]
        for key, cell in line.items():
            yield line["name"], key, [*before, line | {key: cell[1:] or "1"}, *after]
    yield "more", "new", [*lines, lines[-1] | {"name": "more"}]


@pytest.mark.few(1)
@pytest.mark.parametrize("case", CASES)
def test_every_altered_cell_of_a_codebook_is_found(case: str, releases: dict[str, Path]) -> None:
    directory = releases[case]
    published = read_release(directory, read_manifest(directory), lean=True)
    path = directory / "codebook.csv"
    text = path.read_bytes()
    lines = pl.read_csv(text, infer_schema=False).fill_null("").to_dicts()
    assert untrue_codebook(directory, published) == []
    assert case == "two-tables" or any(line["caution"] for line in lines)
    try:
        for name, what, spoiled in altered(lines):
            path.write_text(pl.DataFrame(spoiled).write_csv())
            found = untrue_codebook(directory, published)
            assert found, (name, what)
            told = "several lines" if what == "again" else repr(name)
            assert what in {"name", "file"} or any(told in one for one in found), (what, found)
            # of a very large release in parts, what carried columns hold is not read again
            if case == "intervals":
                some = untrue_codebook(directory, replace(published, whole=False))
                assert some or what in HELD, (name, what)
    finally:
        path.write_bytes(text)


def test_words_of_another_version_may_differ_and_facts_may_not(releases: dict[str, Path]) -> None:
    directory = releases["intervals"]
    published = read_release(directory, read_manifest(directory), lean=True)
    other = published.stated.but(shoal="0.0.1")
    path = directory / "codebook.csv"
    text = path.read_bytes()
    lines = pl.read_csv(text, infer_schema=False).fill_null("").to_dicts()
    try:
        for name, what, spoiled in altered(lines):
            if name not in {"age", "pay"}:
                continue
            path.write_text(pl.DataFrame(spoiled).write_csv())
            found = untrue_codebook(directory, replace(published, manifest=other))
            assert bool(found) is (what not in {"done", "caution"}), what
    finally:
        path.write_bytes(text)


def test_the_audit_compares_the_codebook(releases: dict[str, Path]) -> None:
    directory = releases["bounds"]
    path = directory / "codebook.csv"
    said = json.loads((directory / "manifest.json").read_text())
    ends = f"[{min(people()['pay'].to_list())}, "
    assert ends in path.read_text()
    path.write_text(path.read_text().replace(ends, "[0, "))
    said["digests"]["codebook.csv"] = digest_of(path)
    (directory / "manifest.json").write_text(json.dumps(said))
    found = shoal.audit(directory)
    assert not found.holds
    assert any(
        "codebook.csv contradicts the published tables and the manifest about 'pay'" in one
        for one in found.problems
    )
