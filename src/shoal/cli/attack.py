"""`shoal attack`: what an attacker learns from one or several releases."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from shoal import Ask
from shoal.cli import show


@show.asking("schema", "quasi", "sensitive", "person", "hierarchy", "population", *show.READING)
def attack(
    ask: Ask,
    *,
    releases: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASE",
            help="Release directories, or published tables.",
            show_default=False,
        ),
    ],
    original: Annotated[
        str | None, typer.Option(help="The original table: what the attacker knows. Private.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="Control group: people of the same population who are not in the release. "
            "Shows what chance and general knowledge achieve. Needs --original."
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column that names the groups of plain tables.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="How close a guess must be to count as right, for example 500,1000. Default: "
            "as the requirements of the release say."
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Shares for the tables of vulnerability, for example 0.5,0.8."),
    ] = None,
    distance: Annotated[
        str | None,
        typer.Option(help="Distance over all sensitive columns together, for example 'Lp(p=1)'."),
    ] = None,
    knows_method: Annotated[
        bool,
        typer.Option(
            "--knows-method",
            help="Also attack as a reader who knows the method; at most 8 rows, with --original.",
        ),
    ] = False,
    report: Annotated[
        str | None, typer.Option(help="HTML file with the charts; only you can read it.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: makes the sample repeatable.")
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Attack releases, and report how often each attack guesses right."""
    import shoal
    from shoal.views.pages import attack_page, check_page, write_page
    from shoal.views.text import print_attack

    run = shoal.results.Run.of_ask(replace(ask, hierarchies={}))
    chosen = run.schema.only("quasi", "sensitive", "person")
    show.announce_compiling(quiet=quiet)
    if report is not None:
        check_page(report)
    people = show.open_with(original, ask)
    knowing = knowing_readers(releases, people, chosen) if knows_method else {}
    found = (
        shoal.attack(
            releases,
            chosen,
            original=people,
            control=show.open_controls(control, people, show.as_named(original, ask)),
            population=ask.population and show.open_with(ask.population, replace(ask, query=None)),
            group=group,
            epsilons=numbers("--epsilon", epsilon),
            deltas=numbers("--delta", delta, most=1),
            distance=distance,
            seed=seed,
            hierarchies={**run.said.ask.hierarchies, **ask.hierarchies},
        ).to_dict()
        | knowing
    )
    if report is not None:
        write_page(report, attack_page(found))
    show.print_json(found) if json else print_attack(found)


def knowing_readers(releases: list[str], original: Any, schema: Any) -> dict[str, Any]:
    """Return what is learned by readers who know the methods, in place of not having measured it.

    The releases have to be directories, which say how they were made.
    """
    from pathlib import Path

    import shoal

    if original is None:
        msg = (
            "--knows-method tries all assignments of values to people, so it needs the "
            "original table: name it with --original."
        )
        raise shoal.UsageError(msg)
    for one in releases:
        if not Path(one).is_dir():
            msg = f"--knows-method needs release directories. {one} does not say how it was made."
            raise shoal.UsageError(msg)
    found = [
        shoal.measures.minimality(one, schema, original=original).to_dict() for one in releases
    ]
    return {"knowing": found, "minimality": " ".join(one["sentence"] for one in found)}


def numbers(option: str, text: str | None, most: float = float("inf")) -> list[float] | None:
    """Read a list of numbers from 0 up."""
    import shoal

    if text is None:
        return None
    try:
        found = sorted({int(t) if t.strip().isdecimal() else float(t) for t in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 <= value <= most for value in found):
        limit = "numbers of at least 0" if most == float("inf") else f"numbers from 0 to {most:g}"
        msg = f"{option} takes {limit}, for example 0.5,0.8. Got {text!r}."
        raise shoal.UsageError(msg)
    return found
