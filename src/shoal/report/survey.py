"""The terminal view of a survey: the level of every principle on a published table."""

from __future__ import annotations

from typing import Any

from shoal.exact import WHOLE, at_least, at_most, downward, upward, written
from shoal.report.text import _console, _heading, _number, _table

SHOWN = 6  # digits of a level


def level_name(level: dict[str, Any]) -> str:
    """Write a principle with what is fixed of it, as `TCloseness(t, ground='equal')`."""
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
    console = _console()
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
        _heading(console, f"{column['column']}: what every group keeps")
        table = _table("principle", "strictest that holds")
        for level in column["levels"]:
            table.add_row(level_name(level), level_value(level))
        console.print(table)
        _heading(console, "Share of a group within epsilon of one member")
        table = _table("epsilon", "worst group", "mean row", "delta kept", "rows at 1/2 or more")
        for one in column["proximity"]:
            table.add_row(
                _number(one["epsilon"]),
                at_most(one["risk"]),
                f"{one['mean_risk']:.4g}",
                at_least(one["delta"]),
                f"{one['likely_rows']:.2%}",
            )
        console.print(table)
        _heading(console, "Riskiest groups")
        worst = column["riskiest"]
        table = _table(*worst[0])
        for one in worst:
            cells = (v if isinstance(v, str) else _rounded(v) for v in one.values())
            table.add_row(*cells)
        console.print(table)
        _heading(console, f"Riskiest records, at epsilon {_number(worst[0]['epsilon'])}")
        table = _table("row", "group", "risk", "why")
        for one in column["riskiest_records"]:
            table.add_row(f"{one['row']:,}", one["group"], at_most(one["risk"]), one["why"])
        console.print(table)


def sentences(found: dict[str, Any]) -> list[str]:
    """Say in plain words how likely people are found."""
    said = [
        f"Whoever knows that a person is in the table finds the row with a chance of up to "
        f"{found['prosecutor']:.4g} (prosecutor) and of {found['marketer']:.4g} on average "
        "(marketer).",
        f"{found['unique_rows']:,} rows ({found['uniqueness']:.2%}) share their description with "
        f"no other; {found['rows_above_one_in_five']:.2%} are found with more than 1 in 5.",
    ]
    if "journalist" in found:
        said.append(
            f"Against a population of {found['population']:,}, a person is found with a chance of "
            f"up to {found['journalist']:.4g} (journalist), of "
            f"{found['marketer_population']:.4g} on average."
        )
        if found["k_map"] is not None:
            said.append(
                f"Every description fits at least {found['k_map']:,} of them: "
                f"KMap(k={found['k_map']})."
            )
        if found["presence"] is not None:
            low, high = found["presence"]
            said.append(
                f"Of those whom a description fits, from {at_least(low)} to {at_most(high)} are in "
                "the table: DeltaPresence, where descriptions do not overlap."
            )
    return said


def _rounded(value: float) -> str:
    """Spell a number with four digits, or all before the point where there are more."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"
