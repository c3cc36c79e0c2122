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
    WHOLE,
    WRITING,
    asked,
)
from shoal.ask.usual import THRESHOLD
from shoal.errors import option as named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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
AS_THEY_ARE = "Spark takes numbers as they are"
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
        not_on_spark="Their key would have to travel",
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
        key="round", roles=PUBLISHED, not_on_spark=AS_THEY_ARE, page="Round {}",
    )
    bottom: Mapping[str, Any] = of_column(
        "Cut numbers off below, as age=18 or age=1%. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="bottom", roles=PUBLISHED, not_on_spark=AS_THEY_ARE,
    )
    top: Mapping[str, Any] = of_column(
        "Cut numbers off above, as charges=99%. Repeatable.", COLUMNS, "COLUMN=NUMBER",
        key="top", roles=PUBLISHED, not_on_spark=AS_THEY_ARE,
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
