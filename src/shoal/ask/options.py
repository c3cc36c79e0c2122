"""What is known of one thing that can be asked: the metadata of the fields of `Ask`.

It loads nothing, because the options of every command are made from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.errors import option as named
from shoal.notation import typed_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Path = tuple[str | int, ...]  # of a key in a schema file

# Kinds of values: what an option takes, what a schema file holds, and how both are spelled.
TEXT, NUMBER, WHOLE, FLAG = "text", "number", "whole", "flag"
SHARE = "share"  # "1%" or 0.01
NAMES = "names"  # columns, with commas between them
SEVERAL = "several"  # texts, each with an option of its own
BY_NAME = "by name"  # a text for each of some columns, or of some tables
NUMBERS = "numbers"  # a number for each of some columns
ENTRIES = "entries"  # texts, each under a name that is an option
TUPLES, MAPS = {NAMES, SEVERAL}, {BY_NAME, NUMBERS, ENTRIES}

COLUMNS, HOLDS, LOOKING = "Columns", "What must hold", "What to look at"
READING, WRITING, RUNNING = "Reading", "Writing", "Running"
PANELS = (COLUMNS, HOLDS, LOOKING, READING, WRITING, RUNNING)
OF_COLUMNS = "columns"  # the table of a schema file that says something of single columns
TERMS, TREES = "terms", "trees"  # texts that name files: in the notation, or where they are no term
FILE = re.compile(r"""\bfile\s*=\s*(?:'([^'\\]*)'|"([^"\\]*)")""")
PLAIN_NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,300})?")

# How likely a reader may find a person, as it is usual. For clinical data that anybody may read,
# the European Medicines Agency (policy 0070) and Health Canada name 0.09, their rounding of 1 in
# 11. It is taken as 1 in 11, itself included.
KNOWN = 5  # who share every description, for readers who sign an agreement
EVERYBODY = 11  # and where anybody may read
THRESHOLD = f"1/{EVERYBODY}"


