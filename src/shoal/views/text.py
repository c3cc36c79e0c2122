"""The terminal view of plans, releases, audits, inspections and attacks, at 80 columns.

An inspection takes three lines a column, however many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.exact import at_least, at_most, percent
from shoal.views.terminal import grouped, heading, plain, table_of, terminal_console
from shoal.views.words import draws, people, without_draw

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from shoal.audit.verify import Audit
    from shoal.principles.guarantee import Guarantee
    from shoal.principles.outlook import Outlook
    from shoal.principles.planning import Plan
    from shoal.release.release import ReleaseData


SHOWN = 24  # points of a frontier
NECESSARY = (
    "Necessary only, with all rows published: people have several rows, and whether what is within "
    "these bounds is achievable a search has to tell. A dry run of the release does."
)
MUST = {"under": "must stay under", "at most": "can be at most", "at least": "must be at least"}


def print_head(title: str, frame: pl.DataFrame, rows: int = 6) -> None:
    """Print the first rows of a table."""
    table = table_of(*frame.columns)
    for row in frame.head(rows).rows():
        table.add_row(*(_short(str(cell)) for cell in row))
    console = terminal_console()
    heading(console, f"{title} ({frame.height:,} rows)")
    console.print(table)
    console.print()


def _short(cell: str, width: int = 26) -> str:
    return cell if len(cell) <= width else cell[: width - 1] + "…"


def print_plan(plan: Plan) -> None:
    """Print what is achievable."""
    console = terminal_console()
    scale = "relative" if plan.relative else "absolute"
    whom = "" if plan.people is None else f" about {plan.people:,} people"
    what = f"{plan.sensitive}, {plan.rows:,} rows{whom}, {scale} epsilon"
    if plan.frontier is not None:
        title = "What is necessary" if plan.necessary_only else "What is achievable"
        heading(console, f"{title}: {what}")
        table = table_of("m", "epsilon must stay under")
        for point in plan.frontier[:SHOWN]:
            table.add_row(str(point.m), grouped(point.epsilon_bound))
        console.print(table)
        if len(plan.frontier) > SHOWN:
            last = plan.frontier[-1]
            console.print(
                f"… and {len(plan.frontier) - SHOWN} more, down to "
                f"{grouped(last.epsilon_bound)} at m = {last.m} (JSON lists all)"
            )
    if plan.largest_m is not None:
        console.print(
            f"{what}\nFor epsilon = {grouped(plan.epsilon)}, the largest m is {plan.largest_m}."
        )
    if plan.m is not None:
        bound = (
            "is not bounded"
            if plan.epsilon_bound is None
            else f"must stay under {grouped(plan.epsilon_bound)}"
        )
        console.print(f"For m = {plan.m}, epsilon {bound}.")
    if plan.achievable is not None:
        console.print(f"Together they are {'' if plan.achievable else 'not '}achievable.")
    if plan.necessary_only:
        console.print(NECESSARY)
    console.print()


def print_known(found: Guarantee | Outlook) -> None:
    """Print what is known beforehand about a requirement."""
    from shoal.principles.outlook import Outlook

    print_outlook(found) if isinstance(found, Outlook) else print_guarantee(found)


def print_outlook(found: Outlook) -> None:
    """Print whether a requirement is achievable, and how far its parameters can go."""
    console = terminal_console()
    on = f" on {', '.join(found.sensitive)}" if found.sensitive else ""
    whom = "" if found.people is None else f" about {found.people:,} people"
    heading(console, f"{found.principle}{on}, {found.rows:,} rows{whom}")
    if found.achievable is not None:
        console.print("Achievable." if found.achievable else "Not achievable.")
    for one in found.limits:
        if one.limit is None and one.must == "under":
            console.print(f"{one.parameter} is not bounded.")
        elif one.limit is None or (one.must == "under" and one.limit == 0):
            console.print(f"No {one.parameter} is achievable with the other parameters.")
        else:
            console.print(f"{one.parameter} {MUST[one.must]} {one.limit}.")
    if found.necessary_only:
        console.print(NECESSARY)
    console.print()


def print_guarantee(found: Guarantee) -> None:
    """Print what is known beforehand about a dissimilarity requirement."""
    console = terminal_console()
    heading(console, f"{found.principle} on {', '.join(found.sensitive)}, {found.rows:,} rows")
    console.print(
        f"A row has at most {found.degree:,} near ones. In {found.classes:,} groups with at most "
        f"{found.neighbours} near ones each, up to {found.degree_limit:,.1f} are certain to work."
    )
    verdict = {
        True: f"Achievable, by {found.by}.",
        False: "Not achievable.",
        None: "Outside what a theorem guarantees; the search may well reach it.",
    }
    console.print(verdict[found.achievable])
    console.print(f"No grouping can have a risk under {at_least(found.least_risk)}.")
    for name, most, rest in (
        ("delta", found.largest_delta, "this epsilon"),
        ("epsilon", found.largest_epsilon, "this delta"),
    ):
        shown = f"{at_least(most, 6)} at most" if most is not None else "none"
        console.print(f"Certain for {rest} and groups of {found.size}: {name} {shown}.")
    console.print()
    heading(console, "Largest delta that is certain, by k")
    table = table_of("k", "near ones allowed", "delta")
    for reach in found.reaches:
        shown = "none" if reach.delta is None else at_least(reach.delta)
        table.add_row(str(reach.k), str(reach.neighbours if reach.delta is not None else ""), shown)
    console.print(table)
    console.print()


def print_release(release: ReleaseData, output: str | None) -> None:
    """Print what was done, what was measured and what it cost."""
    manifest = release.manifest
    console = terminal_console()
    if manifest.get("rows_known") is False:
        console.print(
            "It is promised only against readers who do not know how many rows a person has: "
            f"{manifest['alone']:,} of {manifest['people']:,} people are alone with theirs.",
            markup=False,
        )
    heading(
        console,
        f"Released {_counted(manifest)} to {output}, by {manifest['method']}",
    )
    print_measured(manifest["measured"])
    heading(console, "Information lost")
    loss = table_of("column", "NCP")
    for name, value in manifest["loss"]["ncp"].items():
        loss.add_row(name, percent(value, 2))
    loss.add_row("all (GCP)", percent(manifest["loss"]["gcp"], 2))
    console.print(loss)
    seconds = ", ".join(f"{phase} {value:.2f}" for phase, value in manifest["seconds"].items())
    console.print(f"Seconds: {seconds}\n")


def _counted(facts: dict[str, Any]) -> str:
    """Say how many rows there are, about how many people, in how many groups."""
    groups, number = facts["groups"], facts.get("people")
    about = "" if number is None else f" about {people(number)}"
    for name, table in facts.get("tables", {}).items():
        about += f", with {table['rows']:,} rows of {name}"
    how = (
        "each recast on its own"
        if groups is None
        else f"in {groups:,} group{'' if groups == 1 else 's'}"
    )
    return f"{facts['rows']:,} rows{about} {how}"


def print_measured(measured: list[dict[str, Any]]) -> None:
    """Print measured risks beside what is allowed."""
    heading(terminal_console(), "Measured on the published file")
    table = table_of("requirement", "risk", "allowed", "holds")
    for entry in measured:
        by = {"cells": " (by equal cells)", "matches": " (by matches)"}.get(entry.get("by", ""), "")
        table.add_row(
            f"{entry['principle']}{by}",
            at_most(entry["risk"]),
            at_most(entry["bound"]),
            "yes" if entry["holds"] else "NO",
        )
    terminal_console().print(table)


def print_audit(audit: Audit) -> None:
    """Print the findings of an audit."""
    facts = audit.to_dict()
    console = terminal_console()
    seen = _counted(facts) if facts["rows"] else "no rows could be read"
    console.print(f"Audit: {seen}")
    for sentence in facts["reading"]:
        console.print(sentence, markup=False)
    print_measured(facts["measured"])
    if "matches" in facts:
        print_matches(facts["matches"])
        print_candidates(facts["candidates"])
    for complaint in audit.complaints():
        console.print(complaint, markup=False)
    console.print("Everything holds.\n" if audit.holds else "NOT everything holds.\n")


def print_series_audit(facts: dict[str, Any], complaints: list[str]) -> None:
    """Print what was found of several releases, one line each, and what is wrong."""
    console = terminal_console()
    heading(console, f"Audit of {len(facts['releases'])} releases")
    table = table_of("release", "rows", "groups", "holds")
    for one in facts["releases"]:
        groups = "" if one["groups"] is None else f"{one['groups']:,}"
        table.add_row(one["release"], f"{one['rows']:,}", groups, "yes" if one["holds"] else "NO")
    console.print(table)
    for complaint in complaints:
        console.print(complaint, markup=False)
    console.print("Everything holds.\n" if facts["holds"] else "NOT everything holds.\n")


def print_matches(spread: dict[str, float]) -> None:
    """Print how many published rows people match."""
    heading(terminal_console(), "Published rows that a person matches")
    table = table_of(*(name.replace("_", " ") for name in spread))
    table.add_row(*(f"{value:,.4g}" for value in spread.values()))
    terminal_console().print(table)


def print_candidates(candidates: list[dict[str, Any]]) -> None:
    """Print how near the values of a person's matches are to the person's own."""
    if not candidates:
        return
    heading(terminal_console(), "Share of those rows whose value is near the person's own")
    table = table_of("column", "within", "mean", "median", "worst", "people at 1/2 or more")
    for entry in candidates:
        table.add_row(
            entry["column"],
            grouped(entry["width"]),
            *(f"{entry[name]:.4g}" for name in ("mean", "median", "worst")),
            f"{entry['likely']:,}",
        )
    terminal_console().print(table)
    terminal_console().print("k-anonymity does not bound this: it hides the row, not the value.")


def print_rehearsal(facts: dict[str, Any]) -> None:
    """Print what a run would do."""
    console = terminal_console()
    console.print(
        f"Would publish {facts['rows']:,} rows by {facts['method']}; nothing was written."
    )
    for role, names in facts["roles"].items():
        if names:
            console.print(f"  {role}: {', '.join(map(plain, names))}")
    for entry in facts["require"]:
        limit = f" (largest m here: {entry['largest_m']})" if entry["largest_m"] is not None else ""
        console.print(f"  {entry['principle']}: achievable{limit}")
    if "series" in facts:
        _print_series(console, facts["series"])
    if facts["seconds"] is not None:
        console.print(f"  estimated time: about {facts['seconds']:.0f} s")


def _print_series(console: Console, series: dict[str, Any]) -> None:
    if series["again"]:
        console.print("  The release of the run before never appeared: it would be published now.")
        return
    newcomers = f"{series['newcomers']:,} newcomers" + (" would wait" if series["wait"] else "")
    console.print(
        f"  release {series['releases'] + 1:,} of a series: {series['stay']:,} people stay, "
        f"{series['left']:,} left, {newcomers}"
    )


def print_attack(facts: dict[str, Any]) -> None:
    """Print every attack: its sentence, and its numbers as a table."""
    console = terminal_console()
    for one in facts["vulnerability"]:
        heading(console, f"Vulnerability of {one['release']}: {one['column']}, {one['distance']}")
        _print_grid(one["grid"], one["shown"])
        console.print(without_draw(one) + "\n")
    for title, key in (
        ("Linking", "linking"),
        ("Learning", "learning"),
        ("Intersection of two releases", "intersection"),
        ("Intersection of all releases", "together"),
        ("Difference of two releases", "difference"),
    ):
        if facts[key]:
            heading(console, title)
        for one in facts[key]:
            console.print(f"- {without_draw(one)}")
    for remark in [*draws(facts), *facts["remarks"], facts["minimality"]]:
        console.print(remark)


def _print_grid(grid: list[dict[str, float]], shown: list[float]) -> None:
    """Print the share of groups (or people) in breach, a line for each ε."""
    table = table_of("epsilon", *(f"delta {delta:g}" for delta in shown))
    for epsilon in sorted({one["epsilon"] for one in grid}):
        shares = {one["delta"]: one["share"] for one in grid if one["epsilon"] == epsilon}
        table.add_row(grouped(epsilon), *(percent(shares[delta], 1) for delta in shown))
    terminal_console().print(table)
