"""The command that a report prints, parsed again, is the run that was asked for."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import shoal
from shoal.ask.options import options_of
from shoal.cli.anonymize import anonymize
from shoal.runs.release import asked
from shoal.views.again import command
from system.shell import shoal as run

if TYPE_CHECKING:
    from pathlib import Path

ROLES = ("--quasi", "age,town", "--sensitive", "pay")
SCHEMA = """
quasi = ["age, in years", "size"]
sensitive = ["pay"]
[columns.size]
order = ["small", "large"]
"""
# Every public option, with what it needs beside it; places stand in capitals.
OPTIONS: dict[str, tuple[str, ...]] = {
    "quasi": (),
    "sensitive": (),
    "require": ("--require", "pay: DistinctL(l=2)"),
    "method": ("--method", "Split(partition='round-robin')"),
    "other": ("--other", "note,w"),
    "nobody_knows": ("--other", "note,w", "--nobody-knows", "note"),
    "person": ("--person", "COLUMN"),
    "most_rows": ("--person", "COLUMN", "--most-rows", "3"),
    "rows": ("--person", "COLUMN", "--rows", "unknown"),
    "linked": ("--person", "COLUMN", "--linked", "visits=FILE", "--other", "visits.ward"),
    "never_mix": ("--never-mix", "sex,town"),
    "survey_weight": ("--survey-weight", "w"),
    "schema": ("--schema", "SCHEMA"),
    "pseudonymize": ("--pseudonymize", "id", "--key-file", "KEY"),
    "key_file": ("--pseudonymize", "id", "--key-file", "KEY"),
    "type": ("--type", "town=code", "--type", "age=numeric"),
    "hierarchy": ("--hierarchy", "town=FILE", "--hierarchy", "age=Bins(width=5)"),
    "weight": ("--weight", "age=2.5"),
    "decimal": ("--decimal", ","),
    "form": ("--form", "bounds"),
    "keep_other": ("--other", "note", "--form", "two-tables", "--keep-other"),
    "date_format": ("--quasi", "age,town,born", "--date-format", "born=dd/mm/yyyy"),
    "round": ("--round", "pay=100"),
    "bottom": ("--bottom", "age=18"),
    "top": ("--top", "pay=99%"),
    "format": ("--format", "parquet"),
    "ledger": ("--person", "COLUMN", "--ledger", "LEDGER"),
    "batch": ("--person", "COLUMN", "--ledger", "LEDGER", "--batch", "5"),
    "least_real": ("--person", "COLUMN", "--ledger", "LEDGER", "--least-real", "2"),
    "threshold": ("--threshold", "0.2"),
    "cells": ("--cells", "regions"),
    "suppress": ("--suppress", "2.5%"),
    "seconds": ("--seconds", "30"),
    "missing": ("--missing", "drop", "--missing", "age=value"),
    "delimiter": ("--delimiter", ";"),
    "encoding": ("--encoding", "latin-1"),
    "population": ("--population", "PEOPLE", "--require", "KMap(k=2)"),
    "engine": ("--engine", "Spark(shard=1000)"),
    "escape_formulas": ("--escape-formulas",),
    "title": ("--title", "Our people's pay"),
    "institution": ("--institution", "Klinikum Nordufer"),
    "purpose": ("--purpose", "Research on the costs of care", "--institution", "Klinikum"),
    "recipients": ("--recipients", "Everybody"),
    "legal_basis": ("--legal-basis", "Art. 9 (2) j"),
    "review_date": ("--review-date", "2027-01-31"),
    "withhold_counts": ("--withhold-counts",),
    "hold_out": ("--hold-out", "5%", "--hold-out-file", "FILE"),
}


# Those about one's own machine and files, of which nothing is published.
OWN = {
    *("header_row", "header_lines", "skip_last", "missing_codes"),  # where its table lies in a file
    *("table", "output", "query", "sheet", "linkage", "owner_report", "trials"),
    "hold_out_file",
    *("seed", "identifying", "dry_run", "force", "quiet", "json"),
}


def test_every_option_is_public_or_the_owners_own() -> None:
    given = set(inspect.signature(anonymize).parameters)
    assert given == OPTIONS.keys() | OWN
    assert not OPTIONS.keys() & OWN
    public = {one.shares or one.name for one in options_of(shoal.Ask).values() if one.public}
    assert OPTIONS.keys() >= public & given


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Return where the words in capitals lie."""
    (tmp_path / "tree.csv").write_text("Aix;south;*\nBari;north;*\n", "utf-8")
    (tmp_path / "key").write_text("a secret of many letters", "utf-8")
    (tmp_path / "schema.toml").write_text(SCHEMA, "utf-8")
    table = tmp_path / "people.csv"
    table.write_text("age,town,pay\n", "utf-8")
    return {
        "TABLE": str(table),
        "DIR": str(tmp_path / "out"),
        "SCHEMA": str(tmp_path / "schema.toml"),
        "KEY": str(tmp_path / "key"),
        "PEOPLE": str(table),
        "FILE": str(tmp_path / "tree.csv"),
        "LEDGER": str(tmp_path / "ledger"),
        "COLUMN": "who",
    }


