"""What cells are written with: codes that mean missing, the decimal sign, the order of dates.

They change values, so whatever is assumed of them is told; where cells leave it open, the owner is
asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from shoal.inspection.assumed import Assumption
from shoal.inspection.infer import MISSING_SIGNS, MISSING_WORDS
from shoal.inspection.profile import Profile, usable
from shoal.inspection.suspect import TEXTS, sentinels, unlike
from shoal.table.dates import in_three_parts, not_dates, readings, tell_apart
from shoal.table.decimals import SPACES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

FEW = 20  # distinct cells that may mean missing, at most
COMMA = (  # a comma that can only be a decimal sign, or points that part thousands
    rf"^-?(0,[0-9]+|[0-9]+,([0-9]{{1,2}}|[0-9]{{4,}})|[0-9]{{1,3}}([.{SPACES}][0-9]{{3}})+,[0-9]+|"
    r"[0-9]{1,3}(\.[0-9]{3}){2,})$"
)
POINT = (
    rf"^-?(0\.[0-9]+|[0-9]+\.([0-9]{{1,2}}|[0-9]{{4,}})|[0-9]{{1,3}}([,{SPACES}][0-9]{{3}})+\.[0-9]+|"
    r"[0-9]{1,3}(,[0-9]{3}){2,})$"
)
NUMBER = rf"^[-+]?[0-9][0-9.,{SPACES}]*$"
GROUPED = rf"^-?[0-9]{{1,3}}([,{SPACES}][0-9]{{3}})+$"
KINDS = ("comma", "point", "grouped", "open", "parted", "spaced")
EXAMPLES = {"parted": "1'234", "spaced": "1 234. Does the space separate thousands?"}


def signs(table: pl.DataFrame) -> Iterator[Assumption]:
    """Yield for each column of text the signs and words that seem to mean missing."""
    for column in table:
        if isinstance(column.dtype, TEXTS):
            found = _signs(Profile.of(column))
            if found is not None:
                yield found


def outlying(table: pl.DataFrame) -> Iterator[Assumption]:
    """Yield for each column the numbers that stand apart as codes for missing do."""
    for column in table:
        if usable(column):
            continue
        profile = Profile.of(column)
        which = unlike(profile) if profile.numbers is None else sentinels(profile)
        if not which.any():
            continue
        codes = tuple(profile.cells.filter(pl.Series(which)).sort())
        why = f"{_cells(profile.count(which))} {_listed(codes)}. {_others(profile, which)}"
        yield Assumption("missing_codes", codes, why, sure=False, column=profile.name)


def _others(profile: Profile, which: NDArray[np.bool_]) -> str:
    """Say of the other cells of a column what sets the codes apart."""
    rest = profile.cells.filter(pl.Series(~which))
    if unlike(profile).any():
        if rest.str.contains(r"\p{L}").all():
            return "All other values have letters."
        return f"All other values have {rest.str.len_chars()[0]} characters."
    if profile.numbers is None or not len(rest):
        return ""
    low, high = profile.numbers[~which].min(), profile.numbers[~which].max()
    inside = any(low < number < high for number in profile.numbers[which])
    much = " Numbers close to it are much rarer." if inside else ""
    return f"All other values are between {low:,.6g} and {high:,.6g}.{much}"


def _signs(profile: Profile) -> Assumption | None:
    """Return the signs and words in a column that seem to mean missing."""
    words = profile.cells.str.strip_chars().str.to_lowercase()
    known = words.is_in(list(MISSING_WORDS))
    if not 0 < int(known.sum()) <= FEW:
        return None
    rest = profile.cells.filter(~known)
    typed = bool(len(rest)) and (
        bool(rest.str.contains(NUMBER).all()) or not not_dates(rest).any() or bool(readings(rest))
    )
    which = known if typed else known & words.is_in(list(MISSING_SIGNS))
    if not typed and words.is_in(["+", "++"]).any():  # of tests that are positive or not
        which &= ~words.is_in(["-", "--", "–"])
    if not which.any():
        return None
    codes = tuple(sorted({cell.strip() for cell in profile.cells.filter(which)}))
    kind = "numbers or dates" if typed else "labels"
    cells = _cells(profile.count(which.to_numpy()))
    why = f"{cells} {_listed(codes)}. All other cells are {kind}."
    return Assumption("missing_codes", codes, why, typed or codes != ("-",), column=profile.name)


def _cells(count: int) -> str:
    return "1 cell says" if count == 1 else f"{count:,} cells say"


def _listed(codes: Sequence[str]) -> str:
    return " or ".join(f"“{code}”" for code in codes[:4])


def decimal_sign(table: pl.DataFrame) -> Assumption | None:
    """Return the decimal sign of numbers in text; None where no column is text."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for column in table:
        for kind in _written(column):
            found[kind].append(column.name)
    comma, point = found["comma"], found["point"]
    choices = (",", ".")
    if comma:
        why = f"The column {comma[0]!r} has numbers such as 1.234,56 or 0,5."
        if point:
            why += f" But {point[0]!r} has numbers with a decimal point."
        return Assumption("decimal", ",", why, not point, choices=choices)
    if found["grouped"]:
        why = f"The column {found['grouped'][0]!r} has numbers such as 1,234.56 or 1'234.56."
        return Assumption("decimal", ".", why, choices=choices)
    if found["open"]:
        why = (
            f"The column {found['open'][0]!r} has numbers such as 1,234. This is 1234 where the "
            "comma separates thousands, and 1.234 where it is the decimal sign."
        )
        return Assumption("decimal", None, why, sure=False, choices=choices)
    for kind, sure in (("parted", True), ("spaced", False)):
        if found[kind]:
            why = f"The column {found[kind][0]!r} has numbers such as {EXAMPLES[kind]}."
            return Assumption("decimal", ".", why, sure, choices=choices)
    if any(isinstance(column.dtype, TEXTS) for column in table):
        why = "No column has numbers with a decimal comma or with separated thousands."
        return Assumption("decimal", None, why, needed=False, choices=choices)
    return None