@dataclass(frozen=True)
class Option:
    """All that the rest of the house has to know of a field.

    Attributes
    ----------
    help, panel, metavar, short : what the command line says of it; without a panel it has no
        option.
    name : what the option and the manifest call it, where the field is called otherwise.
    shares : the name of the option that it shares with another field.
    key : what a schema file calls it; None where it has no say.
    within : the table of a schema file that the key stands in.
    role : whether it gives columns a role.
    roles : the roles of the columns of which it can be said; all where there are none.
    takes : what is said of one column can be, where it is something for each of some columns.
    place : whether it says where something is, which in a schema file is relative to the file; or
        in which texts of it there is a place.
    public : whether the manifest and the command that repeats a run tell it; a word in capitals
        where they tell no more than that it was given.
    apart : whether it has a key of its own in a manifest, not one under `asked`.
    usual : what is done where nothing is said; `shown` where the help of a command says it.
    words : what it can be, where that is one of a few words.
    least : the least number that it can be.
    needs : the field that has to be said with it, which stands behind it everywhere.
    entries : the names of its entries, with what the command line says of each, and pages.
    private : what a sentence calls the private file that it names; `grows` where a run adds to it.
    fixed : what a ledger calls it, which keeps it for all releases of a series.
    not_on_spark : why it cannot be had with Spark.
    page : what a button of the page says that sets it; or what it says for each value.
    page_name : what the page calls it in a sentence.
    """

    help: str = ""
    panel: str = ""
    metavar: str = ""
    kind: str = TEXT
    short: str = ""
    name: str = ""
    shares: str = ""
    key: str | None = ""
    within: str = ""
    role: bool = False
    roles: tuple[str, ...] = ()
    takes: tuple[type, ...] = (str,)
    place: bool | str = False
    public: bool | str = True
    apart: bool = False
    usual: object = None
    shown: bool = False
    words: tuple[str, ...] = ()
    least: int | None = None
    needs: str = ""
    entries: dict[str, tuple[str, str, str]] = field(default_factory=dict, hash=False)
    private: str = ""
    grows: bool = False
    fixed: str = ""
    not_on_spark: str = ""
    page: str | dict[str, str] = field(default="", hash=False)
    page_name: str = ""

    @property
    def empty(self) -> Any:
        """What stands for nothing having been said."""
        if self.kind in MAPS:
            return {}
        return () if self.kind in TUPLES else False if self.flag else None

    @property
    def flag(self) -> bool:
        """Whether it is said by being named."""
        return self.kind == FLAG

    @property
    def in_asked(self) -> bool:
        """Whether a manifest says it under `asked`."""
        return bool(self.public and (self.panel or self.shares) and not self.apart)

    @property
    def secret(self) -> bool:
        """Whether no more may be told of it than that it was given."""
        return isinstance(self.public, str)

    def read(self, typed: Any) -> Any:
        """Return what was typed on a command line as a value, or raise."""
        if self.kind == NAMES:
            return tuple(name.strip() for name in (typed or "").split(",") if name.strip())
        if self.kind == SEVERAL:
            return tuple(typed or ())
        if self.kind not in MAPS:
            return typed
        said = by_name(self.shares or self.name, typed or ())
        if self.kind == BY_NAME:
            return said
        return {column: _number(self, column, text) for column, text in said.items()}

    def kept(self, said: Any) -> Any:
        """Return what stands in a schema file as a value; what it cannot be stays as it is."""
        if self.kind in TUPLES and isinstance(said, str):
            return (said,)
        if self.kind in TUPLES and isinstance(said, list):
            return tuple(said)
        if self.kind == ENTRIES and isinstance(said, dict):  # TOML has days of its own
            return {n: one.isoformat() if isinstance(one, date) else one for n, one in said.items()}
        return said

    def formed(self, typed: Any) -> Any:
        """Return what was typed into a form as a value: a number where it can be one."""
        if not isinstance(typed, str):
            return typed
        text = typed.strip()
        if self.flag:
            return text == "True"
        if self.kind in {NUMBER, WHOLE, NUMBERS} or {float, object} & {*self.takes}:
            whole = "." not in text
            return (int(text) if whole else float(text)) if PLAIN_NUMBER.fullmatch(text) else text
        return text

    def moved(self, value: Any, move: Callable[[str], str]) -> Any:
        """Return a value with the places in it moved."""
        if self.place == TREES:
            return {of: one if _no_file(one) else move(one) for of, one in value.items()}
        if isinstance(value, dict):
            return {of: self.moved(one, move) for of, one in value.items()}
        if isinstance(value, tuple | list):
            return type(value)([self.moved(one, move) for one in value])
        if not isinstance(value, str):
            return value
        if self.place == TERMS:
            return FILE.sub(lambda one: f"file={move(one[1] or one[2] or '')!r}", value)
        return move(value)

    def spelled(self, value: Any) -> list[tuple[str, ...]]:
        """Return the options that say a value, each a name with what is typed after it.

        Of names that no list can hold nothing is said: they stand in a schema file.
        """
        name = self.shares or self.name
        if self.kind == ENTRIES:
            return [(entry, str(text)) for entry, text in value.items()]
        if self.kind == NAMES:
            return [(name, ",".join(value))] if all(map(listable, value)) else []
        if self.kind == SEVERAL:
            return [(name, str(one)) for one in value]
        if self.kind in MAPS:
            return [(name, f"{of}={_listed(said)}") for of, said in value.items()]
        return [(name,) if value is True else (name, str(value))]


def _listed(said: object) -> str:
    return ",".join(said) if isinstance(said, list | tuple) else str(said)


@dataclass(frozen=True)
class Fault:
    """Something wrong with what was asked.

    `of` is the column, the entry or the place in a list that it is about, and `also` says which
    other place has to do with it, as the path of a key in a schema file.
    """

    field: str
    value: object
    why: str
    of: Path = ()
    also: Path = ()

    def path(self, option: Option) -> Path:
        """Return the keys under which it stands in a schema file."""
        key = str(option.key)
        return (OF_COLUMNS, *self.of[:1], key, *self.of[1:]) if option.within else (key, *self.of)

    def error(self, option: Option) -> UsageError:
        """Return it as a refusal that names the option, or the column and what was said of it."""
        if option.within and self.of:
            return UsageError(f"The '{option.key}' of column {self.of[0]!r} {self.why}")
        about = f"{self.of[0]} of " if option.kind in {ENTRIES, BY_NAME} and self.of else ""
        return UsageError(f"{about}{named(option.name)}: {self.why}")


