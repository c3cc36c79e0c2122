"""What is wrong with what was asked, as data: of which field, what was said, and why it cannot be.

Views and readers of files spell a problem in their own words: a file by line and key, a command by
the option, a page beside the field.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from shoal.ask.options import (
    BY_NAME,
    FLAG,
    NUMBER,
    NUMBERS,
    TEXT,
    WHOLE,
    Fault,
    is_said,
    options_of,
    roles_of,
)
from shoal.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.ask.options import Option, Path

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
