"""What was asked: one dataclass, from whose fields every other form of it is made.

The options of commands with their help, the keys of schema files, the fields of a run, what a
manifest says was asked, what a ledger fixes, what Spark refuses, and the command that repeats a run
follow from what is said of each field in `fields`: a new option is one field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from shoal.ask.fields import AboutColumns, AboutFiles, AboutRun
from shoal.ask.options import OF_COLUMNS, flags_of, is_said, options_of
from shoal.ask.toml import written
from shoal.errors import UsageError, nearest
from shoal.errors import option as named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.ask.options import Flag


@dataclass(frozen=True, kw_only=True)
class Ask(AboutRun, AboutColumns, AboutFiles):
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
        """Return what a schema file says that asks for the same, as far as one has a say."""
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
