"""`shoal estimate`: a quantity estimated from a release, with its error and a status."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show

Release = Annotated[
    str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
]
Tables = Annotated[int, typer.Option(help="Number of completed tables to draw.")]
Chains = Annotated[int, typer.Option(help="Number of chains that draw them.")]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Also show refused answers; their status stays refused.")
]
Seed = Annotated[int | None, typer.Option(help="Make the draws repeatable.")]
Of = Annotated[str | None, typer.Option(help="Sensitive column to look at; default: the only one.")]


def estimate(
    directory: Release,
    formula: Annotated[
        str | None,
        typer.Argument(
            metavar="[FORMULA]",
            help="A regression, for example 'log(income) ~ age + C(sex)'.",
            show_default=False,
        ),
    ] = None,
    mean: Annotated[str | None, typer.Option(help="Mean of a sensitive column.")] = None,
    quantile: Annotated[float | None, typer.Option(help="Quantile, for example 0.9.")] = None,
    share: Annotated[
        str | None, typer.Option(help="Share of rows, for example 'income > 50000'.")
    ] = None,
    correlation: Annotated[
        bool, typer.Option("--correlation", help="Correlations with numeric quasi-identifiers.")
    ] = False,
    of: Of = None,
    by: Annotated[
        str | None, typer.Option(help="Split by a quasi-identifier, or for example 'age < 30'.")
    ] = None,
    logit: Annotated[
        bool, typer.Option("--logit", help="Logistic regression of a condition on the left.")
    ] = False,
    tables: Tables = 20,
    chains: Chains = 2,
    anyway: Anyway = False,
    seed: Seed = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Estimate a quantity from a release, with a standard error and a status.

    The status is valid, approximate or refused; a refused answer ends with exit code 3.
    """
    import shoal
    from shoal.views.estimates import print_estimates

    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = shoal.estimate(
            directory,
            formula,
            mean=mean,
            quantile=quantile,
            share=share,
            correlation=correlation,
            of=of,
            by=by,
            logit=logit,
            tables=tables,
            chains=chains,
            seed=seed,
            anyway=anyway,
            progress=progress,
        )
    facts = found.to_dict()
    if found.status == "refused" and not found.quantities:  # nothing was computed, or shown
        if json:
            show.print_json(facts)
        raise shoal.NotAchievable(found.reason)
    show.print_json(facts) if json else print_estimates(facts)
