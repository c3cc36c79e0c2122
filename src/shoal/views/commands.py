"""Commands that Shoal prints for people to type, as data: one place knows how they are spelled."""

from __future__ import annotations

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
