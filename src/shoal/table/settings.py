"""The schema file: table, roles, types, requirement, method and output of a run, in TOML.

It holds what is worth committing. Seeds, keys and the linkage are not among it: they belong to one
run and one person. Paths in it are relative to the file. Whatever is wrong with it is told with
line and key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask.ask import Ask, keys_of
from shoal.ask.options import OF_COLUMNS, Fault, options_of, roles_of
from shoal.errors import InputError, UnknownColumn, UsageError, nearest
from shoal.table.databases.access import is_address, seen_from
from shoal.table.dates import check_format as check_date_format
from shoal.table.delimited import check_encoding
from shoal.table.forms import KNOWN
from shoal.table.grid import read_bounds, read_step
from shoal.table.schema import BY_COLUMN, Schema
from shoal.table.trimming import read_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shoal.table.toml_lines import Path as KeyPath

ROLES = roles_of(Ask)
GRIDS: dict[str, Callable[[str, object], object]] = {"step": read_step, "bounds": read_bounds}
SCHEMA = {one.name for one in fields(Schema)} - {"linked"}


class BadSettings(InputError):
    """Something wrong with a schema file: which file, line and key."""

    def __init__(self, file: str, line: int | None, key: str, problem: str) -> None:
        self.file, self.line, self.key = file, line, key
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}, {key}: {problem}" if key else f"{place}: {problem}")


@dataclass(frozen=True)
class Settings:
    """What a schema file asks for, and in which lines; any option overrules it."""

    ask: Ask = field(default_factory=Ask)
    file: str = ""
    lines: dict[KeyPath, int] = field(default_factory=dict, repr=False)

    @contextmanager
    def blame(self, *path: str | int) -> Iterator[None]:
        """Tell whatever is refused inside with the line and key that it comes from."""
        try:
            yield
        except (UsageError, InputError) as problem:
            if path not in self.lines or isinstance(problem, BadSettings):
                raise
            raise _bad(self.file, self.lines, path, problem.sentence) from None

    def check_columns(
        self, columns: Sequence[str], roles: Sequence[str] = ROLES, linked: Sequence[str] = ()
    ) -> None:
        """Raise where the file names a column that the table does not have, in some roles.

        Columns that begin with one of `linked` are those of linked tables.
        """
        named: list[tuple[KeyPath, str]] = [
            ((role, place) if (role, place) in self.lines else (role,), name)
            for role in roles
            for place, name in enumerate(getattr(self.ask, role))
        ]
        named += [(("columns", name), name) for name in self.columns]
        for path, name in named:
            if name not in columns and not name.startswith(tuple(linked)):
                raise _bad(self.file, self.lines, path, str(UnknownColumn(name, columns)))

    def schema(self, **options: Any) -> Schema:
        """Return the schema of the file, overruled by options named as its parameters are."""
        known = [name for name in options_of(type(self.ask)) if name in SCHEMA]
        for name in options:
            if name not in known:
                msg = f"There is no option {name!r}{nearest(name, known)}"
                raise UsageError(msg)
        said = {name: options.get(name, getattr(self.ask, name)) for name in known}
        chosen = Schema(**{name: said[name] for name in (*ROLES, "survey_weight")})
        used = (*chosen.published, *chosen.identifying, *chosen.pseudonymize)
        for name in BY_COLUMN:
            roles = options_of(Ask)[name].roles
            among = [one for role in roles for one in getattr(chosen, role)] if roles else used
            entries = getattr(self.ask, name).items()
            kept = {column: one for column, one in entries if column in among}
            said[name] = kept | dict(options.get(name) or {})
        if options.get("nobody_knows") is None:
            # Of columns that options left out nothing has to be said.
            had = {name for role in ROLES for name in getattr(self.ask, role)}
            left = had.difference(chosen.published)
            said["nobody_knows"] = [one for one in said["nobody_knows"] if one not in left]
        return Schema(**said | {"rows": said["rows"] or KNOWN})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have a table of their own in the file."""
        return tuple(str(path[1]) for path in self.lines if path[0] == "columns" and len(path) == 2)


def _bad(file: str, lines: dict[KeyPath, int], path: KeyPath, problem: str) -> BadSettings:
    shown = ".".join(_shown(part) for part in path if isinstance(part, str))
    return BadSettings(file, lines.get(path), shown, problem)


