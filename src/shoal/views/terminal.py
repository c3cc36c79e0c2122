"""What people type and what their terminal shows: commands as data, and text that is no order.

One place knows how commands are spelled. Names of columns and cells are whatever a stranger wrote.
A terminal takes some characters for orders (to clear the screen, to rewrite what was said, to
answer as if typed), and others turn the order of what is read around. Whatever is printed passes
through here.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from shoal.errors import spell


@dataclass(frozen=True)
class Command:
    """A command of Shoal: its name, what it is about, and its options with their values.

    Words in capitals stand for places that the reader knows and a public file must not tell.

    Examples
    --------
    >>> Command("anonymize", ("my table.csv",), (("schema", "shoal.toml"),)).words[:3]
    ('shoal', 'anonymize', 'my table.csv')
    """

    name: str
    about: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What a shell hands over."""
        return (
            "shoal",
            self.name,
            *self.about,
            *(word for one in self.options for word in _typed(one)),
        )

    @property
    def line(self) -> str:
        """The command on one line, quoted for a shell."""
        return shlex.join(self.words)

    @property
    def folded(self) -> str:
        """The command over several lines, an option and its value on each."""
        first = shlex.join(("shoal", self.name, *self.about))
        return " \\\n  ".join([first, *(shlex.join(_typed(one)) for one in self.options)])


def as_flag(name: str, value: str | None) -> str:
    """Spell an option of a sentence as it is typed in a shell."""
    words = _typed((name,) if value in {None, "True"} else (name, str(value)))
    return shlex.join(words)


def as_typed(sentence: str) -> str:
    """Spell a sentence for whoever types commands."""
    return spell(sentence, as_flag)


def _typed(option: tuple[str, ...]) -> tuple[str, ...]:
    """Return an option, its name and its values, as a shell takes it."""
    name, *values = option
    return flag(name), *values


def flag(name: str) -> str:
    """Return the name of an option as it is typed."""
    return f"--{name.replace('_', '-')}"


# Controls of both sets, and the marks that turn the direction of text or break a line.
ORDERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PICTURES = 0x2400  # the picture of control 0; the others follow
DELETE, DELETED = 0x7F, "\u2421"
UNKNOWN = "\ufffd"  # stands for what has no picture


def plain(text: str) -> str:
    r"""Return text with a picture in place of every character that a terminal would obey.

    >>> plain("age\x1b[2J")
    'age␛[2J'
    """
    return ORDERS.sub(_picture, text)


def plain_lines(text: str) -> str:
    """Do the same for text of several lines."""
    return "\n".join(map(plain, text.split("\n")))


def plain_json(text: str) -> str:
    """Return JSON that spells those characters out, and so means the same."""
    return ORDERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _picture(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < ord(" "):
        return chr(PICTURES + number)
    return DELETED if number == DELETE else UNKNOWN
