"""Kind (C) of Safe Harbor: cells that show more of a date than the year, and ages over 89.

Dates are found wherever they stand: in labels, in sets and intervals of them, in the middle of a
text. So are months, weeks and quarters of a year, days of a month, and times of day. A year of
birth shows an age: the rule counts up to the year of the release.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from shoal.table.coding import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.release.stated import StatedColumn

OLDEST = 89
MOSTLY = 0.5
AGES = frozenset(
    (
        *("age", "ages", "ageband", "agegroup", "agerange", "ageyears", "patientage", "edad"),
        *("alter", "altersgruppe", "altersklasse", "lebensalter", "patientenalter"),
    )
)
BIRTHS = frozenset(
    (
        *("birth", "birthdate", "birthday", "birthyear", "born", "dob", "yob", "geb", "geboren"),
        *("jahrgang", "naissance", "nacimiento"),
    )
)
BIRTH_STEM = "geburt"
DATED = frozenset(["date", "dob", "birthday", "birthdate", "datum", "born"])
FINER = frozenset(  # names of what is finer than a year, in a column of its own
    (
        *("month", "monat", "mois", "mes", "week", "woche", "kw", "semaine", "semana", "weekday"),
        *("wochentag", "quarter", "quartal", "day", "tag", "hour", "uhrzeit"),
    )
)
YEAR = "(?:1[89]|20|21)[0-9]{2}"
DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
MONTH = "(?:0?[1-9]|1[0-2])"
NAMES = (
    "jan|january|januar|jänner|enero|janvier|feb|february|februar|febrero|février|mar|march|märz|mrz|"
    "marzo|mars|apr|april|abril|avril|may|mai|mayo|jun|june|juni|junio|juin|jul|july|juli|julio|"
    "juillet|aug|august|agosto|août|sep|sept|september|septiembre|septembre|oct|okt|october|oktober|"
    "octubre|octobre|nov|november|noviembre|novembre|dec|dez|december|dezember|diciembre|décembre"
)
DATES = "|".join(
    [
        rf"{YEAR}-?W[0-5][0-9](?:-?[1-7])?",
        rf"{YEAR}[ -]?Q[1-4]|Q[1-4][ /-]?{YEAR}",
        rf"{YEAR}[./-]{MONTH}(?:[./-]{DAY})?",
        rf"{YEAR}-[0-3][0-9]{{2}}",
        rf"(?:{DAY}[./-] ?{MONTH}|{MONTH}[./-]{DAY})[./-] ?(?:{YEAR}|[0-9]{{2}})",
        rf"{MONTH}[./-]{YEAR}",
        rf"{DAY}\.{MONTH}\.",
        rf"{DAY}(?:\.|st|nd|rd|th)?[ /-]?(?:of )?(?:{NAMES})\.?(?:[ ,/-]+[0-9]{{2,4}})?",
        rf"(?:{NAMES})\.?[ /-](?:{DAY}(?:st|nd|rd|th)?,? ?)?[0-9]{{2,4}}|(?:{NAMES})\.? {DAY}",
        rf"{YEAR}[ /-](?:{NAMES})(?:[ /-]{DAY})?",
    ]
)
TIMES = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:\.[0-9]+)?|"
    r"[01]?[0-9](?::[0-5][0-9])? ?[ap]m"
)
BEFORE, AFTER = r"(?i)(?:^|[\s\"'(\[,;T])", r"(?:$|[\s\"')\],;TZ+]|\.$|\.\s)"
SHOWN = f"{BEFORE}(?:{DATES})(?:[–/-](?:{DATES}))?{AFTER}"
DIGITS = rf"^{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T.*)?$"


def date_or_age(
    column: StatedColumn, cells: pl.Series, words: set[str], year: int
) -> Iterator[str]:
    """Say what published cells show of dates and ages beyond what is allowed in a year."""
    parts = listed_parts(cells.unique())
    if column.dates or words & DATED:
        yield from date_findings(parts, every=True)
    elif words & FINER:
        yield f"The column name suggests it ({min(words & FINER)}). Check it."
    else:
        yield from date_findings(parts)
    if words & AGES:
        yield from age_findings(parts, r"[0-9]+(?:\.[0-9]+)?")
    if words & BIRTHS or any(word.startswith(BIRTH_STEM) for word in words):
        yield from age_findings(parts, YEAR, year)


def listed_parts(different: pl.Series) -> pl.DataFrame:
    """Return each cell with every label of its set and every end of its interval.

    >>> listed_parts(pl.Series(["[1, 2]", '["a", "b"]', "c"]))["part"].to_list()
    ['c', '1', '2', 'a', 'b']
    """
    listed = different.str.starts_with("[").fill_null(value=False)
    plain = different.filter(~listed).drop_nulls()
    rows = [(cell, part) for cell in different.filter(listed) for part in _inside(cell)]
    lists = pl.DataFrame(rows, {"cell": pl.String, "part": pl.String}, orient="row")
    return pl.concat([pl.DataFrame({"cell": plain, "part": plain}), lists])


def _inside(cell: str) -> list[str]:
    try:
        found = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return [cell]
    return [str(one) for one in found if one is not None] if isinstance(found, list) else [cell]


def date_findings(parts: pl.DataFrame, *, every: bool = False) -> Iterator[str]:
    """Say which cells show more of a date than the year; with `every`, all that are no years.

    >>> list(date_findings(listed_parts(pl.Series(["2020", "[1948, 1962]", "Ward 3", "1.25"]))))
    []
    >>> len(list(date_findings(listed_parts(pl.Series(["on 5 Mar 1948 at home", "2020-W07"])))))
    1
    """
    part = pl.col("part")
    if every:
        shown = part.str.contains("[0-9]") & ~part.str.contains("^[0-9]{4}$")
    else:
        compact = part.str.contains(DIGITS)
        mostly = bool(parts.select(compact.mean() > MOSTLY).item())
        shown = part.str.contains(SHOWN) & ~part.str.contains(NUMBER)
        shown |= compact & mostly
    finer = parts.filter(shown)["cell"].n_unique()
    if finer:
        yield f"{finer:,} different cells show more of a date than the year."
        return
    times = parts.filter(part.str.contains(f"{BEFORE}(?:{TIMES}){AFTER}"))["cell"].n_unique()
    if times:
        yield f"{times:,} different cells show a time of day, which is more than the year."


def age_findings(parts: pl.DataFrame, written: str, born_by: int | None = None) -> Iterator[str]:
    """Say whether ages over 89 stand in more than one category of 90 or older.

    Ages are the numbers `written` in cells, or the years from those up to `born_by`.

    >>> list(age_findings(listed_parts(pl.Series(["[20, 89]", "[90, 104]"])), "[0-9]+"))
    []
    >>> len(list(age_findings(listed_parts(pl.Series(["[85, 93]", "95+"])), "[0-9]+")))
    1
    """
    found = parts.select("cell", number=pl.col("part").str.extract_all(written)).explode("number")
    age = pl.col("number").cast(pl.Float64)
    ages = found.drop_nulls().select("cell", age=age if born_by is None else born_by - age)
    ends = ages.group_by("cell").agg(low=pl.col("age").min(), high=pl.col("age").max())
    old = ends.filter(pl.col("high") > OLDEST)
    low, high = pl.col("low"), pl.col("high")
    mixed = old.filter((low <= OLDEST) | ((low == high) & (low > OLDEST + 1)))
    if not old.height or (not mixed.height and old.height == 1):
        return
    shown = (
        f"ages over {OLDEST}"
        if born_by is None
        else (f"years of birth of people who are over {OLDEST} in {born_by}")
    )
    yield (
        f"{old.height:,} different cells show {shown}. Such ages are allowed only in one category "
        "of 90 or older."
    )
