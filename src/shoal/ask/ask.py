"""What was asked: one dataclass, from whose fields every other form of it is made.

The options of commands with their help, the keys of schema files, the fields of a run, what a
manifest says was asked, what a ledger fixes, what Spark refuses, and the command that repeats a run
follow from what is said of each field in `fields`: a new option is one field.

What is wrong with it is data: of which field, what was said, and why it cannot be. Views and
readers of files spell a problem in their own words: a file by line and key, a command by the
option, a page beside the field.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

from shoal.ask.fields import AboutColumns, AboutFiles, AboutRun
from shoal.ask.options import (
    BY_NAME,
    FLAG,
    NUMBER,
    NUMBERS,
    OF_COLUMNS,
    TEXT,
    WHOLE,
    Fault,
    flags_of,
    is_said,
    options_of,
    roles_of,
)
from shoal.errors import UsageError, nearest
from shoal.errors import option as named
from shoal.progress import Given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shoal.ask.options import Flag, Option, Path

    Wrong = tuple[Path, object, str]  # in which part, what it is, and why it cannot be

TAKES: dict[str, tuple[type, ...]] = {
    TEXT: (str, PurePath),
    NUMBER: (int, float),
    WHOLE: (int,),
    FLAG: (bool,),
}
NOUNS = {str: "a string", dict: "a table", list: "a list", bool: "true or false"}


def faults_in(ask: object) -> Iterator[Fault]:
    """Yield what is wrong with the fields of what was asked, each by itself, then together."""
    for name, option in options_of(type(ask)).items():
        value = getattr(ask, name)
        if is_said(value):
            for of, one, why in _wrong(option, value):
                yield Fault(name, one, why, of)
    yield from _two_roles(ask)


def _wrong(option: Option, value: object) -> Iterator[Wrong]:
    """Yield what a field cannot be: in which part of it, what that is, and why."""
    match option.kind:
        case "names" | "several":
            yield from _texts((), value)
        case "share":
            if isinstance(value, bool) or not isinstance(value, str | float):
                example = re.findall(r"\d+%", option.help)[0]
                yield (), value, f'write it as in "{example}". Got {value!r}.'
        case "entries" | "by name" | "numbers":
            if not isinstance(value, dict):
                yield (), value, _must_be(value, (dict,))
                return
            for of, one in value.items():
                for more, bad, why in _entry(option, one):
                    yield (of, *more), bad, why
        case kind:
            yield from _single(option, value, TAKES[kind])


def _entry(option: Option, value: object) -> Iterator[Wrong]:
    """Yield what one entry of a field cannot be."""
    if option.kind == NUMBERS:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if not 0 < number < float("inf"):
            yield (), value, f"must be a number above 0. Got {value!r}."
    elif option.takes == (list,) or (option.kind == BY_NAME and not option.within):
        yield from () if option.place and isinstance(value, str) else _texts((), value)
    elif object not in option.takes:
        yield from _single(option, value, option.takes)


def _single(option: Option, value: object, kinds: tuple[type, ...]) -> Iterator[Wrong]:
    fits = isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds)
    if not fits:
        yield (), value, _must_be(value, kinds)
    elif option.words and value not in option.words:
        yield (), value, f"cannot be {value!r}{nearest(str(value), option.words)}"
    elif option.least is not None and isinstance(value, int) and value < option.least:
        yield (), value, f"must be at least {option.least}. Got {value!r}."


def _texts(path: Path, value: object) -> Iterator[Wrong]:
    if not isinstance(value, list | tuple):
        yield path, value, f"must be a list of strings. Got {value!r}."
        return
    for place, item in enumerate(value):
        if not isinstance(item, str):
            yield (*path, place), item, f"must be a list of strings. Got {item!r}."


def _must_be(value: object, kinds: tuple[type, ...]) -> str:
    wanted = dict.fromkeys(NOUNS.get(one, "a number") for one in kinds if one is not PurePath)
    return f"must be {' or '.join(wanted)}. Got {value!r}."


def _two_roles(ask: object) -> Iterator[Fault]:
    """Yield columns that have two roles, but for those that are generalized and never mixed."""
    taken: dict[str, Path] = {}
    for role in roles_of(type(ask)):
        names = getattr(ask, role)
        for place, name in enumerate(names if isinstance(names, tuple) else ()):
            if not isinstance(name, str):
                continue  # said already
            if name in taken and {role, taken[name][0]} != {"quasi", "never_mix"}:
                why = f"column {name!r} has two roles, the other is {taken[name][0]}"
                yield Fault(role, name, why, (place,), taken[name])
            taken[name] = role, place


BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True, repr=False)
class Ask(Given, AboutRun, AboutColumns, AboutFiles):
    """Everything that was asked, as it was typed, written in a schema file or chosen on the page.

    What was not said is None, False or empty. `Run` is made of it and does it; `Schema` is the part
    about columns, checked.

    Examples
    --------
    >>> ask = Ask(table=("people.csv",), quasi=("age", "zip"), require=("KAnonymity(k=5)",))
    >>> ask.toml().splitlines()
    ['table = ["people.csv"]', 'quasi = ["age", "zip"]', 'require = ["KAnonymity(k=5)"]']
    >>> Ask.from_toml(ask.toml()) == ask
    True
    >>> ask.options()
    [('quasi', 'age,zip'), ('require', 'KAnonymity(k=5)')]
    """

    @classmethod
    def flags(cls) -> dict[str, Flag]:
        """Return the options of the command line that ask for it, in the order of the help."""
        return flags_of(cls)

    @classmethod
    def from_options(cls, **typed: Any) -> Self:
        """Read what was typed: a text, a number or a list of texts for each option."""
        found: dict[str, Any] = {}
        for name, option in options_of(cls).items():
            given = typed.get(option.shares or option.name)
            if option.entries:
                texts = {entry: typed.get(entry) for entry in option.entries}
                found[name] = {entry: text for entry, text in texts.items() if text is not None}
            elif option.shares:
                found[name] = option.read([text for text in given or () if "=" in text])
            elif name in shared(cls):
                found[name] = _only(option.name, [text for text in given or () if "=" not in text])
            else:
                found[name] = option.read(given)
        return cls(**found)

    @classmethod
    def from_said(cls, said: Mapping[str, Any]) -> Self:
        """Take what a schema file says under its keys, or raise where there is no such key."""
        found: dict[str, Any] = {}
        for key, value in said.items():
            if key != OF_COLUMNS:
                name = field_of(cls, key)
                found[name] = options_of(cls)[name].kept(value)
        for column, entries in said.get(OF_COLUMNS, {}).items():
            for key, value in entries.items():
                found.setdefault(field_of(cls, key, OF_COLUMNS), {})[column] = value
        return cls(**found)

    @classmethod
    def from_form(cls, said: Mapping[str, Any]) -> Self:
        """Take what was typed into a form, under the keys of a schema file; empty says nothing."""
        typed = {
            key: options_of(cls)[field_of(cls, key)].formed(value)
            for key, value in said.items()
            if key != OF_COLUMNS and value not in ("", None, [], {})
        }
        of_columns = {
            column: {
                key: options_of(cls)[field_of(cls, key, OF_COLUMNS)].formed(value)
                for key, value in entries.items()
                if value not in ("", None)
            }
            for column, entries in said.get(OF_COLUMNS, {}).items()
        }
        return cls.from_said(typed | {OF_COLUMNS: of_columns})

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a schema file; `load` also looks for what is wrong with it, by line and key."""
        import tomllib

        return cls.from_said(tomllib.loads(text))

    def options(self) -> list[tuple[str, ...]]:
        """Return the options that ask for the same, but for the table."""
        known = options_of(type(self))
        return [
            words
            for name, option in known.items()
            if (option.panel or option.shares) and is_said(getattr(self, name))
            for words in option.spelled(getattr(self, name))
        ]

    def said(self) -> dict[str, Any]:
        """Return the keys of a schema file that asks for the same."""
        top: dict[str, Any] = {}
        columns: dict[str, dict[str, Any]] = {}
        for name, option in options_of(type(self)).items():
            value = getattr(self, name)
            if option.key is None or not is_said(value):
                continue
            if not option.within:
                top[option.key] = value
            for column, one in value.items() if option.within else ():
                columns.setdefault(column, {})[option.key] = one
        return top | ({OF_COLUMNS: columns} if columns else {})

    def moved(self, move: Callable[[str], str]) -> Self:
        """Return it with every place that a schema file can name moved, such as beside the file."""
        known = {name: one for name, one in options_of(type(self)).items() if one.place}
        return replace(self, **{n: one.moved(getattr(self, n), move) for n, one in known.items()})

    def check(self) -> list[Fault]:
        """Return everything that is wrong with it, whatever the table is."""
        from shoal.ask.ask import faults_in

        return [*faults_in(self)]

    def toml(self) -> str:
        """Return a schema file that asks for the same."""
        return written(self.said())


