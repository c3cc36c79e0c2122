"""What was asked: one dataclass, from whose fields every other form of it is made.

The options of commands with their help, the keys of schema files, the fields of a run, what a
manifest says was asked, what a ledger fixes, what Spark refuses, and the command that repeats a run
follow from what is said of each field here: a new option is one field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from shoal.ask.options import (
    BY_NAME,
    COLUMNS,
    ENTRIES,
    FLAG,
    HOLDS,
    LOOKING,
    NAMES,
    NUMBER,
    NUMBERS,
    OF_COLUMNS,
    READING,
    RUNNING,
    SEVERAL,
    SHARE,
    WHOLE,
    WRITING,
    asked,
    flags_of,
    is_said,
    options_of,
)
from shoal.ask.toml import written
from shoal.ask.usual import THRESHOLD
from shoal.errors import UsageError, nearest
from shoal.errors import option as named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from shoal.ask.options import Flag
    from shoal.engines.base import Engine
    from shoal.methods.base import Method
    from shoal.principles.requirement import Require
    from shoal.table.missing import Missing

TEXTS, DATE = "TEXT", "DATE"
CONTEXT = {  # what may be said of who publishes a release and why, and what pages call it
    "institution": (TEXTS, "Who publishes it; public, on report and certificate.", "Institution"),
    "purpose": (TEXTS, "Why it is published; public.", "Purpose"),
    "recipients": (TEXTS, "Who may read it; public.", "Recipients"),
    "legal_basis": (TEXTS, "On which legal basis it is published; public.", "Legal basis"),
    "review_date": (DATE, "When it is reviewed, for example 2027-01-31; public.", "Date of review"),
}
PUBLISHED = ("quasi", "sensitive", "other")
POLICIES = ("error", "drop", "value")
TYPES = (
    *("numeric", "latitude", "longitude", "date"),
    *("categorical", "code", "boolean", "ordered"),
)


def of_column(*words: str, key: str, kind: str = BY_NAME, **known: Any) -> Any:
    """Return a field of what is said of single columns; its option is called as its key is."""
    return asked(*words, kind=kind, key=key, within=OF_COLUMNS, **{"name": key} | known)


# fmt: off
@dataclass(frozen=True, kw_only=True, eq=False)
class AboutFiles:
    """Where it is: a table, what is asked of it, and a secret."""

    table: tuple[str, ...] = asked(kind=SEVERAL, place=True, public=False)
    schema: str | None = asked(
        "TOML file with all of this; shoal init writes one.", COLUMNS, "FILE",
        key=None, public="SCHEMA",
    )
    key_file: str | None = asked(
        f"Secret for {named('pseudonymize')}; SHOAL_KEY in the environment else.", COLUMNS, "FILE",
        key=None, public="KEY",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AboutColumns:
    """What is asked of columns; a `Schema` has the same."""

    quasi: tuple[str, ...] = asked(
        "Columns that could single a person out, as a,b,c.", COLUMNS, "COLUMNS",
        kind=NAMES, fixed="quasi", page="Generalize {}",
    )
    sensitive: tuple[str, ...] = asked(
        "Columns to protect, as a,b.", COLUMNS, "COLUMNS",
        kind=NAMES, fixed="sensitive", page_name="“Protect it”",
    )
    identifying: tuple[str, ...] = asked(
        "Columns that name a person; dropped.", COLUMNS, "COLUMNS",
        kind=NAMES, public=False, page="Leave {} out",
    )
    pseudonymize: tuple[str, ...] = asked(
        "Columns that name a person; published as keyed hashes.", COLUMNS, "COLUMNS",
        kind=NAMES, fixed="pseudonymize", needs="key_file",
    )
    other: tuple[str, ...] = asked(
        "Columns to publish unchanged.", COLUMNS, "COLUMNS", kind=NAMES, fixed="other"
    )
    nobody_knows: tuple[str, ...] = asked(
        "Published columns of which you state that no reader knows them.", COLUMNS, "COLUMNS",
        kind=NAMES, page="State that no reader knows {} of a person",
    )
    person: str | None = asked(
        "Column that says whom a row is about; people are counted, not rows.", COLUMNS, "COLUMN",
        public="COLUMN", fixed="person", page="{} marks one person’s rows",
    )
    most_rows: int | None = asked(
        "Rows of one person to publish at most, drawn at random.", COLUMNS, "NUMBER",
        kind=WHOLE, page="Publish at most {} rows per person",
    )
    rows: str | None = asked(
        "Whether a reader may know how many rows a person has: known or unknown.",
        COLUMNS, "known|unknown", words=("known", "unknown"), usual="known",
        page={"unknown": "Readers do not know how many rows a person has"},
    )
    linked: Mapping[str, Any] = asked(
        "A second table about the same people, as visits=FILE; its columns are named "
        "visits.COLUMN. Repeatable.", COLUMNS, "NAME=FILE", kind=BY_NAME, place=True,
        not_on_spark="Everybody's rows of both tables would have to be beside one another",
    )
    never_mix: tuple[str, ...] = asked(
        "Quasi columns of which no group holds two values, as sex,state.", COLUMNS, "COLUMNS",
        kind=NAMES, fixed="never_mix",
    )
    survey_weight: str | None = asked(
        "Column of survey weights; published as the mean of each group.", COLUMNS, "COLUMN"
    )
    types: Mapping[str, str] = of_column(
        "What a column holds, as zip=code. Repeatable.", COLUMNS, "COLUMN=TYPE",
        key="type", words=TYPES, page="Read {}",
    )
    order: Mapping[str, Any] = of_column(key="order", fixed="order")
    hierarchies: Mapping[str, Any] = of_column(
        "As zip=zip.csv or 'zip=Prefix()'. Repeatable.", COLUMNS, "COLUMN=TREE",
        key="hierarchy", roles=("quasi",), fixed="hierarchies",
    )
    weights: Mapping[str, float] = of_column(
        "How much a column's loss counts, as age=2. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="weight", roles=("quasi",), kind=NUMBERS,
    )
    decimal: str | None = asked(
        "Decimal sign of numbers such as 1.234,56: ',' or '.'.", COLUMNS, "SIGN",
        words=(".", ","), fixed="decimal", page="Decimal sign: {}",
    )
    date_formats: Mapping[str, str] = of_column(
        "How dates are written, as born=dd/mm/yyyy. Repeatable.", COLUMNS, "COLUMN=FORMAT",
        key="date_format", roles=PUBLISHED, page="Read dates: {}",
    )
    round: Mapping[str, Any] = of_column(
        "Round numbers before all else, as charges=100. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="round", roles=PUBLISHED, page="Round {}",
    )
    bottom: Mapping[str, Any] = of_column(
        "Cut numbers off below, as age=18 or age=1%. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="bottom", roles=PUBLISHED,
    )
    top: Mapping[str, Any] = of_column(
        "Cut numbers off above, as charges=99%. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="top", roles=PUBLISHED,
    )
    step: Mapping[str, Any] = of_column(key="step", roles=("quasi",))
    bounds: Mapping[str, Any] = of_column(key="bounds", roles=("quasi",))
    near: Mapping[str, float] = of_column(key="near", kind=NUMBERS, roles=("sensitive", "other"))
    missing_cells: Mapping[str, str] = of_column(
        key="missing", name="missing_cells", shares="missing", words=POLICIES,
        roles=("quasi", "sensitive"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AboutRun:
    """What else is asked; a `Run` has the same."""

    missing: Missing = asked(
        "Missing cells: error, drop or value; of one column as age=value. Repeatable.",
        COLUMNS, "POLICY", words=POLICIES, usual="error",
        page={"drop": "Leave these rows out", "value": "Keep these rows"},
        page_name="what to do with rows that have missing values",
    )
    require: Require | Iterable[Require] = asked(
        "What must hold, as 'EpsilonM(epsilon=4500, m=5)'. Repeatable.", HOLDS, "PRINCIPLE",
        kind=SEVERAL, apart=True, fixed="require",
    )
    method: Method | str | None = asked(
        "How to search, as 'Exchange()' or 'Split()'.", HOLDS, "METHOD", page="Search by {}"
    )
    suppress: str | float | None = asked(
        "Rows that may be left out where that helps, as 1%.", HOLDS, "SHARE", kind=SHARE,
        page="Let Shoal remove up to {} of the rows", page_name="“Rows that Shoal may remove”",
    )
    population: Any = asked(
        "Table of everybody who could be in the table, for KMap, DeltaPresence.", HOLDS, "TABLE",
        key=None, public="PEOPLE",
        not_on_spark="A population would have to be beside every worker",
    )
    seconds: float | None = asked(
        "Time for the search; what is left of it is spent on losing less.", HOLDS, "NUMBER",
        kind=NUMBER, not_on_spark="How long each worker takes is not known to the others",
    )
    engine: Engine | str | None = asked(
        "Where to work, as 'Local(shard=500000)' or 'Spark()'; this machine else.",
        RUNNING, "ENGINE", key=None,
    )
    query: str | None = asked(
        "What to read from a database, as 'select * from people'.", READING, "SQL",
        key=None, public=False, not_on_spark="Spark reads files",
    )
    sheet: str | None = asked(
        "Sheet of an Excel file; the first by default.", READING, "NAME",
        key=None, public=False, not_on_spark="Spark reads Parquet and text",
    )
    delimiter: str | None = asked(
        "What parts cells of text: , ; or tab. The header tells else.", READING, "SIGN",
        key=None, page="Column separator: {}", page_name="the column separator",
    )
    encoding: str | None = asked(
        "Of text, as latin-1, cp1252 or utf-16; UTF-8 by default.", READING, "NAME",
        page="Encoding: {}", page_name="the encoding",
    )
    output: str | Path | None = asked(
        "Directory to make; or the table alone: - for standard output, or "
        "sqlite:///people.db?table=published.", WRITING, "PLACE",
        short="-o", place=True, public=False, page_name="the place",
    )
    form: str = asked(
        "How quasi values are spelled: intervals (default), bounds, means or two-tables.",
        WRITING, "FORM", words=("intervals", "bounds", "means", "two-tables"), usual="intervals",
        apart=True, fixed="form", page="Write cells as {}",
    )
    cells: str = asked(
        "What a cell spans: tight (its own group, the default) or regions (public cuts).",
        WRITING, "KIND", words=("tight", "regions"), usual="tight",
    )
    keep_other: bool = asked(
        "Keep other columns in two tables.", WRITING, kind=FLAG,
        page="Publish the unchanged columns all the same",
    )
    format: str | None = asked(
        "csv (default), tsv, jsonl, each also .gz or .zst; parquet, feather, xlsx.",
        WRITING, "FORMAT", fixed="format",
    )
    force: bool = asked(
        "Replace an existing release.", WRITING, kind=FLAG, key=None, public=False,
        page_name="replacing it",
    )
    escape_formulas: bool = asked(
        "Defuse cells a spreadsheet would run.", WRITING, kind=FLAG, fixed="escaped",
        page="Defuse cells that a spreadsheet would run",
        not_on_spark="No spreadsheet opens part files",
    )
    title: str | None = asked(
        "What the release is called, in manifest and report.", WRITING, TEXTS, apart=True
    )
    context: Mapping[str, str] = asked("", WRITING, kind=ENTRIES, entries=CONTEXT, apart=True)
    withhold_counts: bool = asked("Do not publish how many rows were left out.", WRITING, kind=FLAG)
    threshold: float | str = asked(
        "Risk of being found that the report compares with, as 0.2 or 1/11.", WRITING, "NUMBER",
        key=None, usual=THRESHOLD, shown=True, apart=True,
    )
    trials: bool = asked(
        f"With {named('owner_report')}: what other methods and parameters would lose.", WRITING,
        kind=FLAG, key=None, public=False, not_on_spark="Nobody holds the rows that would be tried",
    )
    owner_report: str | Path | None = asked(
        "Private HTML file: the table before, riskiest groups, what was lost.", WRITING, "FILE",
        key=None, public=False, private="The owner's report",
        not_on_spark="Nobody holds the rows that it would show",
    )
    linkage: str | Path | None = asked(
        "Private file that maps input rows to published rows.", WRITING, "FILE",
        key=None, public=False, private="The linkage", not_on_spark="Rows are numbered by nobody",
    )
    hold_out: str | float | None = asked(
        "Keep back a control group, for example 5%, to measure attacks by; whole people.",
        WRITING, "SHARE", kind=SHARE, fixed="hold_out", needs="hold_out_file",
        not_on_spark="Nobody holds the people that it would keep back",
    )
    hold_out_file: str | Path | None = asked(
        f"CSV file for the control group, private; for {named('hold_out')}.", WRITING, "FILE",
        place=True, public=False, private="The control group",
    )
    odds: float | None = asked(
        "Also give bounds for readers to whom some rows seem C times as likely as others.",
        LOOKING, "C", kind=NUMBER, public=False,
    )
    history: str | Path | None = asked(
        place=True, public=False, private="The history of releases", grows=True,
        not_on_spark="Nobody holds the rows that it would remember"
    )
    ledger: str | Path | None = asked(
        f"Private memory of a series of releases of one table; with {named('person')}.",
        WRITING, "FILE", place=True, public="LEDGER", private="The ledger", grows=True,
        not_on_spark="Nobody holds the people that it would remember",
    )
    batch: int = asked(
        f"With {named('ledger')}: newcomers wait until they are so many.", WRITING, "NUMBER",
        kind=WHOLE, least=1, usual=1,
    )
    least_real: int = asked(
        f"With {named('ledger')}: the least number of real people in a group.", WRITING, "NUMBER",
        kind=WHOLE, least=1, usual=1,
    )
    seed: int | None = asked(
        "For tests: a repeatable order of rows.", RUNNING, "NUMBER",
        kind=WHOLE, key=None, public=False,
        not_on_spark="Rows are put in order on many machines, from the chance of each",
    )


# fmt: on


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
