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
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask import options
from shoal.ask.ask import Ask, keys_of
from shoal.ask.options import OF_COLUMNS, options_of
from shoal.errors import InputError, UnknownColumn, UsageError, nearest
from shoal.table.databases.access import is_address, seen_from
from shoal.table.dates import check_format as check_date_format
from shoal.table.delimited import check_encoding
from shoal.table.grid import read_bounds, read_step
from shoal.table.schema import BY_COLUMN, KNOWN, Schema
from shoal.table.toml_lines import key_lines
from shoal.table.trimming import read_trim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.table.toml_lines import Path as KeyPath

ROLES = ("quasi", "sensitive", "identifying", "other", "pseudonymize", "never_mix")
TRIMS = ("round", "bottom", "top")
GRID: dict[str, Any] = {"step": read_step, "bounds": read_bounds}
SCHEMA = {one.name for one in fields(Schema)} - {"linked"}
TAKES: dict[str, Any] = {
    options.TEXT: str,
    options.NUMBER: (int, float),
    options.WHOLE: int,
    options.FLAG: bool,
}
FILE = re.compile(r"""\bfile\s*=\s*(?:'([^'\\]*)'|"([^"\\]*)")""")


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


def read_settings(path: str | Path, asks: type[Ask] = Ask) -> Settings:
    """Read a schema file, naming line and key where something is wrong with it."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
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
        self.expect((OF_COLUMNS,), columns, dict)
        self.check_roles({role: self.texts((role,), self.said.get(role, ())) for role in ROLES})
        entries = {name: self.column(name, entry) for name, entry in columns.items()}
        found = {key: self.value(key, one) for key, one in self.said.items() if key != OF_COLUMNS}
        ask = self.asks.from_said(found | {OF_COLUMNS: entries})
        return Settings(ask, self.name, self.lines)

    def value(self, key: str, value: Any) -> Any:
        """Read what is said under a key of the whole file."""
        option, path = options_of(self.asks)[self.top[key]], (key,)
        match option.kind:
            case options.NAMES | options.SEVERAL:
                texts = self.texts(path, value)
                how = self.rebased if key == "require" else self.beside if option.place else str
                return [how(text) for text in texts]
            case options.SHARE:
                if isinstance(value, bool) or not isinstance(value, str | float):
                    example = re.findall(r"\d+%", option.help)[0]
                    raise self.bad(path, f'write it as in "{example}". Got {value!r}.')
            case options.BY_NAME:
                self.expect(path, value, dict)
                return {name: self.places(name, path, one) for name, one in value.items()}
            case options.ENTRIES:
                self.expect(path, value, dict)
                for name, one in value.items():
                    self.expect((*path, name), one, (str, date))  # TOML has days of its own
                return value
            case kind:
                self.expect(path, value, TAKES[kind])
        if key == "encoding":
            with self.blaming(path):
                return check_encoding(value)
        if option.words:
            self.one_of(path, value, option.words)
        return self.beside(value) if option.place else value

    def places(self, name: str, path: KeyPath, said: Any) -> list[str]:
        """Read where a linked table is."""
        return [self.beside(one) for one in self.texts((*path, name), said)]

    @contextmanager
    def blaming(self, path: KeyPath) -> Iterator[None]:
        """Tell whatever is refused inside with the line and key."""
        try:
            yield
        except (UsageError, InputError) as problem:
            raise self.bad(path, problem.sentence) from None

    def column(self, name: str, entry: Any) -> dict[str, Any]:
        """Read what is said of one column."""
        path = (OF_COLUMNS, name)
        self.expect(path, entry, dict)
        for key in entry:
            if key in {"role", *ROLES}:
                advice = f"roles stand at the top of the file, as in quasi = [{name!r}]"
                raise self.bad((*path, key), f"there is no such key: {advice}.")
            if key not in self.of_column:
                meant = nearest(key, [*self.of_column])
                raise self.bad((*path, key), f"there is no such key{meant}")
        read = {key: self.of_one((*path, key), one) for key, one in entry.items()}
        with self.blaming(path):
            if "date_format" in entry:
                check_date_format(name, entry["date_format"])
            said = {key: entry.get(key) for key in ("bottom", "top")}
            read_trim(name, step=entry.get("round"), **said)
        return read

    def of_one(self, path: KeyPath, value: Any) -> Any:
        """Read what is said under a key of one column."""
        name, key = str(path[1]), str(path[-1])
        option = options_of(self.asks)[self.of_column[key]]
        if key == "order":
            return self.list_of_texts(path, value)
        if key == "hierarchy":
            self.expect(path, value, (str, dict, list))
            is_file = isinstance(value, str) and not value.rstrip().endswith(")")
            return self.beside(value) if is_file else value
        if key in GRID:
            with self.blaming(path):
                GRID[key](name, value)
        elif option.kind == options.NUMBERS:
            self.expect(path, value, (int, float))
            if not 0 < value < float("inf"):
                raise self.bad(path, f"must be a number above 0. Got {value!r}.")
        else:
            self.expect(path, value, (str, int, float) if key in TRIMS else str)
            if option.words:
                self.one_of(path, value, option.words)
        return value

    def check_roles(self, roles: dict[str, list[str]]) -> None:
        """Raise where a column has two roles."""
        taken: dict[str, KeyPath] = {}
        for role, names in roles.items():
            for place, name in enumerate(names):
                path: KeyPath = (role, place) if (role, place) in self.lines else (role,)
                if name in taken and {role, taken[name][0]} != {"quasi", "never_mix"}:
                    first = taken[name]
                    where = f"{first[0]} in line {self.lines[first]}"
                    raise self.bad(path, f"column {name!r} has two roles, the other is {where}.")
                taken[name] = path

    def texts(self, path: KeyPath, value: Any) -> list[str]:
        return [value] if isinstance(value, str) else self.list_of_texts(path, value)

    def list_of_texts(self, path: KeyPath, value: Any) -> list[str]:
        if not isinstance(value, list | tuple):
            raise self.bad(path, f"must be a list of strings. Got {value!r}.")
        for place, item in enumerate(value):
            if not isinstance(item, str):
                raise self.bad((*path, place), f"must be a list of strings. Got {item!r}.")
        return list(value)

    def expect(self, path: KeyPath, value: Any, kind: Any) -> None:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if isinstance(value, bool) != (bool in kinds) or not isinstance(value, kinds):
            words = {str: "a string", dict: "a table", list: "a list", bool: "true or false"}
            wanted = dict.fromkeys(words.get(one, "a number") for one in kinds)
            raise self.bad(path, f"must be {' or '.join(wanted)}. Got {value!r}.")

    def one_of(self, path: KeyPath, value: str, words: Sequence[str]) -> None:
        if value not in words:
            raise self.bad(path, f"cannot be {value!r}{nearest(value, words)}")

    def meant(self, key: str) -> str:
        """Close a sentence about an unknown key with the nearest one, even one of columns."""
        if difflib.get_close_matches(key, self.of_column, n=1, cutoff=0.8):
            return ". What is said of a column stands under [columns.NAME]."
        return nearest(key, [*self.top, OF_COLUMNS])

    def beside(self, path: str) -> str:
        """Return a path of the file as seen from here."""
        if is_address(path):
            return seen_from(path, self.folder)
        return path if "://" in path or path == "-" else str(self.folder / path)

    def rebased(self, notation: str) -> str:
        """Return a term whose files are sought beside the schema file."""
        return FILE.sub(
            lambda found: f"file={str(self.folder / (found[1] or found[2] or ''))!r}", notation
        )

    def bad(self, path: KeyPath, problem: str) -> BadSettings:
        return _bad(self.name, self.lines, path, problem)