def keys_of(asks: type, within: str = "") -> dict[str, str]:
    """Return the keys of schema files, each with the field that it stands for."""
    known = options_of(asks).items()
    return {str(one.key): name for name, one in known if one.key and one.within == within}


def field_of(asks: type, key: str, within: str = "") -> str:
    """Return the field that a key of schema files stands for, or raise."""
    known = keys_of(asks, within)
    if key not in known:
        msg = f"There is no key {key!r}{nearest(key, [*known])}"
        raise UsageError(msg)
    return known[key]


def shared(asks: type) -> set[str]:
    """Return the fields whose option another field has a share in."""
    return {option.shares for option in options_of(asks).values()} - {""}


def _only(name: str, said: list[str]) -> str | None:
    """Return what is said of all columns that have nothing of their own."""
    if len(said) > 1:
        msg = f"{named(name)} has two policies for all columns: {' and '.join(said)}. Choose one."
        raise UsageError(msg)
    return said[0] if said else None


def written(said: Mapping[str, Any]) -> str:
    r"""Return a schema file: keys in their order, then a table for each column.

    >>> written({"quasi": ["age"], "columns": {"the age": {"weight": 2}}})
    'quasi = ["age"]\n\n[columns."the age"]\nweight = 2\n'
    """
    lines = [f"{key} = {quoted(one)}" for key, one in said.items() if key != OF_COLUMNS]
    for name, entries in said.get(OF_COLUMNS, {}).items():
        lines += ["", f"[columns.{key_of(name)}]"]
        lines += [f"{key} = {quoted(one)}" for key, one in entries.items()]
    return "\n".join(lines) + "\n"


def key_of(text: str) -> str:
    """Return a key, in quotes where it needs them."""
    return text if BARE.fullmatch(text) else quoted(text)


def quoted(said: object) -> str:
    """Write a value."""
    if isinstance(said, bool):
        return "true" if said else "false"
    if isinstance(said, str):
        return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(said, date):
        return quoted(said.isoformat())
    if isinstance(said, list | tuple):
        return f"[{', '.join(map(quoted, said))}]"
    if isinstance(said, dict):
        return "{" + ", ".join(f"{key_of(k)} = {quoted(v)}" for k, v in said.items()) + "}"
    return repr(said)
