"""How the page speaks: numbers for people, and the words for options and parameters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.exact import SMALL, percent
from shoal.views import usual

if TYPE_CHECKING:
    from collections.abc import Collection

EVERYBODY, KNOWN = usual.EVERYBODY, usual.KNOWN
NARROW = "\u00a0"  # keeps "1 in 5" on one line
OPTIONS: dict[str, str | dict[str, str]] = {
    "suppress": "Leave out up to {} of the rows",
    "missing": {"drop": "Leave these rows out", "value": "Count “missing” as a value"},
    "escape_formulas": "Defuse cells that a spreadsheet would run",
    "rows": {"unknown": "Readers do not know how many rows a person has"},
    "most_rows": "Publish at most {} rows of a person",
    "method": "Search by {}",
    "keep_other": "Keep the harmless columns all the same",
    "delimiter": "Cells are parted by {}",
    "encoding": "The text is in {}",
    "decimal": "The decimal sign is {}",
    "form": "Write cells as {}",
}
NAMES = {
    "suppress": "“Rows that may be left out”",
    "missing": "what to do about missing cells",
    "delimiter": "what parts cells",
    "encoding": "the encoding",
    "force": "replacing it",
    "output": "the place",
}
KNOBS = {  # parameter: what it asks for, what stands before the number
    "epsilon": ("{column} counts as nearly known when a reader is right to within", ""),
    "m": ("A reader may be sure of that at most", "1 in "),
    "l": ("A reader may be sure of {column} at most", "1 in "),
    "k": ("So many people at least share every description", ""),
    "delta": ("The largest share of others that may be near", ""),
    "alpha": ("The largest share of a group that one value may have", ""),
    "t": ("The furthest that a group may be from the whole table", ""),
    "beta": ("The most that a value may gain in a group, in times of its share", ""),
    "e": ("The narrowest range that a group’s values may span", ""),
    "d": ("The least spread of a group’s values", ""),
}
COUNTS = {"m", "l", "k"}
KINDS = {
    "EpsilonM": "Nobody’s {column} can be nearly known",
    "FrequencyL": "Nobody’s {column} can be named",
    "KAnonymity": "Nobody can be found",
    "KMap": "Nobody can be found among all who could be in the table",
    "DeltaPresence": "Nobody can tell who is in the table",
    "TCloseness": "No group tells more of {column} than the whole table",
    "BetaLikeness": "No value of {column} becomes much likelier in a group",
    "DeltaDisclosure": "No value of {column} becomes much likelier, or rarer, in a group",
    "AlphaK": "Nobody’s {column} is nearly certain",
    "DistinctL": "A group has several values of {column}",
    "EntropyL": "The values of {column} are well mixed in a group",
    "RecursiveCL": "The most frequent {column} of a group is not too frequent",
    "MUniqueness": "Nobody’s {column} can be named",
    "Dissimilarity": "Nobody’s {column} can be told from those that are like it",
    "DeltaL": "Nobody’s {column} can be nearly known",
    "Neighbourhood": "Nobody’s {column} can be nearly known",
    "Window": "The {column} of a group spans a range",
    "Chain": "The {column} of a group is not all in one run",
    "KE": "The {column} of a group spans a range",
    "Variance": "The {column} of a group varies",
}
STARTS = {
    "FrequencyL": "FrequencyL(l={most})",
    "KAnonymity": "KAnonymity(k={most})",
    "TCloseness": "TCloseness(t=0.2)",
}
FORMS = {  # name, how a cell looks, what it is good for
    "intervals": ("Intervals", "[38, 41]", "One column each; says plainly what is known."),
    "bounds": ("Bounds", "38 · 41", "Two columns of numbers, the ends of the interval."),
    "means": ("Means and bounds", "39.4 · 38 · 41", "Numbers at once in R, Stata or pandas."),
    "two-tables": (
        "Two tables",
        "people.csv + values.csv",
        "Everybody’s known columns stand there as they are: who is in the table is no secret.",
    ),
}
METHODS = {  # what it is called, and what it is good for
    "": ("The usual way", "Shoal takes what loses least on your table."),
    "Exchange()": ("By exchange", "People change places between groups until cells are narrow."),
    "Split()": ("By splitting", "Fast, for very large tables."),
    "Mondrian()": ("By halving", "The classic: halves the table at its medians."),
}
SETTABLE = {"missing", "suppress", "method", "form", "rows", "most_rows"}  # in step 3, as remedies
ALTERNATIVES = {  # what it is called, and what it gains
    "everybody": (
        "For everybody to read",
        f"Nobody is found with more than 1 in {EVERYBODY}, the limit for data that anybody may "
        "read.",
    ),
    "known": ("For people we know", f"Found with at most 1 in {KNOWN}: for readers who sign."),
    "wider": ("Hide a wider range", "Guesses must be further off to be of no use."),
    "suppress": (
        "Leave out up to 1% of the rows",
        "Those that stand far from all others make the cells of many wide.",
    ),
    "drop": ("Without {drop}", "One column fewer; the others stay more exact."),
}
DOING = {
    "publish": "Making the release",
    "audit": "Checking the release",
    "attack": "Attacking the release",
    "survey": "Measuring the table",
    "compare": "Comparing ways to publish it",
    "tune": "Trying more and less protection",
}
DONE = {
    "publish": "Verdict",
    "audit": "Verdict",
    "attack": "What an attacker learns",
    "survey": "What the table keeps as it is",
    "compare": "Ways to publish it, compared",
    "tune": "What more protection costs",
}
TYPES = {
    "numeric": "number",
    "date": "date",
    "latitude": "latitude",
    "longitude": "longitude",
    "categorical": "label",
    "code": "code",
    "boolean": "yes or no",
    "ordered": "ordered label",
}
MOST_POINTS = 200  # of a picture of what a search loses
MOST_DIGITS = 10**15  # numbers from here on are not written out


def whole(value: float) -> str:
    """Write a count.

    >>> whole(60214)
    '60,214'
    """
    return f"{value:,.0f}"


def number(value: Any) -> str:
    """Write a number with separators and no more digits than it has.

    >>> number(2000), number(0.25), number(3e7), number("abc")
    ('2,000', '0.25', '30,000,000', 'abc')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    whole_number = isinstance(value, int) or (value.is_integer() and abs(value) < MOST_DIGITS)
    return f"{value:,.0f}" if whole_number else f"{value:,.6g}"


