"""What decides whether an analyst may believe an answer: rules that read the release alone.

A release is refused as a whole where the model is known to fail: a value that many rows share,
nothing between groups to learn from, too much missing information, chains that do not agree, or
completed tables that are not what the model expects. Each rule looks at the release or at the
draws, none at the truth, which nobody has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.estimation.pooling import pool, split_rhat
from shoal.exact import percent
from shoal.table.forms import TWO_TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.estimation.bases import QuasiBasis, Reals, ValueBasis
    from shoal.estimation.completing import Completed, Problem
    from shoal.estimation.opening import Analysable
    from shoal.estimation.pooling import Pooled
    from shoal.release.manifest import Manifest

HEAPED = 0.15  # the share of rows with one value from which nothing is concluded
TELLING = 6.0  # the |t| between groups under which there is nothing to learn from
MISSING = 0.5  # the share of missing information from which nothing is concluded
UNSURE = (
    0.3  # the share of it from which a quantity is approximate; refused if groups follow values
)
APART = 0.3  # the share of quantities that may not converge
OFF = 2.0  # standard errors that a completed statistic may be off the model
NEAR = 0.1  # the share of missing information from which the bias of groups is measured
WIDE = 0.1  # the share of a column's variance inside cells from which nothing is concluded
AGREED = 1.1  # the split R̂ under which chains agree


@dataclass(frozen=True, eq=False)
class Panel:
    """A fixed set of quantities: slopes on all main effects, of several functions of the value.

    Attributes
    ----------
    weights : of the members, a column for each main effect; with them a slope is a weighted sum.
    functions : of the values: the value, its normal score, whether it is above the median; labels
        have an indicator each.
    design : what slopes are fitted on.
    main : which features that is.
    """

    weights: Reals
    functions: Reals
    design: Reals
    main: NDArray[np.bool_]

    @classmethod
    def of(cls, values: ValueBasis, quasi: QuasiBasis, numbers: Reals | None) -> Panel:
        """Make it from the functions of the model, and from numbers where values are such."""
        functions = values.functions[:, values.first]
        if numbers is not None:
            scale = numbers.std() or 1.0
            above = numbers > np.median(numbers)
            functions = np.column_stack([numbers / scale, functions[:, 0], above])
        empty, main = np.empty((0, 0)), _main(quasi)
        return cls(empty, np.ascontiguousarray(functions), empty, main).at(quasi.features)

    def at(self, features: Reals) -> Panel:
        """Return it for members with these features."""
        main = features[:, self.main]
        design = np.column_stack([np.ones(len(main)), main])
        weights = np.ascontiguousarray(np.linalg.pinv(design).T[:, 1:])
        return replace(self, weights=weights, design=design)

    def fit(self, order: NDArray[np.int32]) -> tuple[Reals, Reals]:
        """Return all slopes of a completed table, and their squared errors."""
        values = self.functions[order]
        slopes = self.weights.T @ values
        constant = values.mean(0) - self.design[:, 1:].mean(0) @ slopes
        rest = values - constant - self.design[:, 1:] @ slopes
        return slopes, (self.weights**2).T @ rest**2


def _main(quasi: QuasiBasis) -> NDArray[np.bool_]:
    """Return which features are main effects: those that are free, and shrunk labels."""
    binary = np.array([len(np.unique(column)) == 2 for column in quasi.features.T])
    return (quasi.block == 0) | binary


def before(problem: Problem) -> list[str]:
    """Return why nothing can be concluded from a release, as far as no draw is needed for that."""
    reasons = []
    column = problem.release.values[problem.column]
    largest = column.counts.max() / problem.release.rows
    if column.numeric and largest > HEAPED:
        reasons.append(
            f"{percent(float(largest), 0)} of the rows have the same {column.name} (limit "
            f"{percent(HEAPED, 0)}): the model cannot follow such a heap."
        )
    telling = between_groups(problem)
    if telling < TELLING:
        reasons.append(
            f"Groups hardly differ by quasi-identifiers in {column.name}: the largest |t| between "
            f"groups is {telling:.1f} (at least {TELLING:g} is needed)."
        )
    for name, share in inside_cells(problem.release).items():
        if share >= WIDE:
            reasons.append(
                f"{percent(share, 1)} of the variance of {name} lies inside the cells of groups "
                f"(limit {percent(WIDE, 0)}): they are too wide to draw {name} from."
            )
    return reasons


def inside_cells(release: Analysable) -> dict[str, float]:
    """Return how much of the variance of each quasi column lies inside cells, as far as these say.

    Numbers are taken to be anywhere between the ends, and labels to be equally common in a set.
    """
    sizes, found = np.diff(release.starts), {}
    for name, cells in release.cells.items():
        column = release.quasi[name]
        if cells.sets is None:
            numbers = np.asarray(cells.domain.numbers, np.float64)
            own = (numbers[cells.high] - numbers[cells.low]) ** 2 / 12
            whole = numbers[column.codes].var()
        else:
            own = 1 - 1 / np.diff(cells.sets[0])
            whole = 1 - ((column.counts / release.rows) ** 2).sum()
        found[name] = float(np.average(own, weights=sizes) / max(float(whole), 1e-300))
    return found


def between_groups(problem: Problem) -> float:
    """Return the largest |t| of group means of the value on those of the main effects."""
    starts = problem.release.starts
    sizes = np.diff(starts).astype(np.float64)
    main = problem.panel.design[:, 1:]
    means = np.add.reduceat(main, starts[:-1]) / sizes[:, None]
    values = problem.values.functions[:, problem.values.first]
    response = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    root = np.sqrt(sizes)[:, None]
    design = np.column_stack([np.ones(len(sizes)), means]) * root
    free = len(sizes) - design.shape[1]
    if free < 10:
        return 0.0
    inverse = np.linalg.pinv(design.T @ design)
    slopes = inverse @ (design.T @ (response * root))
    rest = response * root - design @ slopes
    spread = np.sqrt(np.maximum((rest**2).sum(0) / free, 1e-300))
    errors = np.sqrt(np.maximum(np.diag(inverse), 0))[:, None] * spread
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, np.abs(slopes) / errors, 0)
    return float(t[1:].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the draws say of the panel's quantities."""

    missing: float
    apart: float
    off: float

    @classmethod
    def of(cls, completed: Completed) -> Diagnosis:
        """Look at the completed tables of all chains."""
        fits = completed.panels()
        slopes = np.array([[one.ravel() for one, _ in chain] for chain in fits])
        errors = np.array([[one.ravel() for _, one in chain] for chain in fits])
        flat, squares = (a.reshape(-1, a.shape[-1]) for a in (slopes, errors))
        pooled = pool(flat, squares)
        rhat = split_rhat(slopes)
        away = np.abs(completed.off.ravel()) / np.sqrt(squares.mean(0))
        return cls(float(np.median(pooled.missing)), float((rhat >= AGREED).mean()), away.max())

    def reasons(self) -> list[str]:
        """Return why nothing can be concluded."""
        found = []
        if self.missing >= MISSING:
            found.append(
                f"{percent(self.missing, 0)} of the information about the slopes that Shoal always "
                f"checks is missing (limit {percent(MISSING, 0)})."
            )
        if self.apart > APART:
            found.append(
                f"The chains do not agree on {percent(self.apart, 0)} of the slopes that Shoal "
                f"always checks (at most {percent(APART, 0)})."
            )
        if self.off > OFF:
            found.append(
                f"Completed tables lie {self.off:.1f} standard errors from what the model expects "
                f"(at most {OFF:g}): the model does not describe these values."
            )
        return found


