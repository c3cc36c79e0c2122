"""The terminal view of methods compared, of a parameter tuned, and of the levels of a table."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.exact import WHOLE, at_least, at_most, downward, percent, upward, written
from shoal.principles.k_anonymity import in_population
from shoal.release.manifest import PRICE, VALID, WORDS, sizes_alone
from shoal.table.forms import TWO_TABLES
from shoal.views.console import grouped, heading, table_of, terminal_console
from shoal.views.words import chance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAILED = (
    "does not hold: its release fails its own audit. Do not choose it, however little it loses."
)
METRICS = {"r2": "R²", "accuracy": "accuracy", "roc_auc": "ROC-AUC"}


def print_comparison(facts: dict[str, Any]) -> None:
    """Print methods side by side."""
    console = terminal_console()
    heading(console, f"{' and '.join(facts['require'])} on {facts['rows']:,} rows")
    shown = [
        measure for measure in measures(facts) if any(value is not None for value in measure.values)
    ]
    table = table_of("method", "holds", *(measure.short for measure in shown), "groups")
    for place, entry in enumerate(facts["entries"]):
        if entry["problem"]:
            table.add_row(entry["method"], "", "not reached")
            continue
        groups = "none" if entry["groups"] is None else f"{entry['groups']:,}"
        cells = [measure.spelled(place) for measure in shown]
        table.add_row(entry["method"], "yes" if entry["holds"] else "NO", *cells, groups)
    console.print(table)
    console.print(winner(facts))
    for entry in facts["entries"]:
        if entry["problem"]:
            console.print(f"{entry['method']}: {entry['problem']}")
    for line in failures(facts):
        console.print(line)
    for line in (*explained(facts), *facts["remarks"]):
        console.print(line, style="dim")


def winner(facts: dict[str, Any]) -> str:
    """Name the method to take, and why."""
    holding = [one for one in facts["entries"] if one["holds"]]
    if not holding:
        return "Choose none of them: no release holds what is required."
    first, *others = holding
    if not others:
        return f"Choose {first['method']}: only its release holds what is required."
    second = others[0]
    if first["loss"] == second["loss"]:
        alike = " and ".join(one["method"] for one in holding if one["loss"] == first["loss"])
        quick = min(
            (one for one in holding if one["loss"] == first["loss"]), key=lambda one: one["seconds"]
        )
        return f"Choose {quick['method']}: {alike} lose the same, and it was the quickest of them."
    return (
        f"Choose {first['method']}: of the methods that hold, it loses least "
        f"({percent(first['loss'], 2)}). The next is {second['method']} "
        f"({percent(second['loss'], 2)})."
    )


def failures(facts: dict[str, Any]) -> list[str]:
    """Name the methods whose release does not hold what is required."""
    return [f"{one['method']} {FAILED}" for one in facts["entries"] if one["holds"] is False]


def explained(facts: dict[str, Any]) -> list[str]:
    """Say what the columns are, and what stands beside what was learned."""
    lines = []
    first = next((one for one in facts["entries"] if one["holds"] and one["times_least"]), None)
    if first is not None:
        lines.append(
            f"No release of these rows that keeps what is required can lose less than "
            f"{at_least(100 * facts['least_loss'], 3)}%. {first['method']} loses at most "
            f"{at_most(first['times_least'], 3)} times that."
        )
    if asked := facts["workload"]:
        lines.append(
            f"error: median relative error of {asked['queries']:,} count queries, each over "
            f"{asked['quasi']} quasi and {asked['sensitive']} sensitive columns and "
            f"{asked['selectivity']:.4g} of their domain."
        )
    lines += _regressions(facts["entries"], facts["form"], facts["require"])
    learned = next((one["learning"] for one in facts["entries"] if one["learning"]), None)
    if learned:
        metric = learned["metric"]
        original, trivial = (best(learned[which], metric) for which in ("original", "trivial"))
        lines.append(
            f"learned: {METRICS[metric]} of {learned['target']} on {learned['asked']:,} held-out "
            f"rows, by the better of a forest and a linear model trained on the release. For "
            f"comparison: trained on the original {spell(original)}, trained without quasi columns "
            f"{spell(trivial)}, by one guess for everyone {spell(learned['baseline'][metric])}."
        )
        if not learned["learnable"]:
            lines.append(
                "Nothing to compare: on these held-out rows the quasi-identifiers do not "
                f"improve predictions of {learned['target']}, so Shoal cannot measure how much "
                "of that each method keeps."
            )
    return lines


def _regressions(entries: list[dict[str, Any]], form: str, require: Sequence[str]) -> list[str]:
    """Say by which methods an analyst may conclude how columns go together."""
    said = []
    for status, word in WORDS.items():
        methods = [one["method"] for one in entries if one["regression"] == status]
        said += [f"{word} with {' and '.join(methods)}"] if methods else []
    if not said:
        return []
    if form != TWO_TABLES:
        by = "on the published table" if sizes_alone(require) else "by shoal estimate"
        return [f"Regression {by}: {'; '.join(said)}."]
    line = f"Regression by shoal estimate, in the form two-tables: {'; '.join(said)}."
    if not any(one["regression"] == VALID for one in entries):
        line += " Oblivious() allows most estimates. " + PRICE
    return [line]


def best(scores: dict[str, dict[str, float | None]], metric: str) -> float | None:
    """Return the score of the better model."""
    known = [score for one in scores.values() if (score := one[metric]) is not None]
    return max(known, default=None)


def spell(value: float | None) -> str:
    """Write a score."""
    return "unknown" if value is None else f"{value:z.3f}"


class Measure:
    """One column of a comparison: its names, its value for each method, how it is written."""

    def __init__(
        self,
        short: str,
        title: str,
        form: Callable[[float], str],
        values: list[float | None],
        beside: dict[str, float | None] | None = None,
    ) -> None:
        self.short, self.title, self.form, self.values = short, title, form, values
        self.beside = beside or {}  # what the values lie between, by name

    def spelled(self, place: int) -> str:
        """Write the value of a method."""
        value = self.values[place]
        return "" if value is None else self.form(value)


def measures(facts: dict[str, Any]) -> list[Measure]:
    """Return everything that methods are compared by."""
    entries = facts["entries"]

    def column(name: str) -> list[float | None]:
        return [entry[name] for entry in entries]

    risks = [one and upward(written(one), 4) for one in column("risk")]
    errors = [one["query_error"] and one["query_error"]["median"] for one in entries]
    learned = [
        one["learning"] and best(one["learning"]["release"], one["learning"]["metric"])
        for one in entries
    ]
    known = next((one["learning"] for one in entries if one["learning"]), None)
    metric, beside = "", {}
    if known:
        metric = METRICS[known["metric"]]
        beside = {
            name: best(known[which], known["metric"])
            for name, which in (("from the original", "original"), ("no quasi", "trivial"))
        }
    lost = partial(percent, digits=2)
    return [
        Measure("GCP", "detail lost (GCP)", lost, column("loss")),
        Measure("SSE", "squared error of group means (SSE/SST)", lost, column("squared_error")),
        Measure("error", "median relative error of a count", lost, errors),
        Measure("learned", f"learned from it ({metric})", "{:z.3f}".format, learned, beside),
        Measure("risk", "worst measured risk", "{:.4g}".format, risks),
        Measure("s", "seconds of search", "{:.2f}".format, column("seconds")),
        Measure("MB", "megabytes of search", "{:,.1f}".format, column("megabytes")),
    ]


def print_frontier(facts: dict[str, Any]) -> None:
    """Print loss by parameter, the knee marked, and why the rest is not achievable."""
    console = terminal_console()
    heading(
        console, f"{' and '.join(facts['require'])} by {facts['method']}, {facts['rows']:,} rows"
    )
    fewer = any(point["left_out"] for point in facts["points"])
    left_out = ("rows left out",) if fewer else ()
    table = table_of(facts["parameter"], "GCP", *left_out, "groups", "seconds", "")
    bend = facts["knee"] and facts["knee"]["value"]
    for point in facts["points"]:
        marks = [
            word
            for word, there in (("knee", bend), ("asked for", facts["asked"]))
            if point["value"] == there
        ]
        if point["loss"] is None:
            cells = ("not reached", *("" for _ in left_out), "", "")
        else:
            groups = "none" if point["groups"] is None else f"{point['groups']:,}"
            gone = (f"{point['left_out']:,}",) if fewer else ()
            cells = (percent(point["loss"], 2), *gone, groups, f"{point['seconds']:.2f}")
        table.add_row(f"{point['value']:,.6g}", *cells, ", ".join(marks))
    console.print(table)
    console.print(facts["sentence"])
    for reason in reasons(facts):
        console.print(reason, style="dim")


def reasons(facts: dict[str, Any]) -> list[str]:
    """Return why the point next to those that were reached was not, and which were not either.

    A trial's reasons are those of a trial, and say nothing about the table.
    """
    if facts.get("trial"):
        return []
    points = facts["points"]
    reached = [place for place, point in enumerate(points) if not point["problem"]]
    missed = [place for place, point in enumerate(points) if point["problem"]]
    missed.sort(key=lambda place: min((abs(place - one) for one in reached), default=0))
    if not missed:
        return []
    first, *others = (points[place] for place in missed)
    lines = [f"{facts['parameter']} = {first['value']:,.6g}: {first['problem']}"]
    if others:
        values = ", ".join(f"{value:,.6g}" for value in sorted(one["value"] for one in others))
        lines.append(f"{facts['parameter']} = {values}: not achieved either.")
    return lines


SHOWN = 6  # digits of a level


def level_name(level: dict[str, Any]) -> str:
    """Write a principle with what is fixed of it, its level first."""
    fixed = [f"{name}={value!r}" for name, value in level["fixed"].items()]
    return f"{level['principle']}({', '.join([level['parameter'], *fixed])})"


def level_value(level: dict[str, Any]) -> str:
    """Write the measured level in few digits, so that it holds as it is written."""
    if level["level"] is None:
        return "nothing holds"
    rounded = downward if level["stronger"] == "larger" else upward
    return spelled(rounded(written(level["level"]), SHOWN))


def spelled(value: float) -> str:
    """Spell a number as the notation reads it, without a point where it is whole."""
    return str(int(value)) if float(value).is_integer() and abs(value) < WHOLE else str(value)


def print_survey(facts: dict[str, Any]) -> None:
    """Print every level, and what each says of people's safety."""
    console = terminal_console()
    console.print(
        f"Audit: {facts['rows']:,} rows in {facts['groups']:,} groups of at least {facts['k']:,} "
        f"(by {facts['by']})"
    )
    for remark in facts["remarks"]:
        console.print(remark)
    for sentence in sentences(facts["identification"]):
        console.print(sentence)
    for column in facts["columns"]:
        console.print()
        heading(console, f"{column['column']}: what every group keeps")
        table = table_of("principle", "strictest that holds")
        for level in column["levels"]:
            table.add_row(level_name(level), level_value(level))
        console.print(table)
        heading(console, "Share of a group within epsilon of one member")
        table = table_of("epsilon", "worst group", "mean row", "delta kept", "rows at 1/2 or more")
        for one in column["proximity"]:
            table.add_row(
                grouped(one["epsilon"]),
                at_most(one["risk"]),
                f"{one['mean_risk']:.4g}",
                at_least(one["delta"]),
                percent(one["likely_rows"], 2),
            )
        console.print(table)
        heading(console, "Riskiest groups")
        worst = column["riskiest"]
        table = table_of(*worst[0])
        for one in worst:
            cells = (
                at_most(v) if name == "risk" else v if isinstance(v, str) else _rounded(v)
                for name, v in one.items()
            )
            table.add_row(*cells)
        console.print(table)
        heading(console, f"Riskiest records, at epsilon {grouped(worst[0]['epsilon'])}")
        table = table_of("row", "group", "risk", "why")
        for one in column["riskiest_records"]:
            table.add_row(f"{one['row']:,}", one["group"], at_most(one["risk"]), one["why"])
        console.print(table)


