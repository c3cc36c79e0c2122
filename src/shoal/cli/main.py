"""The `shoal` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from shoal import __version__
from shoal.cli.anonymize import anonymize
from shoal.cli.audit import audit
from shoal.cli.demo import demo
from shoal.cli.plan import plan
from shoal.errors import ShoalError

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Publish tables about people so that nobody's sensitive value can be nearly known.",
)
for command in (anonymize, plan, audit, demo):
    app.command(no_args_is_help=command is not demo)(command)


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
    """Publish tables about people so that nobody's sensitive value can be nearly known."""


def main() -> None:
    """Run the command line; every end has its exit code and no end shows a traceback."""
    try:
        app(standalone_mode=True)
    except ShoalError as problem:
        finish(f"shoal: {problem}", problem.exit_code)
    except KeyboardInterrupt:
        finish("shoal: interrupted; nothing was left half-written.", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        finish("", 0)
    except MemoryError:
        finish("shoal: this machine has too little memory for the table.", 2)
    except Exception as problem:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        # The text of an unforeseen error may hold a person's data, so only its kind is shown.
        finish(
            f"shoal: an unforeseen {type(problem).__name__} stopped the work; nothing was left "
            "half-written. Run again with SHOAL_DEBUG=1 for details, and please report it.",
            2,
        )


def finish(message: str, code: int) -> None:
    """Say the last word and leave at once, without waiting for threads that still compute."""
    if message:
        sys.stderr.write(message + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
