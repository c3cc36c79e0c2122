"""`shoal init`: a schema file to start from, with a comment for every decision."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show
from shoal.views.terminal import plain_lines


@show.asking(*show.FILE)
def init(
    reading: Ask,
    *,
    table: show.Table,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Schema file to write.")
    ] = "shoal.toml",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask you the questions one by one.")] = False,
    quiet: show.Quiet = False,
) -> None:
    """Write a commented schema file for a table: roles, types, requirements, and why."""
    import shoal
    from shoal.views.terminal import Command

    show.announce_compiling(quiet=quiet)
    complete = shoal.init(
        table,
        output,
        **{name: getattr(reading, name) for name in show.FILE},
        force=force,
        ask=answer if ask else None,
    )
    next_step = (
        f"Check it, then: {Command('anonymize', (), (('schema', output),)).line}"
        if complete
        else (
            "Shoal found no usable quasi-identifier. Name the quasi-identifiers and a "
            "requirement in the schema file."
        )
    )
    show.note(f"Wrote {output}. {next_step}", quiet=quiet)


def answer(question: str, default: str) -> str:
    """Ask a question on the terminal; an empty line takes what is proposed."""
    shown = f" [{default}]" if default else ""
    sys.stdout.write(f"{plain_lines(question)}{shown} ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        import shoal

        msg = "Some questions have no answer. Answer each one, or leave out --ask."
        raise shoal.UsageError(msg)
    return line.strip() or default
