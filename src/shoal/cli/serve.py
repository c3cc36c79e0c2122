"""`shoal serve`: the local page."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def serve(
    table: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]", help="A table to open; Shoal reads it in place.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on. Default: any free port.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open no browser.")
    ] = False,
) -> None:
    """Open a page on this computer that does all of this without typing commands."""
    import shoal

    try:
        from shoal.web.serving import run
    except ModuleNotFoundError as problem:
        msg = f"The page needs {problem.name!r}. Install it: pip install 'shoal[page]'."
        raise shoal.UsageError(msg) from None

    def ready(address: str) -> None:
        typer.echo(f"Shoal is open at {address}")
        show.note(
            "This link contains a private access token: do not share it. Press Ctrl-C here "
            "to stop it."
        )

    run(tuple(table or ()), port=port, browser=not no_browser, ready=ready)