NO_ERROR = "Its standard error comes out as 0, which is too small."


def own_limits(pooled: Pooled, place: int) -> list[str]:
    """Return why a quantity is not valid, by its own figures."""
    found = []
    if pooled.missing[place] >= UNSURE:
        said = f"{percent(pooled.missing[place], 0)} of the information about it is missing"
        found.append(f"{said} (limit {percent(UNSURE, 0)}).")
    if pooled.error[place] == 0:
        found.append(NO_ERROR)
    return found


def needs_correction(manifest: Manifest, seen: Diagnosis) -> bool:
    """Return whether groups that follow values have to be allowed for: near the limit, they do."""
    if manifest.form != TWO_TABLES:  # cells are refused instead: `uncorrected_cells`
        return False
    return follows_values(manifest) and seen.missing >= NEAR


def uncorrected(manifest: Manifest, seen: Diagnosis) -> str:
    """Say why completed tables are refused that have the bias of their groups."""
    return (
        f"{manifest.method} looked at values when it formed the groups, and "
        f"{percent(seen.missing, 0)} of the information about the slopes that Shoal always checks "
        f"is missing (limit {percent(NEAR, 0)}). Completed tables then have a bias. shoal estimate "
        "measures and subtracts it for one analysis at a time."
    )


def follows_values(manifest: Manifest) -> bool:
    """Return whether who has which value may have decided over the groups."""
    return not manifest.method.startswith("Oblivious(")


def uncorrected_cells(release: Analysable, seen: Diagnosis) -> list[str]:
    """Return why nothing can be concluded where groups follow values and are published as cells."""
    if not release.cells or not follows_values(release.manifest) or seen.missing < NEAR:
        return []
    return [
        f"{release.manifest.method} looked at values when it formed the groups, and "
        f"{percent(seen.missing, 0)} of the information about the slopes that Shoal always checks "
        f"is missing (limit {percent(NEAR, 0)}). The bias of such groups can be measured in the "
        "form two-tables only."
    ]


SERVES = (
    "What would serve: a release by Oblivious() in the form two-tables under a milder requirement, "
    "or with more rows."
)
