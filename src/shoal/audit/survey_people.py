"""What an owner is told of people: riskiest groups and rows, counted among candidates.

The risk of a row is the share of its person's candidates, the person included, who have a value
near to the row's: what is required of people is measured the same way. A person with many rows is
counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.exposure import band_of, nearness, widths
from shoal.audit.levels import measure_levels
from shoal.audit.survey import WORST, WORST_RECORDS, why
from shoal.distances.relation import near
from shoal.table.coded import Sensitive
from shoal.table.people import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.exposure import Nearness
    from shoal.audit.people import Members
    from shoal.audit.published import Published


def survey_people(published: Published, members: Members, name: str) -> dict[str, Any]:
    """Measure one sensitive column among people, and name the worst groups and rows.

    The levels of principles are left out where some have several values: most are defined for one.
    """
    column = published.sensitive(name)
    value = Sensitive.of((column,))
    own = values_of(value, members.of_row, len(members))
    candidates = members.candidates
    found = nearness(candidates, own, widths(column))
    middle = found[len(found) // 2]
    several = own.sets is not None
    worst = np.lexsort((candidates.sizes, -middle.risks))
    return {
        "column": name,
        "people": True,
        "numeric": column.numeric,
        "distinct": column.distinct,
        "levels": [] if several else [one.to_dict() for one in measure_levels(candidates, own)],
        "proximity": [one.to_dict() for one in found],
        "riskiest": _riskiest(published, members, middle, worst[:WORST]),
        "riskiest_records": _records(published, members, value, middle, worst[:WORST_RECORDS]),
    }


def _rows_of(members: Members, candidates: int) -> NDArray[np.int64]:
    """Return the rows of those who may be taken for one another."""
    return np.flatnonzero(members.candidates.labels[members.of_row] == candidates)


def _riskiest(
    published: Published, members: Members, middle: Nearness, worst: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Describe the candidates with the highest risk."""
    found = []
    for one in worst.tolist():
        rows = _rows_of(members, one)
        found.append(
            {
                "group": published.group_id(int(published.groups.labels[rows[0]])),
                "people": int(middle.sizes[one]),
                "rows": len(rows),
                "epsilon": middle.epsilon,
                "risk": float(middle.risks[one]),
            }
        )
    return found


def _records(
    published: Published,
    members: Members,
    value: Sensitive,
    middle: Nearness,
    worst: NDArray[np.int64],
) -> list[dict[str, Any]]:
    """Name the rows of the highest risk; no others can be than those of the worst candidates."""
    band = band_of(value, middle.epsilon)
    whom = " people with as many rows" if members.known else " people"
    found: list[dict[str, Any]] = []
    for one in worst.tolist():
        rows, size = _rows_of(members, one), int(middle.sizes[one])
        people = members.of_row[rows]
        codes, place = np.unique(value.codes[rows], return_inverse=True)
        for code in range(len(codes)):
            close = near(band, codes, codes[code])[place]
            count = len(np.unique(people[close]))
            found += [
                {
                    "row": int(row) + 1,
                    "group": published.group_id(int(published.groups.labels[row])),
                    "risk": count / size,
                    "why": why(count, size, middle.epsilon, value.name, whom),
                }
                for row in rows[place == code].tolist()
            ]
    return sorted(found, key=lambda entry: -entry["risk"])[:WORST_RECORDS]