def _shown(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'


def faults_of(ask: Ask) -> Iterator[Fault]:
    """Yield what the cells of no table could be: encodings, formats of dates, thresholds, grids."""
    if ask.encoding is not None:
        yield from _fault("encoding", ask.encoding, (), check_encoding, ask.encoding)
    for name, said in ask.date_formats.items():
        yield from _fault("date_formats", said, (name,), check_date_format, name, said)
    for name, step in ask.round.items():
        yield from _fault("round", step, (name,), partial(read_trim, name, step=step))
    for name in dict.fromkeys((*ask.bottom, *ask.top)):
        ends = {"bottom": ask.bottom.get(name), "top": ask.top.get(name)}
        last = "bottom" if ends["top"] is None else "top"
        yield from _fault(last, ends[last], (name,), partial(read_trim, name, **ends))
    for key, read in GRIDS.items():
        for name, one in getattr(ask, key).items():
            yield from _fault(key, one, (name,), read, name, one)


def _fault(
    name: str, value: object, of: KeyPath, check: Callable[..., object], *said: object
) -> Iterator[Fault]:
    """Yield what a check refuses."""
    try:
        check(*said)
    except (UsageError, InputError) as problem:
        yield Fault(name, value, problem.sentence, of)


def read_settings(path: str | Path, asks: type[Ask] = Ask, text: str | None = None) -> Settings:
    """Read a schema file, naming line and key where something is wrong with it.

    `text` is what it says, where there is no such file yet.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig") if text is None else text
        said = tomllib.loads(text)
    except OSError as problem:
        msg = f"Cannot read the schema file {path.name!r}: {problem.strerror}."
        raise InputError(msg) from None
    except ValueError as problem:  # no TOML, no UTF-8, or a number of too many digits
        msg = f"The schema file {path.name!r} is not TOML: {problem}."
        raise InputError(msg) from None
    except RecursionError:
        msg = f"The schema file {path.name!r} nests too deeply to be read."
        raise InputError(msg) from None
    from shoal.table.toml_lines import key_lines

    return _Reader(path, said, key_lines(text), asks).settings()


class _Reader:
    def __init__(
        self, path: Path, said: dict[str, Any], lines: dict[KeyPath, int], asks: type[Ask]
    ) -> None:
        self.name = path.name
        self.folder = path.parent
        self.said = said
        self.lines = lines
        self.asks = asks
        self.top, self.of_column = keys_of(asks), keys_of(asks, OF_COLUMNS)

    def settings(self) -> Settings:
        for key in self.said:
            if key not in self.top and key != OF_COLUMNS:
                raise self.bad((key,), f"there is no such key{self.meant(key)}")
        columns = self.said.get(OF_COLUMNS, {})
        self.expect_table((OF_COLUMNS,), columns)
        for name, entries in columns.items():
            self.check_keys((OF_COLUMNS, name), entries)
        ask = self.asks.from_said(self.said)
        for problem in (*ask.check(), *faults_of(ask)):
            raise self.blamed(problem)
        return Settings(ask.moved(self.beside), self.name, self.lines)

    def blamed(self, problem: Fault) -> BadSettings:
        """Return a problem as an error that names line and key."""
        path = problem.path(options_of(self.asks)[problem.field])
        while path not in self.lines and len(path) > 1:
            path = path[:-1]
        if not problem.also:
            return self.bad(path, problem.why)
        other = problem.also if problem.also in self.lines else problem.also[:1]
        return self.bad(path, f"{problem.why} in line {self.lines[other]}.")

    def check_keys(self, path: KeyPath, entries: dict[str, object]) -> None:
        """Raise where something is said of a column under a key that there is not."""
        self.expect_table(path, entries)
        for key in entries:
            if key in {"role", *roles_of(self.asks)}:
                advice = f"put roles at the top of the file, for example quasi = [{path[1]!r}]"
                raise self.bad((*path, key), f"there is no such key: {advice}.")
            if key not in self.of_column:
                meant = nearest(key, [*self.of_column])
                raise self.bad((*path, key), f"there is no such key{meant}")

    def expect_table(self, path: KeyPath, value: object) -> None:
        if not isinstance(value, dict):
            raise self.bad(path, f"must be a table. Got {value!r}.")

    def meant(self, key: str) -> str:
        """Close a sentence about an unknown key with the nearest one, even one of columns."""
        if difflib.get_close_matches(key, self.of_column, n=1, cutoff=0.8):
            return ". Put settings of a column under [columns.NAME]."
        return nearest(key, [*self.top, OF_COLUMNS])

    def beside(self, path: str) -> str:
        """Return a path of the file as seen from here."""
        if is_address(path):
            return seen_from(path, self.folder)
        return path if "://" in path or path == "-" else str(self.folder / path)

    def bad(self, path: KeyPath, problem: str) -> BadSettings:
        return _bad(self.name, self.lines, path, problem)