def parsed(
    words: tuple[str, ...], places: dict[str, str], patch: pytest.MonkeyPatch
) -> shoal.results.Run:
    """Return the run that a command makes."""
    found: list[shoal.results.Run] = []

    def caught(one: shoal.results.Run, *_: Any) -> None:
        found.append(one)
        msg = "caught"
        raise shoal.UsageError(msg)

    patch.setattr(shoal.results.Run, "publish", caught)
    typed = []
    for word in words:
        column, equals, value = word.partition("=")
        placed = f"{column}={places[value]}" if equals and value in places else word
        typed.append(places.get(word, placed))
    outcome = run(*typed)
    assert "caught" in outcome.said, outcome
    return found[0]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_printed_command_is_the_run_that_was_asked_for(
    name: str, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    more = OPTIONS[name]
    roles = () if name == "schema" else ROLES
    require = ("--require", "KAnonymity(k=3)")
    words = ("anonymize", "TABLE", *roles, *more, *require, "--output", "DIR", "--seed", "7")
    first = parsed(words, places, monkeypatch)
    manifest: dict[str, Any] = {
        "asked": asked(first) | ({"format": first.format} if first.format else {}),
        "require": [repr(one) for one in first.requirements],
        "form": first.form,
        "threshold": float(number_of(first.threshold)),
    } | ({"title": first.title} if first.title else {})
    manifest |= {"context": first.context} if first.context else {}
    said = command(manifest)
    for place in (*places.values(), "who"):
        assert place not in shlex.split(said.line)
    assert shlex.split(said.folded.replace("\\\n", " ")) == list(said.words)
    second = parsed(said.words[1:], places, monkeypatch)
    assert asked(second) == asked(first)
    assert second.schema == first.schema
    assert second.requirements == first.requirements
    skipped = {"said", "overruled", "schema", "require", "engine", "method", *OWN}
    for one in fields(shoal.results.Run):
        if one.name not in skipped:
            mine, theirs = getattr(first, one.name), getattr(second, one.name)
            assert mine == theirs or number_of(mine) == number_of(theirs), one.name


def number_of(value: Any) -> Any:
    """Return the number of a threshold, whichever way it is written."""
    return Fraction(value) if isinstance(value, str) and value[:1].isdigit() else value


def test_no_place_of_an_engine_is_told() -> None:
    schema = shoal.Schema(quasi="age")
    engine = shoal.Spark(master="spark://secret.example:7077", shard=70)
    told = asked(shoal.results.Run(schema=schema, require="KAnonymity(k=2)", engine=engine))
    assert told["engine"] == "Spark(shard=70)"
    assert "engine" not in asked(shoal.results.Run(schema=schema, require="KAnonymity(k=2)"))
