"""The `shoal` command, and its help: options in panels, in the order in which people need them."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from copy import copy
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core

from shoal import Ask, ShoalError, __version__
from shoal.cli import show
from shoal.views.terminal import as_typed, plain_lines

OTHERS: dict[str, dict[str, str]] = {  # options of what is not asked of a run, with their values
    "Columns": {"group": "COLUMN"},
    "What must hold": {},
    "What to look at": {
        "norm": "NAME",
        "original": "TABLE",
        "row": "NUMBER",
        "control": "TABLE",
        "epsilon": "NUMBER",
        "m": "NUMBER",
        "relative": "",
        "delta": "NUMBERS",
        "distance": "DISTANCE",
        "knows_method": "",
        "vary": "PARAMETER",
        "mean": "COLUMN",
        "quantile": "SHARE",
        "share": "CONDITION",
        "correlation": "",
        "of": "COLUMN",
        "by": "COLUMN",
        "logit": "",
        "tables": "NUMBER",
        "chains": "NUMBER",
        "anyway": "",
        "queries": "NUMBER",
        "learning": "",
        "target": "COLUMN",
    },
    "Reading": {},
    "Writing": {"table": "FILE", "report": "FILE"},
    "Running": {
        "port": "NUMBER",
        "no_browser": "",
        "ask": "",
        "dry_run": "",
        "quiet": "",
        "json": "",
        "help": "",
    },
}
AFTER = {
    "odds": "relative",
    "group": "survey_weight",
    "report": "withhold_counts",
    "dry_run": "engine",
}
FOUND = {
    name: (panel, metavar)
    for panel, others in OTHERS.items()
    for name, metavar in (
        *((one.name, one.metavar) for one in Ask.flags().values() if one.panel == panel),
        *others.items(),
    )
}
ORDER = [name for name in FOUND if name not in AFTER]
for later, before in AFTER.items():
    ORDER.insert(ORDER.index(before) + 1, later)
PLACES = {name: FOUND[name] for name in ORDER}


class PlainGroup(typer.core.TyperGroup):
    """All commands, with options of their own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options."""
        return [take_text(one) for one in super().get_params(ctx)]


class PanelledCommand(typer.core.TyperCommand):
    """A command whose options are gathered in panels."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for one in self.params:
            place(one)
        self.params.sort(
            key=lambda one: ORDER.index(str(one.name)) if str(one.name) in PLACES else -1
        )

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options."""
        return [take_text(one) for one in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line; what must be given stands there bare."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help, beside the others that are about running."""
        option = super().get_help_option(ctx)
        place(option)
        return option


def place(option: Any) -> None:
    """Put an option into its panel; arguments stay where they are, without a type of Python's."""
    if option is not None and option.param_type_name == "argument":
        option.display_type_rich = lambda **_: ""
    elif option is not None and option.name in PLACES:
        option.rich_help_panel, option.metavar = PLACES[option.name]


def take_text(option: Any) -> Any:
    """Take text, and nothing, as it is: Typer would load Pydantic to find that text is text."""
    if not hasattr(option, "type_descriptor") or "process_value" in vars(option):
        return option  # a Typer that does not, or it is done
    process, many = option.process_value, option.multiple or option.nargs == -1
    textual = option.type_descriptor.annotation in {str, list[str]}

    def taken(ctx: Any, value: Any) -> Any:
        texts = value if many else [value]
        if value is None and not option.required:
            value = () if many else None
        elif textual and texts and all(isinstance(text, str) for text in texts):
            value = [*texts] if many else value
        else:
            return process(ctx, value)
        return value if option.callback is None else option.callback(ctx, option, value)

    option.process_value = taken
    return option


