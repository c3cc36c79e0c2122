"""What can be asked: every option as one field, with all that the house has to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    TERMS,
    THRESHOLD,
    TREES,
    WHOLE,
    WRITING,
    asked,
)
from shoal.errors import option as named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

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
AMOUNT = (str, int, float)  # of a unit, or a share of the rows
AS_THEY_ARE = "Spark reads numbers without changing them"
FROM_THE_TOP = "Spark reads only files whose first line names the columns"
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
        f"Secret for {named('pseudonymize')}. Default: SHOAL_KEY in the environment.", COLUMNS,
        "FILE",
        key=None, public="KEY",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AboutColumns:
    """What is asked of columns; a `Schema` has the same."""

    quasi: tuple[str, ...] = asked(
        "Columns that others may know about a person, for example a,b,c.", COLUMNS, "COLUMNS",
        kind=NAMES, role=True, fixed="quasi", page="Generalize {}",
    )
    sensitive: tuple[str, ...] = asked(
        "Columns to protect, for example a,b.", COLUMNS, "COLUMNS",
        kind=NAMES, role=True, fixed="sensitive", page_name="“Protect it”",
    )
    identifying: tuple[str, ...] = asked(
        "Columns that name a person; Shoal does not publish them.", COLUMNS, "COLUMNS",
        kind=NAMES, role=True, public=False, page="Leave {} out",
    )
    pseudonymize: tuple[str, ...] = asked(
        "Columns that name a person; Shoal publishes keyed hashes of them.", COLUMNS, "COLUMNS",
        kind=NAMES, role=True, fixed="pseudonymize", needs="key_file",
        not_on_spark="the secret key would have to be sent to other machines",
    )
    other: tuple[str, ...] = asked(
        "Columns to publish unchanged.", COLUMNS, "COLUMNS", kind=NAMES, role=True, fixed="other"
    )
    nobody_knows: tuple[str, ...] = asked(
        "Published columns that, as you state, no reader knows of a person.", COLUMNS, "COLUMNS",
        kind=NAMES, page="State that no reader knows {} of a person",
    )
    person: str | None = asked(
        "Column that identifies the person behind each row, for example patient. Shoal "
        "then counts people instead of rows, and does not publish the column.", COLUMNS,
        "COLUMN", public="COLUMN", fixed="person", page="{} marks one person’s rows",
    )
    most_rows: int | None = asked(
        "Maximum number of rows per person; Shoal draws them at random.", COLUMNS, "NUMBER",
        kind=WHOLE, page="Publish at most {} rows per person",
    )
    rows: str | None = asked(
        "Does the reader know how many rows a person has? known (default, safer) or unknown.",
        COLUMNS, "known|unknown", words=("known", "unknown"), usual="known",
        page={"unknown": "Readers do not know how many rows a person has"},
    )
    linked: Mapping[str, Any] = asked(
        "A second table about the same people, for example visits=FILE; its columns are named "
        "visits.COLUMN. Repeatable.", COLUMNS, "NAME=FILE", kind=BY_NAME, place=True,
        not_on_spark="one machine would have to hold the rows of both tables",
    )
    never_mix: tuple[str, ...] = asked(
        "Quasi-identifiers that Shoal publishes exactly, for example sex,state: every "
        "group has one value of each.", COLUMNS,
        "COLUMNS",
        kind=NAMES, role=True, fixed="never_mix",
    )
    survey_weight: str | None = asked(
        "Column of survey weights; Shoal publishes the mean of each group.", COLUMNS, "COLUMN"
    )
    types: Mapping[str, str] = of_column(
        "Type of a column, for example zip=code. Repeatable.", COLUMNS, "COLUMN=TYPE",
        key="type", words=TYPES, page="Read {}",
    )
    order: Mapping[str, Any] = of_column(key="order", takes=(list,), fixed="order")
    hierarchies: Mapping[str, object] = of_column(
        "Hierarchy of a column, for example zip=zip.csv or 'zip=Prefix()'. Repeatable.", COLUMNS,
        "COLUMN=TREE",
        key="hierarchy", roles=("quasi",), takes=(str, dict, list), place=TREES,
        fixed="hierarchies",
    )
    weights: Mapping[str, float] = of_column(
        "How much a column's loss counts, for example age=2. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="weight", roles=("quasi",), kind=NUMBERS,
    )
    decimal: str | None = asked(
        "Decimal sign of numbers such as 1.234,56: ',' or '.'.", COLUMNS, "SIGN",
        words=(".", ","), fixed="decimal", page="Decimal sign: {}",
    )
    date_formats: Mapping[str, str] = of_column(
        "How dates are written, for example born=dd/mm/yyyy. Repeatable.", COLUMNS, "COLUMN=FORMAT",
        key="date_format", roles=PUBLISHED, page="Read dates: {}",
    )
    round: Mapping[str, Any] = of_column(
        "Round the numbers of a column first, for example charges=100. Repeatable.", COLUMNS,
        "COLUMN=NUMBER",
        key="round", roles=PUBLISHED, takes=AMOUNT, not_on_spark=AS_THEY_ARE, page="Round {}",
    )
    bottom: Mapping[str, Any] = of_column(
        "Set lower values to this one, for example age=18 or age=1%. Repeatable.", COLUMNS,
        "COLUMN=NUMBER",
        key="bottom", roles=PUBLISHED, takes=AMOUNT, not_on_spark=AS_THEY_ARE,
    )
    top: Mapping[str, Any] = of_column(
        "Set higher values to this one, for example charges=99%. Repeatable.", COLUMNS,
        "COLUMN=NUMBER",
        key="top", roles=PUBLISHED, takes=AMOUNT, not_on_spark=AS_THEY_ARE,
    )
    step: Mapping[str, Any] = of_column(key="step", takes=(object,), roles=("quasi",))
    bounds: Mapping[str, Any] = of_column(key="bounds", takes=(object,), roles=("quasi",))
    near: Mapping[str, float] = of_column(key="near", kind=NUMBERS, roles=("sensitive", "other"))
    missing_cells: Mapping[str, str] = of_column(
        key="missing", name="missing_cells", shares="missing", words=POLICIES,
        roles=("quasi", "sensitive"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AboutRun:
    """What else is asked; a `Run` has the same."""

    missing: Missing = asked(
        "Missing cells: error, drop or value; for one column, for example age=value. Repeatable.",
        COLUMNS, "POLICY", words=POLICIES, usual="error",
        page={"drop": "Leave these rows out", "value": "Keep these rows"},
        page_name="what to do with rows that have missing values",
    )
    require: Require | Iterable[Require] = asked(
        "A requirement that must hold, for example 'EpsilonM(epsilon=4500, m=5)'. "
        "Repeatable.", HOLDS,
        "PRINCIPLE",
        kind=SEVERAL, place=TERMS, apart=True, fixed="require",
    )
    method: Method | str | None = asked(
        "Method that searches for groups, for example 'Exchange()' or 'Split()'. By "
        "default Shoal chooses it.", HOLDS, "METHOD",
        page="Search by {}"
    )
    suppress: str | float | None = asked(
        "Share of rows (with a person column: of people) that Shoal may remove, for "
        "example 1%. Default: none.", HOLDS, "SHARE", kind=SHARE,
        page="Let Shoal remove up to {} of the rows", page_name="“Rows that Shoal may remove”",
    )
    population: Any = asked(
        "Table of everyone who could be in the table, for KMap, DeltaPresence and attacks.",
        HOLDS, "TABLE", key=None, public="PEOPLE",
        not_on_spark="every worker would need the whole population table",
    )
    seconds: float | None = asked(
        "Seconds for the search. Shoal uses what is left of them to lower the loss.", HOLDS,
        "NUMBER",
        kind=NUMBER, not_on_spark="workers cannot share a time budget",
    )
    engine: Engine | str | None = asked(
        "Where to work: 'Local(shard=500000)' or 'Spark()'. Default: this machine.",
        RUNNING, "ENGINE", key=None,
    )
    query: str | None = asked(
        "Query that reads a table from a database, for example 'select * from people'.", READING,
        "SQL",
        key=None, public=False, not_on_spark="Spark reads files, not databases",
    )
    sheet: str | None = asked(
        "Sheet of an Excel file; the first by default.", READING, "NAME",
        public=False, page="Sheet: {}",
        not_on_spark="Spark reads Parquet and text files, not Excel",
    )
    delimiter: str | None = asked(
        "Column separator: , ; | or tab; detected from the header by default.", READING, "SIGN",
        page="Column separator: {}", page_name="the column separator",
    )
    encoding: str | None = asked(
        "Encoding of text, for example latin-1, cp1252 or utf-16; mixed for lines of UTF-8 and "
        "of cp1252. Default: UTF-8.", READING, "NAME",
        page="Encoding: {}", page_name="the encoding",
    )
    header_row: int | None = asked(
        "The line that names the columns, counted from 1. Shoal skips the lines above it.",
        READING, "LINE", kind=WHOLE, least=1, public=False, page="Column names: line {}",
        not_on_spark=FROM_THE_TOP,
    )
    header_lines: int | None = asked(
        "How many lines name the columns; 1 by default.", READING, "NUMBER",
        kind=WHOLE, least=1, public=False, page="Lines of column names: {}",
        not_on_spark=FROM_THE_TOP,
    )
    skip_last: int | None = asked(
        "How many lines at the end are not rows, for example totals and notes.", READING, "NUMBER",
        kind=WHOLE, least=0, public=False, page="Leave out the last {} lines",
        not_on_spark=FROM_THE_TOP,
    )
    missing_codes: Mapping[str, Sequence[str]] = of_column(
        "Cells that mean missing, for example age=999,n/a. Repeatable.", READING, "COLUMN=CODES",
        key="missing_codes", takes=(str, list), public=False,
        not_on_spark="Spark reads cells without changing them",
    )
    output: str | Path | None = asked(
        "Directory to make; or the table alone: - for standard output, or "
        "sqlite:///people.db?table=published.", WRITING, "PLACE",
        short="-o", place=True, public=False, page_name="the place",
    )
    form: str = asked(
        "How the cells of quasi-identifiers are written: intervals (default), bounds, "
        "means or two-tables.",
        WRITING, "FORM", words=("intervals", "bounds", "means", "two-tables"), usual="intervals",
        apart=True, fixed="form", page="Write cells as {}",
    )
    cells: str = asked(
        "What a cell covers: tight (the rows of its group, the default) or regions (the "
        "range between public cuts).",
        WRITING, "KIND", words=("tight", "regions"), usual="tight", page_name="“Where cells end”",
    )
    keep_other: bool = asked(
        "With the form two-tables: publish the other columns too, next to exact "
        "quasi-identifiers.", WRITING, kind=FLAG,
        page="Publish the unchanged columns all the same",
    )
    format: str | None = asked(
        "File format: csv (default), tsv or jsonl, each also with .gz or .zst; parquet, "
        "feather or xlsx.",
        WRITING, "FORMAT", fixed="format",
    )
    force: bool = asked(
        "Replace an existing release.", WRITING, kind=FLAG, key=None, public=False,
        page_name="replacing it",
    )
    escape_formulas: bool = asked(
        "Put an apostrophe before cells that a spreadsheet would run as formulas.", WRITING,
        kind=FLAG, fixed="escaped",
        page="Defuse cells that a spreadsheet would run",
        not_on_spark="the part files are Parquet, which spreadsheets do not run",
    )
    title: str | None = asked(
        "Name of the release in manifest and report.", WRITING, TEXTS, apart=True
    )
    context: Mapping[str, str] = asked("", WRITING, kind=ENTRIES, entries=CONTEXT, apart=True)
    withhold_counts: bool = asked("Do not publish how many rows were left out.", WRITING, kind=FLAG)
    threshold: float | str = asked(
        "Highest acceptable chance of finding a person's row; the report compares with it. "
        "For example 1/11.", WRITING, "NUMBER",
        key=None, usual=THRESHOLD, shown=True, apart=True,
    )
    trials: bool = asked(
        f"With {named('owner_report')}: also show what other methods and parameters would "
        "lose.", WRITING,
        kind=FLAG, key=None, public=False, not_on_spark="trials need all rows on one machine",
    )
    owner_report: str | Path | None = asked(
        "Private HTML file for the owner: compares the release with the original table and "
        "names the riskiest groups.", WRITING, "FILE",
        key=None, public=False, private="The owner's report",
        not_on_spark="the owner's report needs all rows on one machine",
    )
    linkage: str | Path | None = asked(
        "Private file that maps input rows to published rows.", WRITING, "FILE",
        key=None, public=False, private="The linkage",
        not_on_spark="Spark does not number the input rows",
    )
    hold_out: str | float | None = asked(
        "Share of people to keep back as a control group, for example 5%, so that attacks "
        "can be measured.",
        WRITING, "SHARE", kind=SHARE, fixed="hold_out", needs="hold_out_file",
        not_on_spark="drawing a control group needs all people on one machine",
    )
    hold_out_file: str | Path | None = asked(
        f"Private CSV file for the control group. Needs {named('hold_out')}.", WRITING, "FILE",
        place=True, public=False, private="The control group",
    )
    odds: float | None = asked(
        "Also give limits for readers who consider some rows up to C times as likely as others.",
        LOOKING, "C", kind=NUMBER, public=False,
    )
    history: str | Path | None = asked(
        place=True, public=False, private="The history of releases", grows=True,
        not_on_spark="a history needs all rows on one machine"
    )
    ledger: str | Path | None = asked(
        f"Private file in which Shoal records a series of releases of one table. Needs "
        f"{named('person')}. Keep it secret, and keep a backup.",
        WRITING, "FILE", place=True, public="LEDGER", private="The ledger", grows=True,
        not_on_spark="a ledger needs all people on one machine",
    )
    batch: int = asked(
        f"With {named('ledger')}: publish new people only when at least this many are "
        "waiting. Default: 1.", WRITING, "NUMBER",
        kind=WHOLE, least=1, usual=1,
    )
    least_real: int = asked(
        f"With {named('ledger')}: remove a group for good once fewer than this many of its "
        "people are still in the table. Default: 1.", WRITING, "NUMBER",
        kind=WHOLE, least=1, usual=1,
    )
    seed: int | None = asked(
        "For tests only: makes the order of rows repeatable, so a reader could work it "
        "out.", RUNNING, "NUMBER",
        kind=WHOLE, key=None, public=False,
        not_on_spark="each machine draws its own random order",
    )


# fmt: on
