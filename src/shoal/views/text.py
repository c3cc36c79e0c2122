"""The terminal view of plans, releases, audits, inspections and attacks, at 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import option
from shoal.exact import at_least, percent
from shoal.table.forms import MEANS
from shoal.views import verdict, words
from shoal.views.console import grouped, heading, table_of, terminal_console
from shoal.views.sentences import risk_and_bound
from shoal.views.terminal import as_typed, plain
from shoal.views.words import ATTACKS, draws, people, percent_up, why_necessary, without_draw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from rich.console import Console

    from shoal.audit.verify import Audit
    from shoal.principles.dissimilarity import Guarantee
    from shoal.principles.foresight import Foreseen, RequirementPlan
    from shoal.release.recoding import ReleaseData
    from shoal.runs.plan import Plan


SHOWN = 24  # points of a frontier
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
    whom = "" if plan.people is None else f" of {plan.people:,} people"
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
    _print_at_odds(console, plan)
    if plan.largest_m is not None:
        most = (
            f"the largest m is {plan.largest_m}"
            if plan.largest_m > 1
            else "no m of 2 or more is achievable"
        )
        console.print(f"{what}\nFor epsilon = {grouped(plan.epsilon)}, {most}.")
    if plan.m is not None:
        bound = (
            "epsilon is not bounded"
            if plan.epsilon_bound is None
            else f"epsilon must stay under {grouped(plan.epsilon_bound)}"
            if plan.epsilon_bound
            else "no epsilon is achievable"
        )
        console.print(f"For m = {plan.m}, {bound}.")
    if plan.achievable is not None:
        console.print(f"Together they are {'' if plan.achievable else 'not '}achievable.")
    _print_reason(console, plan)
    if plan.necessary_only:
        console.print(why_necessary(plan.people, plan.missing))
    console.print()


def _print_reason(console: Console, found: Foreseen) -> None:
    """Print which rows are in the way, and what would help."""
    if found.reason is not None:
        console.print(f"What prevents it: {found.reason}.", markup=False)
    helps = [option("require", text) for text in found.remedies]
    helps += [] if found.suppress is None else [option("suppress", found.suppress)]
    if helps:
        console.print(as_typed(f"What would help: {'; or '.join(helps)}."), markup=False)


def print_known(found: RequirementPlan) -> None:
    """Print what is known beforehand about a requirement."""
    from shoal.principles.dissimilarity import Guarantee

    print_guarantee(found) if isinstance(found, Guarantee) else print_outlook(found)


def print_outlook(found: RequirementPlan) -> None:
    """Print whether a requirement is achievable, and how far its parameters can go."""
    console = terminal_console()
    on = f" on {', '.join(found.sensitive)}" if found.sensitive else ""
    whom = "" if found.people is None else f" of {found.people:,} people"
    heading(console, f"{found.principle}{on}, {found.rows:,} rows{whom}")
    if found.achievable is not None:
        whole = "." if found.people is None else " with all rows of each person."
        console.print("Achievable." if found.achievable else f"Not achievable{whole}")
    _print_reason(console, found)
    _print_at_odds(console, found)
    for one in found.limits:
        if one.limit is None and one.must == "under":
            console.print(f"{one.parameter} is not bounded.")
        elif one.limit is None or (one.must == "under" and one.limit == 0):
            console.print(f"No {one.parameter} is achievable with the other parameters.")
        elif one.must == "at most" and one.limit <= 1:
            console.print(f"No {one.parameter} above 1 is achievable with the other parameters.")
        else:
            console.print(f"{one.parameter} {MUST[one.must]} {one.limit}.")
    if found.necessary_only:
        console.print(why_necessary(found.people, found.missing))
    console.print()


def print_guarantee(found: Guarantee) -> None:
    """Print what is known beforehand about a dissimilarity requirement."""
    console = terminal_console()
    heading(console, f"{found.principle} on {', '.join(found.sensitive)}, {found.rows:,} rows")
    _print_at_odds(console, found)
    console.print(
        f"In the whole table, no row has more than {found.degree:,} near rows. If no row has more "
        f"than {found.degree_limit:,.1f}, it is certain that {found.classes:,} groups exist in "
        f"which every row has at most {found.neighbours} near rows."
    )
    verdict = {
        True: f"Achievable, by {found.by}.",
        False: "Not achievable.",
        None: "No theorem guarantees this. The search may still find it.",
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
    manifest, facts = release.manifest, release.manifest.to_dict()
    console = terminal_console()
    if manifest.rows_known is False:
        console.print(
            "Important: this guarantee holds only for readers who do not know how many rows a "
            f"person has. {manifest.alone:,} of {manifest.people:,} people are the only ones in "
            "their group with their number of rows.",
            markup=False,
        )
    heading(console, f"Released {_counted(facts)} to {output}, by {manifest.method}")
    print_measured(facts["measured"])
    print_verdict(facts)
    heading(console, "Information lost")
    loss = table_of("column", "NCP")
    for name, value in manifest.loss.ncp.items():
        loss.add_row(name, percent(value, 2))
    loss.add_row("all (GCP)", percent(manifest.loss.gcp, 2))
    if release.form == MEANS and release.squared_error is not None:
        loss.add_row("squared error of the means (SSE/SST)", percent(release.squared_error, 2))
    console.print(loss)
    phases = (f"{phase} {value:.2f}" for phase, value in release.settings["seconds"].items())
    console.print(f"Seconds: {', '.join(phases)}\n", soft_wrap=True)


def _counted(facts: dict[str, Any]) -> str:
    """Say how many rows there are, about how many people, in how many groups."""
    groups, number = facts["groups"], facts.get("people")
    about = "" if number is None else f" of {people(number)}"
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
    table = table_of("requirement", "measured", "at most", "holds")
    for entry in measured:
        by = {"cells": " (by equal cells)", "matches": " (by matches)"}.get(entry.get("by", ""), "")
        table.add_row(
            f"{entry['principle']}{by}",
            *risk_and_bound(entry),
            "yes" if entry["holds"] else "NO",
        )
    terminal_console().print(table)


def print_audit(audit: Audit) -> None:
    """Print the findings of an audit."""
    facts = audit.to_dict()
    console = terminal_console()
    seen = _counted(facts) if facts["rows"] else "no rows could be read"
    console.print(f"Audit: {seen}")
    if facts["report"] is not None and facts["report"]["text"] != "compared":
        heading(console, facts["report"]["because"])
    for sentence in facts["reading"]:
        console.print(sentence, markup=False)
    print_measured(facts["measured"])
    if "matches" in facts:
        print_matches(facts["matches"])
        print_candidates(facts["candidates"])
    for complaint in audit.complaints():
        console.print(complaint, markup=False)
    if "verdict" in facts:
        print_verdict(facts)
        for sentence in facts["stated"]:
            console.print(sentence, markup=False)
        console.print()
    else:
        console.print(f"{verdict.of_table(facts)}\n")


def _print_at_odds(console: Console, found: Foreseen | Guarantee) -> None:
    """Print what is bounded where some rows seem more likely than others, and what keeps it."""
    if found.odds is None:
        return
    even = f"Even if some rows of a group seem {found.odds['odds']:g} times as likely as others"
    if found.odds["bound"] is None:
        console.print(f"{even}: the requirement sets no limit on close guesses.")
        return
    console.print(
        f"{even}: a listed guess is close with a chance of at most "
        f"{percent_up(found.odds['bound'])}. If at most 1 in {found.odds['m']} rows may be near, "
        "this reader has the limit that a reader who considers all rows equally likely has now."
    )


def print_odds(odds: float, bounds: Sequence[Mapping[str, Any]]) -> None:
    """Print what a reader learns to whom some rows of a group seem more likely than others."""
    console = terminal_console()
    console.print(f"If some rows seem {odds:g} times as likely as others, for listed guesses:")
    for one in bounds:
        said = "not bounded" if one["bound"] is None else f"at most {percent_up(one['bound'])}"
        console.print(f"- {one['principle']}: {said}", markup=False)


def print_verdict(facts: dict[str, Any]) -> None:
    """Print the verdict, its reasons, what to do, and what exposed columns show."""
    console = terminal_console()
    heading(console, f"Verdict: {verdict.says(facts)}")
    for sentence in verdict.because(facts):
        console.print(sentence, markup=False)
    for one in verdict.settlements(facts):
        console.print(f"- {as_typed(one.sentence)}", markup=False)
    stands = verdict.public(facts)
    for said in (verdict.statement(facts), verdict.otherwise(facts), stands and stands.sentence):
        if said:
            console.print(said, markup=False)
    lines = verdict.shown(facts)
    if not lines or lines[0]["unique"] is None:
        return
    table = table_of(
        "published unchanged", "unique in group", "known for certain", "known above 1/2"
    )
    for line in lines:
        shares = (verdict.share(line[one]) for one in ("unique", "certain", "likely"))
        table.add_row(line["column"], *shares)
    console.print(table)


def print_series_audit(facts: dict[str, Any], complaints: list[str]) -> None:
    """Print what was found of several releases, one line each, and what is wrong."""
    console = terminal_console()
    heading(console, f"Audit of {len(facts['releases'])} releases")
    table = table_of("release", "rows", "groups", "verdict")
    for one in facts["releases"]:
        groups = "" if one["groups"] is None else f"{one['groups']:,}"
        table.add_row(one["release"], f"{one['rows']:,}", groups, verdict.says(one))
    console.print(table)
    for one in facts["releases"]:
        if one["report"] is not None and one["report"]["text"] != "compared":
            heading(console, f"{one['release']}: {one['report']['because']}")
    for complaint in complaints:
        console.print(complaint, markup=False)
    heading(console, f"Verdict: {verdict.says(facts)}\n")


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
    whom = "" if facts.get("people") is None else f" of {facts['people']:,} people"
    console.print(
        f"Would publish {'up to ' if whom else ''}{facts['rows']:,} rows{whom} by "
        f"{facts['method']}; nothing was written."
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
        console.print(
            "  The previous run did not finish publishing. Its release would be published now."
        )
        return
    newcomers = f"{series['newcomers']:,} newcomers" + (" would wait" if series["wait"] else "")
    console.print(
        f"  release {series['releases'] + 1:,} of a series: {series['stay']:,} people stay, "
        f"{series['left']:,} left, {newcomers}"
    )


def print_attack(facts: dict[str, Any]) -> None:
    """Print every attack: its sentence, and its numbers as a table."""
    console = terminal_console()
    _print_attacks(console, facts, ATTACKS[:1])
    if facts["vulnerability"]:
        console.print(words.SHARES)
    for one in facts["vulnerability"]:
        heading(console, f"Vulnerability of {one['release']}: {one['column']}, {one['distance']}")
        _print_grid(one["grid"], one["shown"])
        console.print(without_draw(one) + "\n")
    _print_attacks(console, facts, ATTACKS[1:])
    for remark in [*draws(facts), *facts["remarks"], facts["minimality"]]:
        console.print(remark)


def _print_attacks(
    console: Console, facts: dict[str, Any], attacks: Sequence[tuple[str, str]]
) -> None:
    for title, key in attacks:
        if facts[key]:
            heading(console, title)
        for one in facts[key]:
            console.print(f"- {without_draw(one)}")


def _print_grid(grid: list[dict[str, float]], shown: list[float]) -> None:
    """Print the share of groups (or people) in breach, a line for each ε."""
    table = table_of("epsilon", *(f"delta {delta:g}" for delta in shown))
    for epsilon in sorted({one["epsilon"] for one in grid}):
        shares = {one["delta"]: one["share"] for one in grid if one["epsilon"] == epsilon}
        table.add_row(grouped(epsilon), *(percent(shares[delta], 1) for delta in shown))
    terminal_console().print(table)