STOPS = tuple(  # how the system, or whoever sits at it, asks a command to stop
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
IMPATIENCE = 1.0  # seconds after which whoever asks again is not just impatient
INTERRUPTED = "shoal: interrupted. No half-written file is left."

app = typer.Typer(
    name="shoal",
    cls=PlainGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Publish tables about people, and limit what a reader can learn about any one of them.",
)
COMMANDS = (  # each in a module of its name but for those ELSEWHERE, in the order of the help
    *("inspect", "init", "anonymize", "coarsen", "plan", "audit", "report", "certificate"),
    *("dossier", "show"),
    *("attack", "count", "estimate", "complete", "scripts", "export"),
    *("compare", "tune", "demo", "serve"),
)
ELSEWHERE = {"show": "person"}  # `cli/show.py` is what commands share
BARE = {"demo", "serve"}  # which go without any option


def _version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish tables about people, and limit what a reader can learn about any one of them."""


@cache
def commands(asked: str) -> Any:
    """Return the command asked for alone, since options take time to be made; else all of them."""
    one = copy(app)
    one.registered_commands = []
    for name in [asked] if asked in COMMANDS else COMMANDS:
        function = getattr(import_module(f"shoal.cli.{ELSEWHERE.get(name, name)}"), name)
        one.command(cls=PanelledCommand, no_args_is_help=name not in BARE)(function)
    return typer.main.get_command(one)


def with_room(function: Any, **options: Any) -> Any:
    """Call a function."""
    return function(**options)


# Python keeps frames in pieces of 16 KiB. Where a loop calls across the end of one, each call has a
# piece from the system and gives it back: at an unlucky depth a quarter of the time of a start. A
# frame that asks for more is in a large piece, and so is all that it calls.
with_room.__code__ = with_room.__code__.replace(co_stacksize=2**15)


def main() -> None:
    """Run the command line; every end has its exit code and no end shows a traceback."""
    # What is loaded stays: to look through it for garbage again and again takes a tenth of the
    # time of a small run, and of compiling.
    gc.set_threshold(200_000, 50, 50)
    # NumPy, which is not loaded yet, would start a thread for each core that nothing here needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_streams()
    show.interrupted.clear()
    show.Settled.code = None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupt)
        for stop in STOPS:
            if signal.getsignal(stop) is not signal.SIG_IGN:  # as under nohup
                signal.signal(stop, interrupt)
        sys.unraisablehook = unraisable
    try:
        command = commands(sys.argv[1] if len(sys.argv) > 1 else "")
        code = with_room(command, prog_name="shoal", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:  # Typer leaves by itself for a closed pipe (1) and completion (0)
        finish("", show.Settled.code or 0 if end.code in {None, 1} else int(end.code or 0))
    except BaseException as problem:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        # An interrupt may be lost in foreign code, and what came of it be heard of first.
        finish(*explain(KeyboardInterrupt() if show.interrupted.is_set() else problem))
    else:
        finish(INTERRUPTED if code == 130 else "", code if isinstance(code, int) else 0)


def open_streams() -> None:
    """Let every stream be there and take any text.

    One that was closed from the start leaves its number to the next file that is opened, which
    whatever is printed would then be written into. In its place comes one that is at its end, and
    cannot be written to. What an encoding lacks is spelled out.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDONLY)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        if mode == "w" and hasattr(stream := getattr(sys, name), "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class Heard:
    """Until when somebody who asks to stop has just been heard."""

    until = 0.0


def interrupt(_signal: int, _frame: object) -> None:
    """Stop at once; should the exception be lost in foreign code, stop at the next progress.

    Whoever is impatient is heard again only after a while: until then, what the first has begun to
    clear away would be left half cleared.
    """
    if show.interrupted.is_set() and time.monotonic() < Heard.until:
        return
    Heard.until = time.monotonic() + IMPATIENCE
    show.interrupted.set()
    raise KeyboardInterrupt


def unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Say nothing of an interrupt that was lost in foreign code: it is heeded soon after."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def explain(problem: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code for whatever stopped the work."""
    match problem:
        case ShoalError():
            return f"shoal: {as_typed(problem.sentence)}", problem.exit_code
        case KeyboardInterrupt() | typer.Abort() if show.Settled.code is not None:
            return f"shoal: interrupted. {_settled(show.Settled.code)}", show.Settled.code
        case KeyboardInterrupt() | typer.Abort():
            return INTERRUPTED, 130
        case BrokenPipeError():
            return "", show.Settled.code or 0
        case MemoryError():
            return "shoal: this machine has too little memory for the table.", 2
        case OSError() if show.Settled.code is not None:
            code = show.Settled.code
            return f"shoal: cannot print: {problem.strerror}. {_settled(code)}", code
        case OSError():
            return f"shoal: cannot write: {problem.strerror}.", 4
    if hasattr(problem, "format_message") and hasattr(problem, "exit_code"):  # bad usage
        said = problem.format_message()  # nothing where nothing was asked for, and help was shown
        within = getattr(problem, "ctx", None)
        where = within.command_path if within is not None else "shoal"
        return f"shoal: {said} See {where} --help." if said else "", problem.exit_code
    # The text of an unforeseen error may hold a person's data, so only its kind is shown.
    return (
        f"shoal: an unforeseen {type(problem).__name__} stopped the work. No half-written file "
        "is left. Run again with SHOAL_DEBUG=1 for details, and please report it."
    ), 2


def _settled(code: int) -> str:
    """Return what has become of a release, by the exit code that stands."""
    return f"The release is {'complete' if code == 0 else 'audited, and does not hold'}."


def finish(message: str, code: int) -> None:
    """Say the last word and leave at once, without waiting for threads that still compute."""
    with suppress(OSError):  # whoever listened is gone
        if message:
            sys.stderr.write(plain_lines(message) + "\n")
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
