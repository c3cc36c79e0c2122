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
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from shoal.errors import InputError, UnknownColumn, UsageError, nearest
from shoal.table.databases.access import is_address, seen_from
from shoal.table.dates import check_format as check_date_format
from shoal.table.delimited import check_encoding
from shoal.table.forms import FORMS
from shoal.table.grid import KINDS_OF_CELLS, read_bounds, read_step
from shoal.table.missing import Missing
from shoal.table.schema import CELLS, KINDS, KNOWN, UNKNOWN, Schema
from shoal.table.toml_lines import key_lines
from shoal.table.trimming import read_trim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.table.toml_lines import Path as KeyPath

ROLES = ("quasi", "sensitive", "identifying", "other", "pseudonymize", "never_mix")
TEXTS = ("table", *ROLES, "require")  # one string or several
TOP = (
    *TEXTS,
    "method",
    "output",
    "format",
    "missing",
    "survey_weight",
    "nobody_knows",
    "decimal",
    "encoding",
    "suppress",
    "seconds",
    "escape_formulas",
    "title",
    "context",
    "withhold_counts",
    "hold_out",
    "hold_out_file",
    "odds",
    "history",
    "ledger",
    "batch",
    "least_real",
    "form",
    "cells",
    "keep_other",
    "person",
    "most_rows",
    "rows",
    "linked",
    "columns",
)
TRIMS = ("round", "bottom", "top")
GRID = ("step", "bounds")
COLUMN = ("type", "order", "hierarchy", "weight", "date_format", *TRIMS, *GRID, "near", "missing")
FILE = re.compile(r"""\bfile\s*=\s*(?:'([^'\\]*)'|"([^"\\]*)")""")


class BadSettings(InputError):
    """Something wrong with a schema file: which file, line and key."""

    def __init__(self, file: str, line: int | None, key: str, problem: str) -> None:
        self.file, self.line, self.key = file, line, key
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}, {key}: {problem}" if key else f"{place}: {problem}")


def is_said(value: object) -> bool:
    """Return whether an option says anything: None, False and an empty list of things do not."""
    empty = isinstance(value, list | tuple | dict) and not value
    return not (value is None or value is False or empty)


