"""What commands share: options, messages, the progress bar."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.views.commands import as_typed
from shoal.views.terminal import plain, plain_json, plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shoal.results import Comparison, Frontier, Remark, Run

    Progress = Callable[[str, float], None]

interrupted = threading.Event()  # whether the person pressed Ctrl-C
PATIENCE = 0.5  # seconds a command may take before a bar is drawn

TABLE_HELP = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel, also packed by gzip or zstd; several files, a "
    "directory or a pattern are one table; - is standard input; sqlite:///people.db, "
    "duckdb:///people.duckdb or postgresql://host/name is a database."
)
Table = Annotated[str, typer.Argument(metavar="TABLE", help=TABLE_HELP, show_default=False)]
Tables = Annotated[list[str], typer.Argument(metavar="TABLE", help=TABLE_HELP, show_default=False)]
Query = Annotated[
    str | None, typer.Option(help="What to read from a database, as 'select * from people'.")
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file; the first by default.")]
Delimiter = Annotated[
    str | None, typer.Option(help="What parts cells of text: , ; or tab. The header tells else.")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of text, as latin-1, cp1252 or utf-16; UTF-8 by default.")
]
OptionalTables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TABLE", help=TABLE_HELP + " Else what --schema names.", show_default=False
    ),
]
Quasi = Annotated[
    str | None, typer.Option(help="Columns that could single a person out, as a,b,c.")
]
Sensitive = Annotated[str | None, typer.Option(help="Columns to protect, as a,b.")]
Identifying = Annotated[str | None, typer.Option(help="Columns that name a person; dropped.")]
NeverMix = Annotated[
    str | None, typer.Option(help="Quasi columns of which no group holds two values, as sex,state.")
]
SurveyWeight = Annotated[
    str | None,
    typer.Option(help="Column of survey weights; published as the mean of each group."),
]
Person = Annotated[
    str | None,
    typer.Option(help="Column that says whom a row is about; people are counted, not rows."),
]
MostRows = Annotated[
    int | None, typer.Option(help="Rows of one person to publish at most, drawn at random.")
]
RowsKnown = Annotated[
    str | None,
    typer.Option(help="Whether a reader may know how many rows a person has: known or unknown."),
]
Odds = Annotated[
    float | None,
    typer.Option(
        metavar="C",
        help="Also give bounds for readers to whom some rows seem C times as likely as others.",
    ),
]
Linked = Annotated[
    list[str] | None,
    typer.Option(
        "--linked",
        help="A second table about the same people, as visits=FILE; its columns are named "
        "visits.COLUMN. Repeatable.",
    ),
]
Other = Annotated[str | None, typer.Option(help="Columns to publish unchanged.")]
NobodyKnows = Annotated[
    str | None,
    typer.Option(help="Published columns of which you state that no reader knows them."),
]
SchemaFile = Annotated[
    str | None, typer.Option("--schema", help="TOML file with all of this; shoal init writes one.")
]
Requires = Annotated[
    list[str] | None,
    typer.Option("--require", help="What must hold, as 'EpsilonM(epsilon=4500, m=5)'. Repeatable."),
]
Population = Annotated[
    str | None,
    typer.Option(help="Table of everybody who could be in the table, for KMap, DeltaPresence."),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", help="What a column holds, as zip=code. Repeatable."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="As zip=zip.csv or 'zip=Prefix()'. Repeatable."),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", help="How much a column's loss counts, as age=2. Repeatable."),
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of numbers such as 1.234,56: ',' or '.'.")
]
MissingCells = Annotated[
    list[str] | None,
    typer.Option(
        help="Missing cells: error, drop or value; of one column as age=value. Repeatable."
    ),
]
DateFormats = Annotated[
    list[str] | None,
    typer.Option("--date-format", help="How dates are written, as born=dd/mm/yyyy. Repeatable."),
]
Rounds = Annotated[
    list[str] | None,
    typer.Option("--round", help="Round numbers before all else, as charges=100. Repeatable."),
]
Bottoms = Annotated[
    list[str] | None,
    typer.Option("--bottom", help="Cut numbers off below, as age=18 or age=1%. Repeatable."),
]
Tops = Annotated[
    list[str] | None,
    typer.Option("--top", help="Cut numbers off above, as charges=99%. Repeatable."),
]
Report = Annotated[
    str | None, typer.Option(help="HTML file with the picture, readable by its owner.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


class Settled:
    """The exit code that stands whatever becomes of the words about it, None where none does."""

    code: int | None = None


def settle(code: int) -> None:
    """Say what has become of a release: what can no longer be printed changes nothing about it."""
    Settled.code = code


def note(message: str, *, quiet: bool = False) -> None:
    """Say something to the person at the terminal, not to the next program.

    Where nobody can be told (a full disk, a closed terminal), the work goes on.
    """
    if not quiet:
        with suppress(OSError):
            sys.stderr.write(plain(message) + "\n")


def say(remark: Remark, *, quiet: bool) -> None:
    """Say a remark, its options as they are typed here."""
    sentence = as_typed(remark.sentence)
    note(f"Warning: {sentence}" if remark.warning else sentence, quiet=quiet)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout; where that is not UTF-8, in ASCII."""
    unicode = (sys.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8"
    sys.stdout.write(plain_json(json.dumps(value, ensure_ascii=not unicode)) + "\n")


def print_lines(text: str) -> None:
    """Print text of several lines on stdout, without what would steer a terminal."""
    sys.stdout.write(plain_lines(text) + "\n")


def names(text: str | None) -> list[str] | None:
    """Split a list of column names at its commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


LISTS = (
    *("quasi", "sensitive", "identifying", "other", "pseudonymize", "never_mix"),
    "nobody_knows",
)
CONTEXT = ("institution", "purpose", "recipients", "legal_basis", "review_date")
BY_COLUMN = {
    "type": "types",
    "hierarchy": "hierarchies",
    "weight": "weights",
    "date_format": "date_formats",
    "round": "round",
    "bottom": "bottom",
    "top": "top",
    "linked": "linked",
}


def asked(schema: str | None, **options: Any) -> Run:
    """Make the run of a command: what its schema file says, overruled by options as typed."""
    import shoal

    read: dict[str, Any] = {
        name: names(text) if name in LISTS else text for name, text in options.items()
    }
    for flag, parameter in BY_COLUMN.items():
        said = by_column(f"--{flag.replace('_', '-')}", read.pop(flag, None))
        read[parameter] = said if flag != "weight" else {c: weight(c, w) for c, w in said.items()}
    told = {name: read.pop(name, None) for name in CONTEXT}
    read["context"] = {name: text for name, text in told.items() if text is not None}
    policies = read.pop("missing", None)
    read["missing"] = policy([text for text in policies or () if "=" not in text])
    read["missing_cells"] = by_column("--missing", [one for one in policies or () if "=" in one])
    return shoal.load(schema, **read) if schema else shoal.results.Run.of(**read)


def by_column(option: str, said: list[str] | None) -> dict[str, str]:
    """Split what was said of columns, as zip=code, at the first sign of equality."""
    import shoal

    found: dict[str, str] = {}
    for text in said or ():
        sign = max(text.find("=", 1), 0)  # a name may begin with one
        column, value = text[:sign].strip(), text[sign + 1 :].strip()
        if not (column and value):
            msg = f"{option} takes column=value. Got {text!r}."
            raise shoal.UsageError(msg)
        if column in found:
            msg = f"{option} names column {column!r} twice."
            raise shoal.UsageError(msg)
        found[column] = value
    return found


def policy(said: list[str]) -> str | None:
    """Return what to do about missing cells of columns that have no policy of their own."""
    import shoal

    if len(said) > 1:
        msg = f"--missing has two policies for all columns: {' and '.join(said)}. Choose one."
        raise shoal.UsageError(msg)
    return said[0] if said else None


def weight(column: str, text: str) -> float:
    """Read how much the loss of a column counts."""
    import shoal

    try:
        return float(text)
    except ValueError:
        msg = f"The weight of column {column!r} must be a number above 0. Got {text!r}."
        raise shoal.UsageError(msg) from None


def give(
    found: Comparison | Frontier,
    say: Callable[[dict[str, Any]], None],
    page: Callable[[dict[str, Any]], str],
    report: str | None,
    *,
    json: bool,
) -> None:
    """Show what was tried, on the terminal and as a page, or raise where nothing was reached."""
    import shoal
    from shoal.views.pages import write_page

    if not found.reached:
        raise shoal.NotAchievable(found.refusal)
    facts = found.to_dict()
    if report is not None:
        write_page(report, page(facts))
    print_json(facts) if json else say(facts)


def open_with(source: str | None, **options: str | None) -> Any:
    """Return the path of a table as it is, or the table where options say how to read it."""
    import shoal

    if not any(options.values()):
        return source
    if source is None:
        named = ", ".join(f"--{name}" for name, said in options.items() if said)
        msg = f"There is no table to be read by {named}. A release is read as it was written."
        raise shoal.UsageError(msg)
    return asked(None, table=source, **options).frame()


def announce_compiling(*, quiet: bool) -> None:
    """Say so when a kernel has to be compiled, which happens once on a machine."""
    if quiet:
        return
    from numba.core import event

    class Teller(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:  # noqa: ARG002 - whichever kernel it is
            if not Teller.told:
                Teller.told = True
                note("Compiling for this machine, once; this takes up to half a minute …")

        def on_end(self, event: Any) -> None:
            """Nothing more is to be said."""

    event.register("numba:compile", Teller())  # type: ignore[no-untyped-call]


def heed() -> None:
    """Raise where the person has asked to stop."""
    if interrupted.is_set():
        raise KeyboardInterrupt


def worked() -> float:
    """Return the seconds that the processor has worked for this command so far."""
    return round(time.process_time(), 3)


@contextmanager
def bar(*, quiet: bool, seconds: float | None = None) -> Iterator[Progress]:
    """Draw one progress bar on stderr for the whole command, and say what is being done.

    `seconds` is the time that a search is given.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _phase, _share: heed()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from shoal.views.whole import WORDS, Whole

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    whole = Whole(budget=seconds)
    begun = time.monotonic()
    with Progress(*columns, console=console, transient=True) as drawn:
        task = drawn.add_task("", total=1.0, visible=False)

        def report(phase: str, share: float) -> None:
            heed()
            long = time.monotonic() - begun > PATIENCE
            done = whole.share(phase, share)
            drawn.update(task, completed=done, description=WORDS.get(phase, phase), visible=long)

        yield report
