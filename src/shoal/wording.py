"""Options in sentences, as data: each view spells them as its user would say them.

The command line writes a flag, Python an argument (`suppress='1%'`), and the page makes a button.
"""

from __future__ import annotations

import re
from collections.abc import Callable

OPEN, PART, CLOSE = "\ue000", "\ue001", "\ue002"  # of a private area: no text has them by chance
MARKED = re.compile(f"{OPEN}([a-z_]+)(?:{PART}([^{CLOSE}]*))?{CLOSE}")

Spelling = Callable[[str, str | None], str]


def option(name: str, value: object = None) -> str:
    """Name an option in a sentence, with a value where one is proposed.

    Examples
    --------
    >>> spell(f"Ask for less, or let {option('suppress', '1%')} leave out rows.")
    "Ask for less, or let suppress='1%' leave out rows."
    """
    said = "" if value is None else f"{PART}{value}"
    return f"{OPEN}{name}{said}{CLOSE}"


def in_python(name: str, value: str | None) -> str:
    """Spell an option as an argument of a call."""
    if value is None:
        return f"`{name}`"
    return f"{name}=True" if value == "True" else f"{name}={value!r}"


def spell(sentence: str, how: Spelling = in_python) -> str:
    """Return a sentence with its options spelled for whoever reads it."""
    return MARKED.sub(lambda found: how(found[1], found[2]), sentence)


def named_options(sentence: str) -> tuple[tuple[str, str | None], ...]:
    """Return the options that a sentence names, with what it proposes for them."""
    return tuple((found[1], found[2]) for found in MARKED.finditer(sentence))
