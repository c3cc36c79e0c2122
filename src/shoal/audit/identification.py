"""The three questions of the Article 29 Working Party, opinion 05/2014, answered by measurement.

Singling out: can a row be told from all others? Linkability: can a row be joined to what is known
from elsewhere? Inference: can a value be guessed from the rest? Each has a number before (the
quasi columns as they were) and after (as they are published).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.cells import cell_codes
from shoal.distances.counting import most_people
from shoal.distances.relation import equality
from shoal.errors import UsageError
from shoal.exact import upward
from shoal.notation import exact, is_number
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.audit.verify import Audit
    from shoal.release.cover import Cover
    from shoal.release.recoding import ReleaseData
    from shoal.table.coded import Coded
    from shoal.table.sensitive import Sensitive


THIRDS = 10_000  # the largest denominator of a threshold that has no decimal, as 1/11


def check_threshold(threshold: float | Fraction | str) -> Fraction:
    """Return a threshold of risk, as 0.2 or 1/11, as a rational, or raise where it is none."""
    found = _rational(threshold)
    if found is None or not 0 < found <= 1:
        msg = (
            "The threshold must be a number above 0 and at most 1, for example 0.2 or 1/11. "
            f"Got {threshold!r}."
        )
        raise UsageError(msg)
    return found


def threshold_of(said: float | str) -> Fraction:
    """Return the threshold of risk that is stated, a decimal that was rounded up."""
    stated = check_threshold(said)
    near = stated.limit_denominator(THIRDS)
    return near if upward(near) == upward(stated) else stated


def _rational(value: object) -> Fraction | None:
    """Return the rational that was written, None where none was."""
    if isinstance(value, Fraction):
        return value
    if is_number(value):
        return exact(value)
    try:
        return Fraction(value) if isinstance(value, str) else None
    except (ValueError, ZeroDivisionError):
        return None


def exposure(
    release: ReleaseData,
    audit: Audit,
    members: Coded,
    before: Groups,
    after: Groups | None,
    limit: Fraction,
) -> dict[str, Any]:
    """Measure all three, against a limit for the risk of being found.

    Members are rows or people; `before` and `after` are those alike among them. How often an exact
    value is guessed is left out for columns under a proximity requirement: what that requirement
    measures says more of them.
    """
    measured = {n for one in release.requirements if one.principle.numeric for n in one.columns}
    if audit.alike is not None:
        found = identification(audit.alike, audit.alike, limit)
    else:
        assert audit.matches is not None
        found = identification(audit.matches, np.ones_like(audit.matches), limit)
    return {
        "threshold": limit,
        "least_size": least_size(limit),
        "before": identification(before.sizes, before.sizes, limit),
        "after": found,
        "others": list(release.schema.other),
        "unique_with_others": _unique_with_others(release),
        "pseudonyms": list(release.schema.pseudonymize),
        "guesses": [
            {
                "column": name,
                "blind": guessed(Groups(np.zeros(len(members), np.int64)), value),
                "before": guessed(before, value),
                "after": None if after is None else guessed(after, value),
            }
            for name, value in _guessable(members, release)
            if name not in measured
        ],
    }


def _guessable(members: Coded, release: ReleaseData) -> Iterator[tuple[str, Sensitive]]:
    """Yield the sensitive columns, of linked tables too, with what members have in them."""
    for name in chain(*release.schema.protected):
        yield name, members.value((name,))


def release_groups(release: ReleaseData) -> Groups | None:
    """Return the published groups over the rows as they were coded; None where there are none."""
    if release.heterogeneous:
        return None
    return Groups(release.recoding.layout.borne)


def least_size(limit: Fraction) -> int:
    """Return how many rows must share a description for a risk of at most a limit."""
    return -(-limit.denominator // limit.numerator)


def identification(
    sizes: NDArray[np.int64], people: NDArray[np.int64], limit: Fraction
) -> dict[str, Any]:
    """Measure how likely a person is found, when one of `sizes` rows is taken at random.

    `people[i]` persons each see sizes[i] rows that fit. The largest risk is 1 / min(sizes), the
    average one the mean of 1 / size over all people (prosecutor and marketer of El Emam, Dankar,
    JAMIA 2008). Both are rounded up.
    """
    total = int(people.sum())
    seeing = np.bincount(sizes, weights=people).astype(np.int64)
    kinds = np.flatnonzero(seeing)
    counts = seeing[kinds]
    pairs = zip(kinds.tolist(), counts.tolist(), strict=True)
    average = sum((Fraction(count, size) for size, count in pairs), Fraction(0)) / total
    largest = Fraction(1, int(kinds[0]))
    return {
        "unique": float(counts[kinds == 1].sum() / total),
        "smallest": int(kinds[0]),
        "largest_risk": upward(largest),
        "average_risk": upward(average),
        "largest_kept": largest <= limit,
        "average_kept": average <= limit,
        "above": float(counts[kinds < least_size(limit)].sum() / total),
    }


def guessed(groups: Groups, value: Sensitive) -> float:
    """Return the share of members who have the most frequent value of their group.

    Whoever guesses that value for everybody in a group is right so often.
    """
    if value.several:
        most = most_people(equality(value.distinct), groups, value.sets)
        return float(most.sum() / len(groups.labels))
    keys = groups.labels * value.distinct + value.codes
    keys.sort()
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    lengths = np.diff(np.append(starts, len(keys)))
    owners = keys[starts] // value.distinct
    firsts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    return float(np.maximum.reduceat(lengths, firsts).sum() / len(keys))


def _unique_with_others(release: ReleaseData) -> float | None:
    """Return the share of rows alone in their published cells and unchanged columns together.

    Of people, the share who have a row that nobody else's is like.
    """
    others = release.schema.other
    if not others:
        return None
    recoding = release.recoding
    layout = recoding.layout
    cells = map(_different, recoding.covers.values())
    carried = (cell_codes(recoding.source[name].gather(layout.carries)) for name in others)
    borne = ((cell[layout.bears], int(cell.max()) + 1) for cell in cells)
    alike = Groups.alike(len(layout.bears), chain(borne, carried))
    whom = release.coded.person_of.only(layout.carries)
    lonely = alike.of_row(whom.count(alike.labels) == 1)
    return float(len(np.unique(whom.labels[lonely])) / len(whom))


def _different(cover: Cover) -> NDArray[np.int32]:
    """Return a number for each cell of a column; cells that are spelled alike share it."""
    return cover.borne if cover.domain.tree is None else cover.nodes[cover.borne]
