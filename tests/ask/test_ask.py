"""What was asked says itself as a command and as a schema file, and a new option is one field."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.ask import options
from shoal.ask.ask import Ask
from shoal.ask.fields import AboutColumns
from shoal.ask.options import WRITING, asked, listable, options_of
from shoal.cli import show
from shoal.cli.main import commands
from shoal.runs.release import asked as public
from shoal.table.forms import FORMS, KNOWN, UNKNOWN
from shoal.table.grid import KINDS_OF_CELLS
from shoal.table.missing import Missing
from shoal.table.schema import KINDS
from shoal.table.settings import read_settings
from shoal.views.again import command
from shoal.views.terminal import Command

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
PLAIN = TEXTS.filter(lambda text: text == text.strip() and not text.startswith("-"))
COLUMN = PLAIN.filter(lambda name: listable(name) and "=" not in name)
SPECIAL = {  # what a schema file holds that not every text is
    "encoding": st.sampled_from(["utf-8", "latin-1"]),
    "date_formats": st.just("dd/mm/yyyy"),
    "round": st.just("5"),
    "bottom": st.just("1%"),
    "top": st.just("99%"),
    "step": st.just(1),
    "bounds": st.just([0, 120]),
    "order": st.lists(TEXTS, min_size=1, max_size=2),
    "hierarchies": st.just("Prefix()"),
}


def values(name: str, option: options.Option) -> st.SearchStrategy[Any]:
    """Return what a field can be asked to be."""
    one = st.sampled_from(option.words) if option.words else SPECIAL.get(name, PLAIN)
    return {
        options.NAMES: st.lists(COLUMN, min_size=1, max_size=2, unique=True).map(tuple),
        options.SEVERAL: st.lists(PLAIN, min_size=1, max_size=2).map(tuple),
        options.NUMBER: st.floats(0.5, 99),
        options.WHOLE: st.integers(1, 9),
        options.FLAG: st.just(True),
        options.NUMBERS: st.dictionaries(COLUMN, st.floats(0.5, 9), min_size=1, max_size=2),
        options.BY_NAME: st.dictionaries(COLUMN, one, min_size=1, max_size=2),
        options.ENTRIES: st.dictionaries(st.sampled_from([*option.entries]), PLAIN, min_size=1),
    }.get(option.kind, one)


@cache
def parser(asks: type[Ask]) -> tuple[Any, list[Ask]]:
    """Return the parser of the command line, and what it has heard."""
    heard: list[Ask] = []
    app = typer.Typer()
    app.command()(show.asking("table", *asks.flags(), asks=asks)(heard.append))
    return typer.main.get_command(app), heard


def typed(words: list[str], asks: Any = Ask) -> Ask:
    """Return what a command asks for, by way of the parser of the command line."""
    made, heard = parser(asks)
    made(words, standalone_mode=False)
    return heard.pop()


@pytest.mark.parametrize("name", [n for n, o in options_of(Ask).items() if o.panel or o.shares])
@settings(max_examples=examples(5))
@given(data=st.data())
def test_a_command_asks_for_what_was_asked(name: str, data: st.DataObject) -> None:
    ask = Ask(**{name: data.draw(values(name, options_of(Ask)[name]))})
    line = Command("anonymize", ("TABLE",), tuple(ask.options())).line
    found = typed(shlex.split(line)[2:])
    usual = {"table": ("TABLE",), "threshold": found.threshold}
    assert found == Ask(**usual | {name: getattr(ask, name)})


@pytest.mark.parametrize("name", [name for name, one in options_of(Ask).items() if one.key])
@settings(max_examples=examples(5))
@given(data=st.data())
def test_a_schema_file_asks_for_what_was_asked(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ask = Ask(**{name: data.draw(values(name, options_of(Ask)[name]))})
    assert Ask.from_toml(ask.toml()) == ask
    path = tmp_path_factory.mktemp("asked") / "shoal.toml"
    path.write_text(ask.toml(), "utf-8")
    found = getattr(read_settings(path).ask, name)
    assert found == beside(name, getattr(ask, name), path)


@pytest.mark.parametrize("name", [name for name, one in options_of(Ask).items() if one.key])
@settings(max_examples=examples(5))
@given(data=st.data())
def test_a_form_asks_for_what_was_asked(name: str, data: st.DataObject) -> None:
    ask = Ask(**{name: data.draw(values(name, options_of(Ask)[name]))})
    typed = as_typed(ask.said())
    found = Ask.from_form(typed)
    assert found.check() == []
    assert found == (ask if name != "round" else replace(ask, round=found.round))
    assert Ask.from_form(as_typed(found.said())) == found


def as_typed(said: Any) -> Any:
    """Return what is said with its numbers and flags as texts, as fields of a form have them."""
    if isinstance(said, dict):
        return {key: as_typed(one) for key, one in said.items()}
    return str(said) if isinstance(said, bool | int | float) else said


WRONG: dict[str, Any] = {
    "most_rows": "many",
    "seconds": "a while",
    "weights": {"age": "heavy"},
    "types": {"age": "numbre"},
    "form": "interval",
    "suppress": 5,
    "batch": 0,
    "quasi": 5,
    "require": ("KAnonymity(k=2)", 7),
    "context": {"purpose": 5},
    "order": {"size": "S"},
    "keep_other": "yes",
    "linked": {"visits": 5},
}


def test_everything_that_is_wrong_is_told_at_once_as_data() -> None:
    found = Ask(**WRONG).check()
    assert {one.field for one in found} == {*WRONG}
    by_field = {one.field: one for one in found}
    assert by_field["weights"].of == ("age",)
    assert by_field["require"].of == (1,)
    assert by_field["types"].value == "numbre"
    assert "Did you mean 'numeric'" in by_field["types"].why
    assert all(str(one.error(options_of(Ask)[one.field])) for one in found)


def test_a_column_of_two_roles_is_told_with_both() -> None:
    (one,) = Ask(quasi=("age", "sex"), sensitive=("age",), never_mix=("sex",)).check()
    assert (one.field, one.value, one.also) == ("sensitive", "age", ("quasi", 0))


@settings(max_examples=15)
@given(data=st.data())
def test_what_is_asked_together_says_itself_together(data: st.DataObject) -> None:
    known = {name: one for name, one in options_of(Ask).items() if one.panel and one.key}
    chosen = data.draw(st.lists(st.sampled_from([*known]), min_size=2, max_size=5, unique=True))
    ask = Ask(**{name: data.draw(values(name, known[name])) for name in chosen})
    assert Ask.from_toml(ask.toml()) == ask
    line = Command("anonymize", ("TABLE",), tuple(ask.options())).line
    found = typed(shlex.split(line)[2:])
    assert found == replace(ask, table=("TABLE",), threshold=found.threshold)


def test_a_key_that_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(shoal.UsageError, match=r"no key 'quassi'\. Did you mean 'quasi'"):
        Ask.from_toml("quassi = ['age']")
    with pytest.raises(shoal.UsageError, match="no key 'wieght'"):
        Ask.from_toml("[columns.age]\nwieght = 2")


def beside(name: str, value: Any, file: Path) -> Any:
    """Return a value whose places are beside a schema file."""

    def placed(place: str) -> str:
        return place if "://" in place or place == "-" else str(file.parent / place)

    if options_of(Ask)[name].place is not True:
        return value
    if isinstance(value, dict):
        return {of: placed(one) for of, one in value.items()}
    return tuple(map(placed, value)) if isinstance(value, tuple) else placed(value)


def test_what_has_no_key_is_kept_out_of_schema_files() -> None:
    kept = {name for name, one in options_of(Ask).items() if one.key is None}
    assert {"seed", "key_file", "linkage", "owner_report", "population", "query"} <= kept
    assert Ask(seed=3, key_file="key", linkage="link.csv").toml().strip() == ""


def test_words_are_those_of_the_tables() -> None:
    words = {name: set(one.words) for name, one in options_of(Ask).items() if one.words}
    assert words == {
        "form": {*FORMS},
        "cells": {*KINDS_OF_CELLS},
        "missing": {*get_args(Missing)},
        "missing_cells": {*get_args(Missing)},
        "rows": {KNOWN, UNKNOWN},
        "decimal": {".", ","},
        "types": {*KINDS},
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class Coloured:
    """One option more: all that is said of it anywhere."""

    colour: str | None = asked("Of the report.", WRITING, "COLOUR", fixed="colour", page="In {}")


@dataclass(frozen=True, kw_only=True)
class ColouredAsk(Ask, Coloured):
    """What can be asked, with it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ColouredRun(shoal.results.Run, Coloured):
    """A run, with it."""

    asks: ClassVar[type[Ask]] = ColouredAsk