def beside(lost: float, now: float) -> str:
    r"""Say how much more or less something costs than what is chosen.

    >>> beside(0.153, 0.057), beside(0.017, 0.057), beside(0.057, 0.057)
    ('9.6 more than as you asked', '4 less than as you asked', 'as much as you asked for')
    """
    digits = 1 if max(lost, now) >= SMALL else 2  # as both are shown
    more = round(100 * lost, digits) - round(100 * now, digits)
    if not round(more, digits):
        return "as much as you asked for"
    return f"{round(abs(more), digits):g} {'more' if more > 0 else 'less'} than as you asked"


def of_100(share: float) -> str:
    r"""Write a share of people, upward: "47 in 100", and where few are, "1 in 1,200".

    >>> of_100(0.471), of_100(0.0008), of_100(0), of_100(1)
    ('48\xa0in\xa0100', '1\xa0in\xa01,250', 'nobody', 'everybody')
    """
    if share <= 0:
        return "nobody"
    if share >= 1:
        return "everybody"
    if share >= 0.01:
        return f"{math.ceil(round(share * 100, 6))}{NARROW}in{NARROW}100"
    return f"1{NARROW}in{NARROW}{math.floor(Fraction(1) / Fraction(str(share))):,}"


def seconds(value: float) -> str:
    r"""Write a time.

    >>> seconds(0.234), seconds(42.4), seconds(125)
    ('0.2\xa0s', '42\xa0s', '2\xa0min 5\xa0s')
    """
    if value < 10:
        return f"{value:.1f}{NARROW}s"
    if value < 60:
        return f"{value:.0f}{NARROW}s"
    return f"{int(value // 60)}{NARROW}min {int(value % 60)}{NARROW}s"


def remaining(value: float) -> str:
    """Write how long something still takes, in no more detail than is known.

    >>> remaining(0.4), remaining(24.2), remaining(95)
    ('About 1 second left', 'About 24 seconds left', 'About 2 minutes left')
    """
    count, unit = (max(1, round(value)), "second") if value < 90 else (round(value / 60), "minute")
    return f"About {count} {unit}{'' if count == 1 else 's'} left"


def size(count: int) -> str:
    """Write the size of a file.

    >>> size(900), size(912_000), size(3_400_000)
    ('1 kB', '912 kB', '3.4 MB')
    """
    if count < 1_000_000:
        return f"{max(1, round(count / 1000))} kB"
    return f"{count / 1_000_000:.1f} MB"


