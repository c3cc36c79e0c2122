"""What commands share: options, messages, the progress bar."""

from __future__ import annotations

import inspect
import json
import logging
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal import Ask
from shoal.views.terminal import as_typed, plain, plain_json, plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from shoal.results import Comparison, Frontier, Remark

    Progress = Callable[[str, float], None]

interrupted = threading.Event()  # whether the person pressed Ctrl-C
PATIENCE = 0.5  # seconds a command may take before a bar is drawn

BY_NAME = inspect.Parameter.KEYWORD_ONLY
READING = tuple(name for name, one in Ask.flags().items() if one.panel == "Reading")
FILE = (*READING, "decimal")  # how a file that nobody has looked at is read
WRITTEN = ("decimal", "date_format", "round", "bottom", "top", "missing")
TRIED = (  # what can be asked of releases that are only tried
    *("table", "schema", "quasi", "sensitive", "require", "person", "most_rows", "rows", "linked"),
    *("never_mix", "type", "hierarchy", "weight", *WRITTEN, *READING),
)

TABLE_HELP = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel, also packed by gzip or zstd. Several files, a "
    "directory or a pattern are one table. - is standard input. A database is sqlite:///people.db, "
    "duckdb:///people.duckdb or postgresql://host/name."
)
Table = Annotated[str, typer.Argument(metavar="TABLE", help=TABLE_HELP, show_default=False)]
Tables = Annotated[list[str], typer.Argument(metavar="TABLE", help=TABLE_HELP, show_default=False)]
OptionalTables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TABLE",
        help=TABLE_HELP + " Default: the table that --schema names.",
        show_default=False,
    ),
]
Report = Annotated[
    str | None, typer.Option(help="HTML file with the picture; only you can read it.")
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


def asking(*names: str, asks: type[Ask] = Ask, **helps: str) -> Callable[[Any], Callable[..., Any]]:
    """Give a command options of what can be asked, all where none is named, handed over as one.

    `table` stands for the argument; `helps` are options of which this command says something else.
    """
    flags = asks.flags()
    every = ["table", *(name for name, one in flags.items() if one.of_runs)]
    chosen = [*names, *helps] if names or helps else every
    made = [_parameter(flags[name], helps.get(name)) for name in chosen if name != "table"]
    if "table" in chosen:
        made.append(inspect.Parameter("table", BY_NAME, default=None, annotation=OptionalTables))

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def typed(**given: Any) -> Any:
            return command(asks.from_options(**{one: given.pop(one) for one in chosen}), **given)

        both = [*(one.replace(kind=BY_NAME) for one in own), *made]
        vars(typed).update(__signature__=inspect.Signature(both))
        typed.__annotations__ = {}
        return typed

    return with_options


def print_lines(text: str) -> None:
    """Print text of several lines on stdout, without what would steer a terminal."""
    sys.stdout.write(plain_lines(text) + "\n")


def _parameter(flag: Any, text: str | None) -> inspect.Parameter:
    spelled = (f"--{flag.name.replace('_', '-')}", *filter(None, [flag.short]))
    option = typer.Option(*spelled, help=as_typed(text or flag.help), min=flag.least)
    kind = Annotated[flag.takes, option]
    return inspect.Parameter(flag.name, BY_NAME, default=flag.default, annotation=kind)


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


def open_with(source: str | None, ask: Ask) -> str | pl.DataFrame | None:
    """Return the path of a table as it is, or the table where options say how to read it.

    The table that a schema file names is read as that file says.
    """
    import shoal

    ask = as_named(source, ask)
    said = [name for name in READING if getattr(ask, name)]
    if not said:
        return source
    if source is None:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in said)
        msg = (
            f"{named} applies only to tables that Shoal reads, and this command reads a release "
            "only."
        )
        raise shoal.UsageError(msg)
    return open_as(source, ask)


def as_named(source: str | None, ask: Ask) -> Ask:
    """Return what was asked, with what a schema file says of how to read the table it names."""
    import shoal

    if source is None or ask.schema is None:
        return ask
    stated = shoal.results.Run.of_ask(Ask(schema=ask.schema)).said.ask
    if [Path(one).resolve() for one in stated.table] != [Path(source).resolve()]:
        return ask
    how = {name: getattr(stated, name) for name in READING if not getattr(ask, name)}
    return replace(ask, **how)


def open_as(source: str, ask: Ask) -> pl.DataFrame:
    """Return a table, read as options say."""
    import shoal

    how = {name: getattr(ask, name) for name in READING}
    found: pl.DataFrame = shoal.results.Run(table=source, **how).frame()
    return found


def announce_compiling(*, quiet: bool) -> None:
    """Say so when a kernel has to be compiled, which happens once on a machine."""
    if quiet:
        return
    log = logging.getLogger("shoal.kernels")

    def tell(_: logging.LogRecord) -> bool:
        log.removeFilter(tell)
        note("Compiling for this machine, once; this takes up to half a minute …")
        return False

    log.setLevel(logging.INFO)
    log.addFilter(tell)


def heed() -> None:
    """Raise where the person has asked to stop."""
    if interrupted.is_set():
        raise KeyboardInterrupt


def worked() -> float:
    """Return the seconds that the processor has worked for this command so far."""
    return round(time.process_time(), 3)


def add_up(started: float, phases: dict[str, float]) -> dict[str, float]:
    """Return what every phase took, with what came before them and what belongs to none."""
    found = {"start": started, **phases}
    other = round(worked() - sum(found.values()), 3)
    return found | ({"other": other} if other > 0 else {})


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


def open_controls(
    source: str | None, people: str | pl.DataFrame | None, ask: Ask
) -> str | pl.DataFrame | None:
    """Return the control group: as Shoal writes one, or read with the options of the original.

    Whatever the original looks like, Shoal writes a plain CSV file with columns of the original.
    """
    import shoal

    if source is None or isinstance(people, str) or people is None:
        return source  # no option says how to read
    asked = replace(ask, query=None)
    plain = Ask(missing_codes=ask.missing_codes)
    first, second = (plain, asked) if ask.sheet is None else (asked, plain)
    with suppress(shoal.ShoalError):
        found = open_as(source, first)
        if first is asked or set(found.columns) <= set(people.columns):
            return found
    return open_as(source, second)
