"""What a stranger learns about one person, drawn: fish above an axis, in pages and terminals.

Each fish is a candidate, or a stated number of them where there are many. The band is what lies
within the promised width of the best guess among listed values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shoal.audit.guessing import how_near
from shoal.exact import percent
from shoal.views.pages import render
from shoal.views.words import one_in, people, plural, several

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from shoal.audit.seen import Guess, Learned, PersonView

BINS, TALL = 17, 9  # fish beside and above one another, in pages
WIDE = 56  # characters of a picture in a terminal
BARS = " ▁▂▃▄▅▆▇█"
LABELS = 6  # shown one by one
OWN = 5  # values shown one by one
GONE = "missing"
CLOSE = 1e-9
NOT_THERE = (
    "The rows that fit are about other people. A reader does not know that this row was left out, "
    "and may take one of them for it."
)


def as_text(view: PersonView) -> str:
    """Return what is learned as lines for a terminal, with a picture of each column."""
    lines = [
        "What a stranger learns about one person. Private: do not pass it on.",
        f"Row {view.row:,} of the original (the first row is row 0). The stranger knows "
        f"{what_is_known(view)}.",
        "",
        f"Today, in your table: {fits(view.today_rows, view.today_people, view)}.",
        *(f"  {one.column}: {some_values(one.today, numeric=one.numeric)}" for one in view.columns),
        "",
        f"After the release: {fits_after(view)}.",
    ]
    lines += [NOT_THERE] if view.rows and view.published is False else []
    for one in view.columns if view.rows else ():
        lines += ["", f"  {one.column}", *_picture(one), *(f"  {said}" for said in told(one, view))]
    lines += ["", *view.remarks] if view.remarks else []
    return "\n".join(lines)


def as_html(view: PersonView, *, alone: bool = True, estimated: bool = False) -> str:
    """Return what is learned as a piece of HTML with a picture of each column.

    Where it stands `alone`, as in a notebook, it brings its own style. It is `estimated` where the
    release was tried on some rows.
    """
    known = {"alone": alone, "estimated": estimated, **person_values(view)}
    return render("part_person.html", view=view, **known)


def person_values(view: PersonView) -> dict[str, Any]:
    """Return what the template of one person needs."""
    return {
        "knows": [
            (name, some_values(tuple(dict.fromkeys(cells)))) for name, cells in view.known.items()
        ],
        "today": fits(view.today_rows, view.today_people, view),
        "after": fits_after(view),
        "not_there": NOT_THERE,
        "columns": [
            {
                "name": one.column,
                "today": some_values(one.today, numeric=one.numeric),
                "today_drawn": fish_today(one),
                "told": told(one, view),
                "drawn": fish(one, view) if one.numeric else None,
                "labels": None if one.numeric else labels(one),
            }
            for one in view.columns
        ],
    }


def what_is_known(view: PersonView) -> str:
    """Say what the stranger knows."""
    said = [
        f"{name} {some_values(tuple(dict.fromkeys(cells)))}" for name, cells in view.known.items()
    ]
    more = f", and that the person has {plural(view.own_rows, 'row')}" if view.several else ""
    return several(said, most=len(said)) + more


def fits(rows: int, whom: int, view: PersonView) -> str:
    """Say how many rows fit."""
    verb = "fits" if rows == 1 else "fit"
    about = f", about {people(whom)}" if view.several else ""
    return f"{plural(rows, 'row') if rows else 'no row'} {verb}{about}"


def fits_after(view: PersonView) -> str:
    """Say how many published rows fit, and in how many groups they are."""
    if not view.rows and view.published is False:
        return "this row is not in it, and no row fits, so it lists no value for this person"
    if not view.rows:
        return "no row fits, so it lists no value for this person"
    return f"{_fitting(view)}; this row is not in it" * (view.published is False) or _fitting(view)


def _fitting(view: PersonView) -> str:
    if view.two_tables:
        lines = "line" if view.rows == 1 else "lines"
        within = plural(view.groups or 0, "group")
        return f"{view.rows:,} {lines} of people.csv fit, with the values of {within}"
    within = "" if view.groups is None else f", in {plural(view.groups, 'group')}"
    return fits(view.rows, view.people, view) + within


def told(one: Learned, view: PersonView) -> list[str]:
    """Say what is learned about one column from the release."""
    if not one.values:
        return []
    said = []
    gone = next((share for value, share in one.values if value is None), None)
    if one.ends is not None:
        low, high = (number(text) for text in one.ends)
        where = f"is {low}" if low == high else f"is between {low} and {high}"
        said.append(f"{_wrongly(view)}{one.column} {where}.")
    elif not one.numeric:
        count = len([value for value, _ in one.values if value is not None])
        said.append(
            f"{plural(count, 'value')} of {one.column} fit."
            if count != 1
            else f"{_wrongly(view)}{one.column} has the only value that fits."
            if view.published is False
            else f"Only one value of {one.column} fits."
        )
    if gone:
        said.append(f"{percent(gone)} of candidates have no value; they count as right guesses.")
    for guess in one.guesses:
        said += guessed(one, guess, view)
    return said


def guessed(one: Learned, guess: Guess, view: PersonView) -> list[str]:
    """Say how often the best guess is right, and why that may be more than was promised."""
    if guess.value is None:
        return [f"No candidate has a value of {one.column}."]
    best = number(guess.value) if one.numeric else guess.value
    near = how_near(guess.width, relative=guess.relative)
    close = f"is {near.removeprefix('to ')}" if guess.width else "is right"
    said = [
        f"{_wrongly(view) or 'The '}{'the ' * (view.published is False)}best guess among the "
        f"listed values, {best}, {close} with a chance of {_odds(guess.listed)}."
    ]
    if view.published is False:
        return said
    if guess.any is not None and guess.any > guess.listed:
        said.append(f"The best guess of any number has a chance of {_odds(guess.any)}.")
    above = guess.listed_bound is not None and guess.listed > guess.listed_bound
    above = above or (None not in (guess.any, guess.any_bound) and guess.any > guess.any_bound)  # type: ignore[operator]
    if above and guess.listed_bound is not None:
        groups = f"the {view.groups} groups" if view.groups else "the rows"
        limit, other = _odds(guess.listed_bound), guess.any_bound
        if other is not None and guess.listed_bound < other:
            rest = "up to 100%" if other >= 1 else f"at most {_odds(other)}"
            limit += f" ({rest} for any other guess)"
        said.append(
            f"Why more than {limit}? The requirement limits guesses in one "
            f"group. This stranger cannot tell which of {groups} that fit is the right one. The "
            "number above is what comes out over all of them."
        )
    return said


def _wrongly(view: PersonView) -> str:
    """Say of what is concluded about a person who is not in a release where it comes from."""
    return "Such a reader concludes from their rows: " if view.published is False else ""


def _odds(share: Fraction) -> str:
    """Write a chance as one in so many and in per cent.

    >>> from fractions import Fraction
    >>> _odds(Fraction(1, 5)), _odds(Fraction(5, 22)), _odds(Fraction(1))
    ('1 in 5 (20%)', '5 in 22 (22.7%)', '1 in 1 (100%)')
    """
    if share.denominator <= 100:
        return f"{share.numerator} in {share.denominator} ({percent(share)})"
    return f"{percent(share)} (about {one_in(float(share))})"


def number(text: str) -> str:
    """Write a value as the table has it, thousands parted where it is a whole number."""
    plain = text.lstrip("-")
    return f"{int(text):,}" if plain.isdecimal() and len(plain) > 4 and plain[0] != "0" else text


def some_values(values: Sequence[str | None], *, numeric: bool = False) -> str:
    """Write some values, each once with how often it stands there, the most frequent first.

    >>> some_values(["10338"]), some_values(["10338", "7", "7"], numeric=True)
    ('10338', '7 (2 times) and 10,338')
    """
    counts: dict[str, int] = {}
    for value in values:
        text = GONE if value is None else number(value) if numeric else value
        counts[text] = counts.get(text, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    shown = [text if times == 1 else f"{text} ({times} times)" for text, times in ordered]
    return several(shown, most=OWN)


def _bins(one: Learned, count: int) -> tuple[list[float], float, float]:
    """Return how much of the candidates lies in each of so many equal parts of the range."""
    known = [
        (place, float(share))
        for place, (_, share) in zip(one.numbers, one.values, strict=True)
        if place is not None
    ]
    low, high = (known[0][0], known[-1][0]) if known else (0.0, 0.0)
    shares = [0.0] * count
    for place, share in known:
        shares[_part(place, low, high, count)] += share
    return shares, low, high


def _part(place: float, low: float, high: float, count: int) -> int:
    if high <= low:
        return count // 2
    return min(int((place / 2 - low / 2) / (high / 2 - low / 2) * count), count - 1)


def _picture(one: Learned) -> list[str]:
    """Return a column as lines of a terminal: bars along an axis, or a bar for each label."""
    if not one.numeric:
        return [
            f"  {'█' * max(round(entry['share'] * WIDE / 2), 1)} {entry['name']} {entry['said']}"
            for entry in labels(one)
        ]
    shares, _, _ = _bins(one, WIDE)
    if one.ends is None:
        return []
    top = max(shares)
    bars = "".join(BARS[math.ceil(8 * share / top)] for share in shares)
    low, high = map(number, one.ends)
    return [f"  {bars}", f"  {low}{' ' * max(WIDE - len(low) - len(high), 1)}{high}"]


def labels(one: Learned) -> list[dict[str, Any]]:
    """Return the most frequent labels of a column with their shares."""
    ordered = sorted(one.values, key=lambda pair: (-pair[1], pair[0] or ""))
    shown = [
        {"name": GONE if value is None else value, "share": float(share), "said": percent(share)}
        for value, share in ordered[:LABELS]
    ]
    if len(ordered) > LABELS:
        rest = float(sum(share for _, share in ordered[LABELS:]))
        name = f"{len(ordered) - LABELS:,} more"
        shown.append({"name": name, "share": min(rest, 1), "said": percent(rest)})
    return shown


def fish(one: Learned, view: PersonView) -> dict[str, Any] | None:
    """Return where the fish of a column stand: one for each candidate, or for several."""
    if one.ends is None:
        return None
    shares, low, high = _bins(one, BINS)
    least = min(share for _, share in one.values)
    unit = max(float(least), max(shares) / TALL)
    near = _near(one, low, high)
    swim = [
        {"x": place, "y": height, "near": near is not None and near[0] <= place <= near[1]}
        for place, share in enumerate(shares)
        for height in range(math.ceil(share / unit - CLOSE))
    ]
    return {
        "fish": swim,
        "band": near,
        "low": number(one.ends[0]),
        "high": number(one.ends[1]),
        "tall": max((entry["y"] for entry in swim), default=0) + 1,
        "wide": BINS,
        "each": "Each fish is a candidate."
        if view.people and abs(unit * view.people - 1) < CLOSE
        else f"A fish stands for up to {percent(unit)} of the candidates.",
    }


def fish_today(one: Learned) -> dict[str, Any] | None:
    """Return where the fish of the original table stand, on the axis of the release.

    None where they are too many to be drawn one by one, or something else than numbers.
    """
    if one.ends is None or one.dates or not one.today or len(one.today) > BINS:
        return None
    known = [place for place in one.numbers if place is not None]
    try:
        places = [float(text) for text in one.today if text is not None]
    except ValueError:
        return None
    ends = known[0], known[-1]
    swim: list[dict[str, Any]] = []
    for place in places:
        x = _part(min(max(place, ends[0]), ends[1]), *ends, BINS)
        swim.append({"x": x, "y": sum(other["x"] == x for other in swim), "near": True})
    tall = max((entry["y"] for entry in swim), default=0) + 1
    low, high = map(number, one.ends)
    return {"fish": swim, "band": None, "low": low, "high": high, "tall": tall, "wide": BINS}


def _near(one: Learned, low: float, high: float) -> tuple[int, int] | None:
    """Return the parts of the range that lie within the width of the best listed guess."""
    guess = next((guess for guess in one.guesses if guess.value is not None), None)
    if guess is None:
        return None
    values = [value for value, _ in one.values]
    place = one.numbers[values.index(guess.value)]
    assert place is not None
    reach = abs(place) * guess.width if guess.relative else guess.width
    ends = (max(place - reach, low), min(place + reach, high))
    return _part(ends[0], low, high, BINS), _part(ends[1], low, high, BINS)
