"""Columns together, before and after: how pairs go together, and a regression on both tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


COLUMNS = 8  # that pairs are made of
PAIRS = 12  # of them that are shown


TERMS = 4  # labels of a column in a regression, beside the one that the others are compared with


PER_TERM = 11  # people that a coefficient takes


@dataclass(frozen=True, eq=False)
class Seen:
    """One column of some rows before and after: a number a row, or its share in each band."""

    name: str
    role: str
    parts: list[str]  # of labels; none of numbers
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    of_groups: bool = False  # whether afterwards groups are known, not who of them has which value

    @property
    def narrowed(self) -> float:
        """How much less numbers of groups vary than those of people, whose spread is known."""
        if not self.of_groups or self.parts:
            return 1.0
        return float(self.after.std() / max(self.before.std(), 1e-300))

    @property
    def within(self) -> float:
        """The sum of squares within groups, which the values of a group tell."""
        return float(((self.before - self.after) ** 2).sum()) if self.of_groups else 0.0


def three(value: float) -> float:
    """Round to three digits."""
    return float(f"{value:.3g}")


def pairs(seen: list[Seen]) -> list[dict[str, Any]]:
    """Return how strongly columns go together, before and after, the strongest first."""
    found: list[dict[str, Any]] = []
    for one, two in combinations(seen[:COLUMNS], 2):
        if one.role == two.role == "sensitive":
            continue  # both are published as they were
        before, after = association(one.before, two.before), association(one.after, two.after)
        if before is None or after is None:
            continue
        after *= one.narrowed * two.narrowed
        numbers = one.before.ndim + two.before.ndim
        how = ("correlation", "correlation ratio", "Cramér's V")[numbers - 2]
        entry = {"one": one.name, "two": two.name, "how": how}
        found.append(entry | {"before": three(before), "after": three(after)})
    return sorted(found, key=lambda pair: -abs(pair["before"]))[:PAIRS]


def association(one: NDArray[np.float64], two: NDArray[np.float64]) -> float | None:
    """Return Pearson's correlation of numbers, the correlation ratio of numbers by labels, or V.

    Labels come as the share of every row in each band. None where a column does not vary.
    """
    if one.ndim == two.ndim == 1:
        one, two = one - one.mean(), two - two.mean()
        size = np.sqrt((one @ one) * (two @ two))
        return float(np.clip(one @ two / size, -1, 1)) if size > 0 else None
    if one.ndim == 2 and two.ndim == 2:
        return _cramer(one.T @ two)
    numbers, shares = (one, two) if one.ndim == 1 else (two, one)
    weights = shares.sum(0)
    numbers = numbers - numbers.mean()
    sums = shares.T @ numbers
    whole = numbers @ numbers
    if whole <= 0 or np.count_nonzero(weights) < 2:
        return None
    between = np.divide(sums**2, weights, out=np.zeros_like(sums), where=weights > 0).sum()
    return float(np.sqrt(np.clip(between / whole, 0, 1)))


def _cramer(table: NDArray[np.float64]) -> float | None:
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return None
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    spread = ((table - expected) ** 2 / expected).sum() / table.sum()
    return float(np.sqrt(np.clip(spread / least, 0, 1)))


def explained(seen: list[Seen]) -> Seen | None:
    """Return what is explained by the rest: a sensitive number, or a label, or else a number."""
    numbers = [one for one in seen if not one.parts]
    kept = [one for one in numbers if one.role == "sensitive"]
    if kept:
        return kept[0]
    for one in seen:
        if one.role == "sensitive" and len(one.parts) > 1:
            named = f"share of {one.parts[0]} in {one.name}"
            return replace(
                one, name=named, parts=[], before=one.before[:, 0], after=one.after[:, 0]
            )
    return numbers[-1] if len(seen) > 1 and numbers else None


def regression(target: Seen | None, seen: list[Seen], people: int) -> dict[str, Any]:
    """Explain the target by the quasi columns, on both tables, by least squares."""
    if target is None:
        return {"skipped": "No regression: there is no number that others could explain."}
    names: list[str] = []
    before: list[NDArray] = []
    after: list[NDArray] = []
    for one in seen:
        if one.role != "quasi" or one.name == target.name:
            continue
        if not one.parts:
            names.append(f"each unit of {one.name}")
            before.append(one.before)
            after.append(one.after)
            continue
        for part in range(1, min(len(one.parts), TERMS + 1)):  # the first is the commonest label
            names.append(f"{one.name} {one.parts[part]} instead of {one.parts[0]}")
            before.append(one.before[:, part])
            after.append(one.after[:, part])
    if not names or people < PER_TERM * (len(names) + 2):
        return {"skipped": "No regression: there are too few people for it."}
    fits = (
        least_squares(before, target.before),
        least_squares(after, target.after, target.within),
    )
    if fits[0] is None or fits[1] is None:
        return {"skipped": "No regression: some columns say the same as others."}
    terms = [
        {
            "name": name,
            "before": three(fits[0][0][place]),
            "error_before": three(fits[0][1][place]),
            "after": three(fits[1][0][place]),
            "error_after": three(fits[1][1][place]),
        }
        for place, name in enumerate(names)
    ]
    return {"target": target.name, "terms": terms}


def least_squares(
    columns: list[NDArray], target: NDArray, within: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the coefficients beside a constant, and their standard errors; None if ambiguous.

    `within` is the sum of squares that means of groups lack.
    """
    matrix = np.column_stack(columns)
    matrix = matrix - matrix.mean(0)
    scale = np.sqrt((matrix**2).mean(0))
    if not (scale > 0).all():
        return None
    matrix /= scale
    left = target - target.mean()
    found, _, rank, _ = np.linalg.lstsq(matrix, left, rcond=1e-9)
    if rank < matrix.shape[1]:
        return None
    rest = left - matrix @ found
    freedom = max(1, len(left) - matrix.shape[1] - 1)
    spread = np.linalg.inv(matrix.T @ matrix).diagonal() * (rest @ rest + within) / freedom
    return found / scale, np.sqrt(np.maximum(spread, 0)) / scale
