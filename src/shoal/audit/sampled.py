"""Risk in a population of which the table is a sample, estimated by a published model.

Somebody looks in the population of N people for one whose description is unique in the table, a
random sample of n. The chance that whoever is found is that person is, over all unique
descriptions, the number of these divided by the number of people of the population who have them.
Skinner and Elliot (2002) estimate it without a model of the population:

    p·n1 / (p·n1 + 2·(1 - p)·n2)

with the sampling fraction p = n / N, n1 descriptions that one person of the sample has, and n2 that
two have. It takes everybody to be drawn with the same chance. Where no description is unique, F
people of the population share what f ≥ 2 of the sample do, so that the risk 1/F is at most 1/f.

C. J. Skinner and M. J. Elliot: A measure of disclosure risk for microdata. Journal of the Royal
Statistical Society B 64 (2002), 855-867.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "Skinner and Elliot (2002)"
ERROR = 0.08  # which no estimate of the tests exceeds, nor one of benchmarks/population.py
KNOWN_ERROR = (
    "On 80 samples whose populations are known, 68 of them from eight public tables, the estimate "
    "was off by at most 8 percentage points."
)


def unique_matches(sizes: NDArray[np.int64], population: int) -> Fraction | None:
    """Return the chance that a match with a unique description is right; None without uniques.

    `sizes` counts who share each description of the sample.

    >>> import numpy as np
    >>> unique_matches(np.array([1, 1, 2]), 8), unique_matches(np.array([2, 3]), 9)
    (Fraction(1, 2), None)
    """
    people, once, twice = int(sizes.sum()), int((sizes == 1).sum()), int((sizes == 2).sum())
    if not once:
        return None
    share = min(Fraction(people, population), Fraction(1))
    return share * once / (share * once + 2 * (1 - share) * twice)


def population_risk(sizes: NDArray[np.int64], population: int) -> dict[str, Any]:
    """Return what is estimated of a population of so many people."""
    people, once = int(sizes.sum()), int((sizes == 1).sum())
    found = unique_matches(sizes, population)
    return {
        "people": people,
        "population": population,
        "fraction": people / population,
        "unique": once,
        "largest": float(Fraction(1, int(sizes.min()))),
        "unique_matches": None if found is None else float(found),
    }