def option(name: str, value: str | None) -> str:
    """Spell an option in a sentence of the page."""
    if value is None:
        return NAMES.get(name, name.replace("_", " "))
    return f"“{label(name, value)}”"


def label(name: str, value: str) -> str:
    """Return what a button says that sets an option."""
    known = OPTIONS.get(name, "{name}: {{}}".format(name=name.replace("_", " ").capitalize()))
    if isinstance(known, dict):
        return known.get(value, f"{name.replace('_', ' ')} {value}")
    return known.format(value).replace(" 1 rows", " 1 row")


def remedies(fix: Collection[tuple[str, str | None]]) -> list[tuple[str, str]]:
    """Return the options that would help and can be set in the page, each once, with its value.

    >>> remedies([("suppress", None), ("most_rows", "1"), ("never_mix", "a"), ("most_rows", "1")])
    [('most_rows', '1')]
    """
    return [(name, value) for name, value in dict.fromkeys(fix) if value and name in SETTABLE]


def kind(facts: dict[str, Any]) -> str:
    """Return what a requirement is about, or the requirement itself where no words are known."""
    known = KINDS.get(facts.get("name", ""))
    return facts["text"] if known is None else known.format(column=" and ".join(facts["columns"]))


def knob(name: str, columns: list[str]) -> tuple[str, str]:
    """Return what a parameter asks for, and what stands before its number."""
    asked, before = KNOBS.get(name, (name, ""))
    return asked.format(column=" and ".join(columns) or "the value"), before


def span(
    name: str, value: float, limit: dict[str, Any] | None, rows: int
) -> tuple[float, float, float]:
    """Return the least and the largest number of a slider, and its step."""
    if name in COUNTS:
        most = limit["limit"] if limit and limit["limit"] else max(2, rows)
        return (2, max(2, min(most, max(30, 2 * value))), 1)
    bound = limit["limit"] if limit and limit["limit"] else None
    if limit and limit["must"] == "under" and bound:
        return (0, bound, bound / 100)
    if name in {"t", "delta", "alpha"}:
        return (0, 1, 0.01)
    most = max(2 * value, bound or 0) or 1
    return (0, most, most / 100)


def covers(column: dict[str, Any], lost: float) -> str:
    """Say what a published cell covers on average, by the share that is lost."""
    domain = column.get("domain") or []
    if column.get("never_mix"):
        return "exactly what it was"
    if column.get("kind") == "interval" and len(domain) == 2:
        low, high = domain
        if isinstance(low, int | float) and isinstance(high, int | float):
            return f"a range of {number(round(lost * (high - low), 2))}, on average"
        return f"{percent(lost)} of all dates"
    count = len(domain)
    if column.get("kind") == "set" and count:
        labels = 1 + lost * (count - 1)
        return f"{labels:.1f} of {count:,} labels, on average"
    return "a node of its hierarchy"


def bar_end(lost: Collection[float]) -> int:
    """Return at how many percent bars end that are to show what columns lose.

    >>> bar_end([0.02, 0.09]), bar_end([0.146]), bar_end([0.7]), bar_end([])
    (10, 20, 100, 10)
    """
    most = 100 * max(lost, default=0)
    return next(end for end in (10, 20, 50, 100) if most <= end or end == 100)


def falling(losses: list[tuple[float, float]], now: float) -> str:
    """Return the path of losses over time in a field of 100 by 40; it begins at its top.

    Each holds until the next one is found, and the last one until now.

    >>> falling([(1.0, 0.08), (2.0, 0.04)], 3.0)
    'M0.00 1.00H50.00V20.50H100.00'
    """
    begun, most = losses[0][0], losses[0][1] or 1.0
    span = max(now - begun, 1e-9)
    step = max(1, len(losses) // MOST_POINTS)
    told = [*losses[1::step], losses[-1]] if len(losses) > 1 else []
    drawn = "".join(
        f"H{min(100 * (at - begun) / span, 100):.2f}V{40 - 39 * loss / most:.2f}"
        for at, loss in dict.fromkeys(told)
    )
    return f"M0.00 1.00{drawn}H100.00"


def scale(points: list[dict[str, Any]], chosen: float) -> float:
    """Return how high a picture of the frontier reaches: the first, highest columns stick out."""
    bounds = [point["bound"] for point in points]
    usual = bounds[min(2, len(bounds) - 1)]
    most = max(usual * 1.3, chosen * 1.2) or 1
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= most)
