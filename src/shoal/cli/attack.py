"""`shoal attack`: what an attacker learns from one or several releases."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def attack(
    releases: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASE",
            help="Release directories, or published tables.",
            show_default=False,
        ),
    ],
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    hierarchy: show.Hierarchies = None,
    original: Annotated[
        str | None,
        typer.Option(help="The original table, as what the attacker knows of people; owners only."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column that names the groups of plain tables.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Widths to try, as 500,1000; else from the column.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="Shares to try, as 0.5,0.8.")] = None,
    distance: Annotated[
        str | None,
        typer.Option(help="Distance over all sensitive columns together, as 'Lp(p=1)'."),
    ] = None,
    schema: show.SchemaFile = None,
    report: Annotated[
        str | None, typer.Option(help="HTML file with the charts, readable by its owner.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: a repeatable sample of people.")
    ] = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Say in numbers what an attacker learns: vulnerability, linking, learning, intersection."""
    import shoal
    from shoal.distances.base import Distance
    from shoal.notation import parse
    from shoal.views.pages import attack_page, check_page, write_page
    from shoal.views.text import print_attack

    said = show.settings(schema)
    show.announce_compiling(quiet=quiet)
    chosen = show.merged_schema(said, quasi=quasi, sensitive=sensitive)
    metric = parse(distance) if distance else None
    if metric is not None and not isinstance(metric, Distance):
        msg = f"{distance} is a {metric.role}, but a distance is needed here."
        raise shoal.UsageError(msg)
    if report is not None:
        check_page(report)
    found = shoal.attack(
        releases,
        chosen,
        original=show.open_with(
            original, query=query, sheet=sheet, delimiter=delimiter, encoding=encoding
        ),
        group=group,
        epsilons=numbers("--epsilon", epsilon),
        deltas=numbers("--delta", delta, most=1),
        distance=metric,
        seed=seed,
        hierarchies=said.hierarchies | show.by_column("--hierarchy", hierarchy),
    ).to_dict()
    if report is not None:
        write_page(report, attack_page(found))
    show.print_json(found) if json else print_attack(found)


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
        msg = f"{option} takes {limit}, as in 0.5,0.8. Got {text!r}."
        raise shoal.UsageError(msg)
    return found