def worst(smallest: int) -> str:
    """Say in plain words what the largest risk is where the smallest group has so many rows."""
    risk = f"a chance of {chance(Fraction(1, smallest))}" if smallest > 1 else "certainty (1 in 1)"
    return (
        f"In the worst case, a reader finds a person's row with {risk}. This reader knows the "
        "person's quasi-identifiers, and knows that the person is in the table."
    )


def sentences(found: dict[str, Any]) -> list[str]:
    """Say in plain words how likely people are found."""
    said = [
        f"A reader who knows that a person is in the table finds the row with a chance of up to "
        f"{_chance(found['prosecutor'])} (prosecutor) and of {found['marketer']:.4g} on average "
        "(marketer).",
        f"{found['unique_rows']:,} rows ({percent(found['uniqueness'], 2)}) share their "
        f"description with no other; {percent(found['rows_above_one_in_five'], 2)} are found with "
        "more than 1 in 5.",
    ]
    if "journalist" in found:
        said.append(
            f"Against a population of {found['population']:,}, a person is found with a chance of "
            f"up to {found['journalist']:.4g} (journalist), of "
            f"{found['marketer_population']:.4g} on average."
        )
        said += in_population(found["k_map"], found["presence"])
    return said


def _chance(risk: float) -> str:
    """Write one in so many people as that."""
    return "1" if risk == 1 else f"1 in {round(1 / risk):,}"


def _rounded(value: float) -> str:
    """Spell a number with four digits, or all before the point where there are more."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"