def test_a_new_option_is_one_field_for_command_line_and_schema_file(tmp_path: Path) -> None:
    assert ColouredAsk.flags()["colour"].help == "Of the report."
    ask = typed(["people.csv", "--quasi", "age", "--colour", "dark red"], ColouredAsk)
    assert ask == ColouredAsk(
        table=("people.csv",), quasi=("age",), colour="dark red", threshold="1/11"
    )
    assert 'colour = "dark red"' in ask.toml()
    assert ColouredAsk.from_toml(ask.toml()).colour == "dark red"
    file = tmp_path / "shoal.toml"
    file.write_text(ask.toml(), "utf-8")
    assert ColouredRun.load(file).colour == "dark red"
    assert ColouredRun.load(file, colour="blue").colour == "blue"
    with pytest.raises(shoal.ShoalError, match="no such key"):
        shoal.results.Run.load(file)


def test_a_new_option_is_one_field_for_manifest_ledger_and_the_command_that_repeats_a_run() -> None:
    from shoal.runs.ledger import fixed_by

    asks = ColouredAsk(quasi=("age",), require=("KAnonymity(k=2)",), colour="dark red")
    run = ColouredRun.of_ask(asks)
    told = public(run)
    assert told == {"quasi": ["age"], "colour": "dark red"}
    manifest = {"asked": told, "require": [], "form": "intervals", "threshold": 1 / 11}
    again = command(manifest, ColouredAsk).words
    assert again[again.index("--colour") + 1] == "dark red"
    assert fixed_by(run, ["age"])["colour"] == "dark red"


def test_what_is_asked_of_a_run_is_a_field_of_it() -> None:
    of_run = {one.name for one in fields(shoal.results.Run)} | {
        one.name for one in fields(shoal.Schema)
    }
    assert {*options_of(Ask)} - of_run == {"key_file"}


def test_what_is_asked_of_columns_is_a_parameter_of_a_schema() -> None:
    assert {*inspect.signature(shoal.Schema).parameters} == {
        one.name for one in fields(AboutColumns)
    }


def test_every_command_takes_options_of_what_can_be_asked_as_they_are() -> None:
    flags = Ask.flags()
    for one in commands("").commands.values():
        for option in one.params:
            if option.name in flags and option.param_type_name == "option":
                assert option.rich_help_panel == flags[option.name].panel
                assert option.metavar == flags[option.name].metavar


@settings(max_examples=10)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_names_that_no_list_can_hold_are_not_said_by_options(names: list[str]) -> None:
    said = Ask(quasi=tuple(names)).options()
    assert bool(said) is all(map(listable, names))