def date_ways(table: pl.DataFrame, said: Mapping[str, str]) -> Iterator[Assumption]:
    """Yield for each column of dates that are not written as 2024-01-31 how they are written."""
    for column in table:
        if not isinstance(column.dtype, TEXTS):
            continue
        cells = column.unique().drop_nulls().cast(pl.String)
        if column.name not in said and not in_three_parts(cells):
            continue
        if not len(cells) or not not_dates(cells).any():
            continue
        ways, doubt = tell_apart(cells)
        way, why = said.get(column.name), "You chose it."
        if way is None and doubt is not None:
            why = f"The column {column.name!r} {doubt}"
        elif way is None:
            way, why = next(iter(ways), None), "Every cell reads so, and in no other order."
        if way is not None or doubt is not None:
            yield Assumption(
                *("date_format", way, why),
                sure=way is not None,
                needed=doubt is not None,
                column=column.name,
                choices=tuple(ways),
            )


def _written(column: pl.Series) -> list[str]:
    """Return what the numbers of a column of text are written with, nothing where it has others."""
    if not isinstance(column.dtype, TEXTS):
        return []
    cells = column.unique().drop_nulls().cast(pl.String).str.strip_chars()
    if not len(cells) or not cells.str.contains(NUMBER).all():
        return []
    found = [
        kind
        for kind, pattern in (("comma", COMMA), ("point", POINT))
        if cells.str.contains(pattern).any()
    ]
    if "point" in found and cells.str.contains(f"[,{SPACES}]").any():
        return [*found, "grouped"]
    grouped = cells.filter(cells.str.contains(GROUPED))
    if found or not len(grouped):
        return found
    if grouped.str.contains(",", literal=True).any():
        return ["open"]
    return ["spaced" if grouped.str.contains(" ", literal=True).any() else "parted"]