@dataclass(frozen=True)
class Settings:
    """What a schema file says; any option overrules it."""

    table: list[str] = field(default_factory=list)
    roles: dict[str, list[str]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    hierarchies: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    date_formats: dict[str, str] = field(default_factory=dict)
    round: dict[str, Any] = field(default_factory=dict)
    bottom: dict[str, Any] = field(default_factory=dict)
    top: dict[str, Any] = field(default_factory=dict)
    step: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, Any] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    missing_cells: dict[str, str] = field(default_factory=dict)
    survey_weight: str | None = None
    nobody_knows: list[str] = field(default_factory=list)
    require: list[str] = field(default_factory=list)
    method: str | None = None
    output: str | None = None
    format: str | None = None
    missing: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    suppress: str | float | None = None
    seconds: float | None = None
    escape_formulas: bool = False
    title: str | None = None
    context: dict[str, str] = field(default_factory=dict)
    withhold_counts: bool = False
    hold_out: str | float | None = None
    hold_out_file: str | None = None
    odds: float | None = None
    history: str | None = None
    ledger: str | None = None
    batch: int | None = None
    least_real: int | None = None
    form: str | None = None
    cells: str | None = None
    keep_other: bool = False
    person: str | None = None
    most_rows: int | None = None
    rows: str | None = None
    linked: dict[str, list[str]] = field(default_factory=dict)
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
            for place, name in enumerate(self.roles.get(role, []))
        ]
        named += [(("columns", name), name) for name in self.columns]
        for path, name in named:
            if name not in columns and not name.startswith(tuple(linked)):
                raise _bad(self.file, self.lines, path, str(UnknownColumn(name, columns)))

    def schema(
        self,
        *,
        decimal: str | None = None,
        person: str | None = None,
        most_rows: int | None = None,
        rows: str | None = None,
        **options: Any,
    ) -> Schema:
        """Return the schema of the file, overruled by options named as its parameters are."""
        roles = {role: options.pop(role, None) or self.roles.get(role, []) for role in ROLES}
        weight = options.pop("survey_weight", None) or self.survey_weight
        unknown = options.pop("nobody_knows", None)
        chosen = Schema(**roles, survey_weight=weight)  # type: ignore[arg-type]
        used = (*chosen.published, *chosen.identifying, *chosen.pseudonymize)
        entries = {
            name: {column: said for column, said in getattr(self, name).items() if column in among}
            for name, among in (
                ("types", used),
                ("order", used),
                ("hierarchies", chosen.quasi),
                ("weights", chosen.quasi),
                *((name, chosen.published) for name in CELLS[:4]),
                *((name, chosen.quasi) for name in GRID),
                ("near", (*chosen.sensitive, *chosen.other)),
                ("missing_cells", (*chosen.quasi, *chosen.sensitive)),
            )
        }
        for name in options:
            if name not in entries:
                known = (*ROLES, *entries, "person", "most_rows", "rows")
                msg = f"There is no option {name!r}{nearest(name, known)}"
                raise UsageError(msg)
        if unknown is None:  # of columns that options left out nothing has to be said
            had = {name for names in self.roles.values() for name in names}
            left = had.difference(chosen.published)
            unknown = [name for name in self.nobody_knows if name not in left]
        merged = {name: said | dict(options.get(name) or {}) for name, said in entries.items()}
        return Schema(
            **roles,  # type: ignore[arg-type]
            **merged,
            survey_weight=weight,
            nobody_knows=unknown,
            decimal=decimal or self.decimal,
            person=person or self.person,
            most_rows=self.most_rows if most_rows is None else most_rows,
            rows=rows or self.rows or KNOWN,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have a table of their own in the file."""
        return tuple(str(path[1]) for path in self.lines if path[0] == "columns" and len(path) == 2)


def _bad(file: str, lines: dict[KeyPath, int], path: KeyPath, problem: str) -> BadSettings:
    shown = ".".join(_shown(part) for part in path if isinstance(part, str))
    return BadSettings(file, lines.get(path), shown, problem)


def _shown(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'


def read_settings(path: str | Path) -> Settings:
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
    return _Reader(path, said, key_lines(text)).settings()


class _Reader:
    def __init__(self, path: Path, said: dict[str, Any], lines: dict[KeyPath, int]) -> None:
        self.name = path.name
        self.folder = path.parent
        self.said = said
        self.lines = lines

    def settings(self) -> Settings:
        for key in self.said:
            if key not in TOP:
                raise self.bad((key,), f"there is no such key{self.meant(key)}")
        columns = self.take("columns", dict, {})
        roles = {role: self.texts(role) for role in ROLES if role in self.said}
        self.check_roles(roles)
        entries = {name: self.column(name, entry) for name, entry in columns.items()}

        def said_of(key: str) -> dict[str, Any]:
            return {name: entry[key] for name, entry in entries.items() if key in entry}

        seconds = self.take("seconds", (int, float), None)
        output, history, ledger, held = (
            self.take(key, str, None) for key in ("output", "history", "ledger", "hold_out_file")
        )
        return Settings(
            table=[self.beside(one) for one in self.texts("table")],
            roles=roles,
            types=said_of("type"),
            order=said_of("order"),
            hierarchies=said_of("hierarchy"),
            weights=said_of("weight"),
            date_formats=said_of("date_format"),
            round=said_of("round"),
            bottom=said_of("bottom"),
            top=said_of("top"),
            step=said_of("step"),
            bounds=said_of("bounds"),
            near=said_of("near"),
            missing_cells=said_of("missing"),
            survey_weight=self.take("survey_weight", str, None),
            nobody_knows=self.texts("nobody_knows"),
            require=[self.rebased(one) for one in self.texts("require")],
            method=self.take("method", str, None),
            output=None if output is None else self.beside(output),
            format=self.take("format", str, None),
            missing=self.one_of(("missing",), self.take("missing", str, None), get_args(Missing)),
            decimal=self.one_of(("decimal",), self.take("decimal", str, None), (".", ",")),
            encoding=self.encoding(),
            suppress=self.share("suppress", "1%"),
            seconds=seconds,
            escape_formulas=self.take("escape_formulas", bool, None) is True,
            title=self.take("title", str, None),
            context=self.context(),
            withhold_counts=self.take("withhold_counts", bool, None) is True,
            hold_out=self.share("hold_out", "5%"),
            hold_out_file=None if held is None else self.beside(held),
            odds=self.take("odds", (int, float), None),
            history=None if history is None else self.beside(history),
            ledger=None if ledger is None else self.beside(ledger),
            batch=self.take("batch", int, None),
            least_real=self.take("least_real", int, None),
            form=self.one_of(("form",), self.take("form", str, None), FORMS),
            cells=self.one_of(("cells",), self.take("cells", str, None), KINDS_OF_CELLS),
            keep_other=self.take("keep_other", bool, None) is True,
            person=self.take("person", str, None),
            most_rows=self.take("most_rows", int, None),
            rows=self.one_of(("rows",), self.take("rows", str, None), (KNOWN, UNKNOWN)),
            linked=self.linked(),
            file=self.name,
            lines=self.lines,
        )

    def share(self, key: str, example: str) -> str | float | None:
        """Read a share of the table."""
        said = self.said.get(key)
        if said is not None and not isinstance(said, str | float):
            raise self.bad((key,), f'write it as in "{example}". Got {said!r}.')
        return said

    def linked(self) -> dict[str, list[str]]:
        """Read where linked tables are."""
        found = {}
        for name, said in self.take("linked", dict, {}).items():
            places = [said] if isinstance(said, str) else self.list_of_texts(("linked", name), said)
            found[name] = [self.beside(one) for one in places]
        return found

    def context(self) -> dict[str, str]:
        """Read who publishes a release, and why."""
        found = {}
        for name, said in self.take("context", dict, {}).items():
            self.expect(("context", name), said, (str, date))  # TOML has days of its own
            found[name] = str(said)
        return found

    def encoding(self) -> str | None:
        """Read the encoding of the table."""
        said = self.take("encoding", str, None)
        try:
            return None if said is None else check_encoding(said)
        except UsageError as problem:
            raise self.bad(("encoding",), problem.sentence) from None

    def column(self, name: str, entry: Any) -> dict[str, Any]:
        """Read what is said of one column."""
        path = ("columns", name)
        self.expect(path, entry, dict)
        for key in entry:
            if key in {"role", *ROLES}:
                advice = f"roles stand at the top of the file, as in quasi = [{name!r}]"
                raise self.bad((*path, key), f"there is no such key: {advice}.")
            if key not in COLUMN:
                raise self.bad((*path, key), f"there is no such key{nearest(key, COLUMN)}")
        read: dict[str, Any] = {}
        if "type" in entry:
            place = (*path, "type")
            self.expect(place, entry["type"], str)
            read["type"] = self.one_of(place, entry["type"], KINDS)
        if "order" in entry:
            read["order"] = self.list_of_texts((*path, "order"), entry["order"])
        if "hierarchy" in entry:
            self.expect((*path, "hierarchy"), entry["hierarchy"], (str, dict, list))
            hierarchy = entry["hierarchy"]
            is_file = isinstance(hierarchy, str) and not hierarchy.rstrip().endswith(")")
            read["hierarchy"] = self.beside(hierarchy) if is_file else hierarchy
        for key in ("weight", "near"):
            if key in entry:
                self.expect((*path, key), entry[key], (int, float))
                if not 0 < entry[key] < float("inf"):
                    raise self.bad((*path, key), f"must be a number above 0. Got {entry[key]!r}.")
                read[key] = entry[key]
        return read | self.cells(path, entry)

    def cells(self, path: KeyPath, entry: dict[str, Any]) -> dict[str, Any]:
        """Read what is said of the cells of one column: their writing, their ends, missing ones."""
        for key in ("date_format", *TRIMS, "missing"):
            if key in entry:
                self.expect((*path, key), entry[key], (str, int, float) if key in TRIMS else str)
        try:
            if "date_format" in entry:
                check_date_format(str(path[1]), entry["date_format"])
            said = {key: entry.get(key) for key in ("bottom", "top")}
            read_trim(str(path[1]), step=entry.get("round"), **said)
        except (UsageError, InputError) as problem:
            raise self.bad(path, problem.sentence) from None
        if "missing" in entry:
            self.one_of((*path, "missing"), entry["missing"], get_args(Missing))
        kept = ("date_format", *TRIMS, "missing")
        return {key: entry[key] for key in kept if key in entry} | self.grid(path, entry)

    def grid(self, path: KeyPath, entry: dict[str, Any]) -> dict[str, Any]:
        """Read at which points one column may be cut, and between which."""
        for key, read in (("step", read_step), ("bounds", read_bounds)):
            try:
                if key in entry:
                    read(str(path[1]), entry[key])
            except UsageError as problem:
                raise self.bad((*path, key), problem.sentence) from None
        return {key: entry[key] for key in GRID if key in entry}

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

    def take(self, key: str, kind: Any, default: Any) -> Any:
        if key not in self.said:
            return default
        self.expect((key,), self.said[key], kind)
        return self.said[key]

    def texts(self, key: str) -> list[str]:
        value = self.said.get(key, [])
        return [value] if isinstance(value, str) else self.list_of_texts((key,), value)

    def list_of_texts(self, path: KeyPath, value: Any) -> list[str]:
        if not isinstance(value, list):
            raise self.bad(path, f"must be a list of strings. Got {value!r}.")
        for place, item in enumerate(value):
            if not isinstance(item, str):
                raise self.bad((*path, place), f"must be a list of strings. Got {item!r}.")
        return value

    def expect(self, path: KeyPath, value: Any, kind: Any) -> None:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if isinstance(value, bool) != (bool in kinds) or not isinstance(value, kinds):
            words = {str: "a string", dict: "a table", list: "a list", bool: "true or false"}
            wanted = dict.fromkeys(words.get(one, "a number") for one in kinds)
            raise self.bad(path, f"must be {' or '.join(wanted)}. Got {value!r}.")

    def one_of(self, path: KeyPath, value: str | None, words: Sequence[str]) -> str | None:
        if value is not None and value not in words:
            raise self.bad(path, f"cannot be {value!r}{nearest(value, words)}")
        return value

    def meant(self, key: str) -> str:
        """Close a sentence about an unknown key with the nearest one, even one of columns."""
        if key in COLUMN or difflib.get_close_matches(key, COLUMN, n=1, cutoff=0.8):
            return ". What is said of a column stands under [columns.NAME]."
        return nearest(key, TOP)

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