@dataclass(frozen=True)
class Flag:
    """An option of the command line: what it takes, and what its help says."""

    name: str
    takes: Any
    help: str
    panel: str
    metavar: str
    short: str = ""
    least: int | None = None
    default: object = None

    @property
    def of_runs(self) -> bool:
        """Whether it is for whoever publishes, not only for whoever looks at what there is."""
        return self.panel != LOOKING


def flags_of(asks: type) -> dict[str, Flag]:
    """Return all options by which a class can be asked, in the order of the help."""
    found: dict[str, Flag] = {}
    known = options_of(asks)
    shared = {one.shares for one in known.values()}
    takes = {FLAG: bool, NUMBER: float | None, WHOLE: int | None}
    for one in known.values():
        for entry, (metavar, text, _) in one.entries.items():
            found[entry] = Flag(entry, str | None, text, one.panel, metavar)
        if not one.panel or one.entries:
            continue
        many = one.kind in {SEVERAL, BY_NAME, NUMBERS} or one.name in shared
        kind: Any = list[str] | None if many else takes.get(one.kind, str | None)
        default = one.usual if one.shown else False if one.flag else None
        more = (one.help, one.panel, one.metavar, one.short, one.least, default)
        found[one.name] = Flag(one.name, kind, *more)
    return dict(sorted(found.items(), key=lambda one: PANELS.index(one[1].panel)))


def asked(*words: str, **known: Any) -> Any:
    """Return a field of what was asked: help, panel and metavar, then what else is known of it."""
    told: dict[str, Any] = dict(zip(("help", "panel", "metavar"), words, strict=False))
    option = Option(**told, **known)
    metadata = {"option": option}
    if option.kind in MAPS:
        return field(default_factory=dict, metadata=metadata)
    return field(default=option.empty, metadata=metadata)


def _options(asks: Any) -> dict[str, Option]:
    """Return what is known of every field of a class that can be asked."""
    found = {}
    for one in fields(asks):
        if option := one.metadata.get("option"):
            key = one.name if option.key == "" else option.key
            found[one.name] = replace(option, name=option.name or one.name, key=key)
    needed = {option.needs for option in found.values()}
    pairs = [(name, option.needs) for name, option in found.items() if name not in needed]
    return {name: found[name] for pair in pairs for name in pair if name in found}


options_of: Callable[[type], dict[str, Option]] = cache(_options)


def roles_of(asks: type) -> tuple[str, ...]:
    """Return the fields that give columns a role, several each."""
    return tuple(name for name, option in options_of(asks).items() if option.role)


def is_said(value: object) -> bool:
    """Return whether an option says anything: None, False and an empty list of things do not."""
    empty = isinstance(value, list | tuple | dict) and not value
    return not (value is None or value is False or empty)


def listable(name: str) -> bool:
    """Whether a list of names on the command line can hold a name."""
    return "," not in name and name == name.strip() and not name.startswith("-")


def by_name(option: str, said: Iterable[str]) -> dict[str, str]:
    """Split what was said of columns, as zip=code, at the first sign of equality."""
    found: dict[str, str] = {}
    for text in said:
        sign = max(text.find("=", 1), 0)  # a name may begin with one
        column, value = text[:sign].strip(), text[sign + 1 :].strip()
        if not (column and value):
            msg = f"{named(option)} takes column=value. Got {text!r}."
            raise UsageError(msg)
        if column in found:
            msg = f"{named(option)} names column {column!r} twice."
            raise UsageError(msg)
        found[column] = value
    return found


def _no_file(tree: object) -> bool:
    """Whether a hierarchy is nested nodes or a term."""
    return not isinstance(tree, str) or tree.rstrip().endswith(")")


def _number(option: Option, column: str, text: str) -> float:
    found = typed_number(text, None)
    if found is None:
        msg = f"The {option.name} of column {column!r} must be a number above 0. Got {text!r}."
        raise UsageError(msg)
    return float(found)
