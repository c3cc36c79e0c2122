"""What is estimated of a completed table: regressions, means, quantiles, shares, correlations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UnknownColumn, UsageError
from shoal.estimation.formulas import (
    FUNCTIONS,
    evaluate,
    first_sentence,
    frame_of,
    names_in,
    read_formula,
)
from shoal.estimation.opening import labels_of, numbers_of
from shoal.estimation.spanning import followed, unmoved
from shoal.release.manifest import NoConclusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shoal.estimation.completing import Problem
    from shoal.estimation.opening import Analysable

Fitted = tuple[NDArray[np.float64], NDArray[np.float64]]  # estimates, and their squared errors
PARTS = 40  # groups of rows that means are told of, at most
FEWEST = 5  # rows of each
NOTHING = 1e-12  # the share of the largest response that a rest has from rounding alone


@dataclass(frozen=True, eq=False)
class Analysis:
    """What is asked of completed tables.

    Attributes
    ----------
    said : what was asked, in a line.
    value : the sensitive column that it is about.
    names : of the quantities.
    fit : takes the value of each member, as a place among the values; returns the quantities.
    terms : the quasi columns that have to be in the model together, term by term.
    shapes : what it takes of each member, by name; the model has to follow that.
    responses : what it takes of each value, likewise.
    settled : whether no pairing inside groups changes it.
    """

    said: str
    value: str
    names: tuple[str, ...]
    fit: Callable[[NDArray[np.int32]], Fitted]
    terms: tuple[frozenset[str], ...]
    shapes: Mapping[str, NDArray] = field(default_factory=dict)
    responses: Mapping[str, NDArray] = field(default_factory=dict)
    settled: bool = False

    def beyond(self, problem: Problem) -> list[str]:
        """Return what the model does not have."""
        model, of_values = problem.quasi, problem.values.functions
        found = [
            f"the term {' and '.join(sorted(term))}"
            for term in self.terms
            if not (term <= model.plain if len(term) <= 1 else term <= model.crossed)
            or len(term) > 2
        ]
        odd = [name for name, one in self.shapes.items() if not followed(model.features, one)]
        odd += [name for name, one in self.responses.items() if not followed(of_values, one)]
        if odd and not found:
            more = f" and {len(odd) - 1:,} more like it" if len(odd) > 1 else ""
            found.append(f"steps as fine as {odd[0]}{more}")
        return found


def regression(release: Analysable, formula: str, *, logit: bool) -> Analysis:
    """Return the analysis that a formula asks for: least squares, or a logistic regression."""
    import statsmodels.api as sm

    asked = read_formula(formula, release)
    names, design = _design(release, formula, asked.right)
    left = _left(release, asked.left, asked.value, mixed=bool(asked.own))
    weights = weights_in(release)

    inverse = np.linalg.pinv(design * np.sqrt(weights)[:, None]) * np.sqrt(weights)
    spare = release.rows / (release.rows - design.shape[1])
    begun: list[NDArray] = []  # where the fit before ended: completed tables are alike

    def least_squares(order: NDArray[np.int32]) -> Fitted:
        numbers = left(order)
        slopes = inverse @ numbers
        rest = numbers - design @ slopes
        rest[np.abs(rest) < NOTHING * np.abs(numbers).max()] = 0
        return slopes, inverse**2 @ rest**2 * spare  # HC1

    def logistic(order: NDArray[np.int32]) -> Fitted:
        start = begun[-1] if begun else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if release.weights is None:
                    model = sm.Logit(left(order), design)
                    found = model.fit(start_params=start, disp=0, warn_convergence=False)
                else:
                    binomial = sm.families.Binomial()
                    model = sm.GLM(left(order), design, binomial, var_weights=weights)
                    found = model.fit(cov_type="HC1")
                begun[:] = [np.asarray(found.params)]
                return begun[0], np.asarray(found.bse) ** 2
            except (np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
                return (np.full(design.shape[1], np.nan),) * 2

    if logit and {*np.unique(left(np.arange(release.rows, dtype=np.int32)))} != {0.0, 1.0}:
        msg = (
            "A logistic regression needs a condition on the left that some rows meet and others do "
            "not, for example 'income > 50000'."
        )
        raise UsageError(msg)
    own = (asked.own,) if asked.own else ()
    fit = logistic if logit else least_squares
    return Analysis(
        formula,
        asked.value,
        names,
        fit,
        (*asked.terms, *own),
        dict(zip(names, design.T, strict=True)),
        *_of_values(release, asked.left, asked.value, asked.own, left, design.T),
    )


def _design(
    release: Analysable, formula: str, right: str
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the terms of the right side of a formula, and what each is of every member."""
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        with np.errstate(all="ignore"):
            matrix = model_matrix(
                right, frame_of(dict(release.quasi)), na_action="ignore", context=FUNCTIONS
            )
    except (FormulaicError, TypeError, ValueError) as problem:
        msg = f"The formula {formula!r} cannot be computed: {first_sentence(problem)}."
        raise UsageError(msg) from None
    design = np.asarray(matrix, np.float64)
    if not np.isfinite(design).all() or np.linalg.matrix_rank(design) < design.shape[1]:
        msg = (
            f"The right side of {formula!r} is not computable for every row, or some of its terms "
            "follow from others. Remove a term."
        )
        raise UsageError(msg)
    if design.shape[1] >= release.rows:
        msg = f"The right side of {formula!r} has as many terms as the release has rows."
        raise UsageError(msg)
    return tuple(map(str, matrix.columns)), design


def _of_values(
    release: Analysable,
    said: str,
    value: str,
    own: Iterable[str],
    left: Callable[[NDArray[np.int32]], NDArray[np.float64]],
    members: Iterable[NDArray],
) -> tuple[dict[str, NDArray], bool]:
    """Return what is taken of values, and whether no pairing changes an analysis.

    `own` are quasi columns that it is computed from too, `members` what else is taken of members.
    """
    columns = [release.quasi[name].codes for name in own]
    taken: NDArray = release.values[value].codes
    responses: dict[str, NDArray] = {}
    if not columns:
        taken = left(np.arange(release.rows, dtype=np.int32))
        responses = {said: taken}
    weighted = [] if release.weights is None else [release.weights]
    return responses, unmoved(release.starts, [*members, *columns, *weighted], taken)


def weights_in(release: Analysable) -> NDArray[np.float64]:
    """Return the survey weight of each member, 1 on average."""
    if release.weights is None:
        return np.ones(release.rows)
    if not release.weights.any():
        msg = "The survey weights of all rows are 0."
        raise NoConclusion(msg)
    return release.weights / release.weights.mean()


def _left(
    release: Analysable, expression: str, value: str, *, mixed: bool
) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """Return what computes an expression of a value for members in some order.

    One of the value alone is computed once.
    """
    column = release.values[value]
    if mixed:
        frame = frame_of(dict(release.quasi))

        def computed(order: NDArray[np.int32]) -> NDArray[np.float64]:
            return evaluate(expression, frame.assign(**frame_of({value: column}, order)))

        return computed
    once = evaluate(expression, frame_of({value: column}))
    return lambda order: once[order]


def parts_of(release: Analysable, by: str | None) -> tuple[dict[str, NDArray], frozenset[str]]:
    """Return the rows that means are told of, by what they have in common, and the columns."""
    if by is None:
        return {"": np.ones(release.rows, np.bool_)}, frozenset()
    names = names_in(f"`{by}`" if by in release.quasi else by, {*release.quasi, *release.values})
    if names & release.values.keys():
        msg = f"{by!r} is a sensitive column, and estimates are by quasi-identifiers only."
        raise NoConclusion(msg)
    if by in release.quasi:
        column = release.quasi[by]
        cells = numbers_of(column) if column.numeric else labels_of(column)
    else:
        cells = evaluate(by, frame_of(dict(release.quasi))).astype(np.int64)
    levels = np.unique(cells)
    if len(levels) > PARTS:
        msg = (
            f"{by!r} has {len(levels):,} different values, more than {PARTS}. Give a condition, "
            f"for example '{by} < {levels[len(levels) // 2]}'."
        )
        raise UsageError(msg)
    return {f"[{by}={level}]": cells == level for level in levels}, names


def summary(
    what: str,
    release: Analysable,
    value: str,
    parts: dict[str, NDArray],
    names: frozenset[str],
    left: Callable[[NDArray[np.int32]], NDArray[np.float64]],
    one: Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[float, float]],
    taken: tuple[dict[str, NDArray], bool],
) -> Analysis:
    """Return the analysis that tells a mean, a quantile or a share of some rows.

    `taken` is what it takes of values, and whether no pairing changes it.
    """
    weights = weights_in(release)
    small = [part or what for part, rows in parts.items() if (weights[rows] > 0).sum() < FEWEST]
    if small:
        msg = f"{small[0].strip('[]')} has fewer than {FEWEST} rows."
        raise UsageError(msg)

    def fit(order: NDArray[np.int32]) -> Fitted:
        numbers = left(order)
        found = np.array([one(numbers[rows], weights[rows]) for rows in parts.values()])
        return found[:, 0], found[:, 1]

    by = f" by {next(iter(parts))[1:].split('=')[0]}" if names else ""
    terms = (names,) if names else ()
    said = tuple(what + part for part in parts)
    return Analysis(what + by, value, said, fit, terms, parts, *taken)


def mean_of(numbers: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return a weighted mean and its squared error."""
    mean, rows = np.average(numbers, weights=weights), len(numbers)
    squares = (weights**2 * (numbers - mean) ** 2).sum() / weights.sum() ** 2
    return float(mean), float(squares * rows / (rows - 1))


def quantile_of(
    numbers: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> tuple[float, float]:
    """Return a weighted quantile and its squared error (Woodruff, 1952).

    The values stand where half of their weight lies below them; with equal weights the first and
    the last are the ends, as usual.
    """
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(weights[order]) - weights[order] / 2
    places = (below - below[0]) / (below[-1] - below[0])
    effective = weights.sum() ** 2 / (weights**2).sum()
    reach = 2 * np.sqrt(share * (1 - share) / effective)
    asked = np.clip([share, share - reach, share + reach], 0, 1)
    middle, low, high = np.interp(asked, places, numbers[order])
    return float(middle), float(((high - low) / 4) ** 2)


def means(release: Analysable, value: str, by: str | None) -> Analysis:
    """Return the analysis that tells means of a sensitive column, or of an expression of it."""
    return _averages(f"mean({value})", release, value, by)


def shares(release: Analysable, condition: str, by: str | None) -> Analysis:
    """Return the analysis that tells how many rows meet a condition."""
    return _averages(f"share({condition})", release, condition, by)


def _averages(what: str, release: Analysable, value: str, by: str | None) -> Analysis:
    value = f"`{value}`" if value in release.values else value
    names = names_in(value, {*release.quasi, *release.values})
    column = _only(release, value, names)
    own = names - {column}
    left = _left(release, value, column, mixed=bool(own))
    parts, common = parts_of(release, by)
    taken = _of_values(release, value, column, own, left, parts.values())
    return summary(what, release, column, parts, common | own, left, mean_of, taken)


def quantiles(release: Analysable, share: float, value: str | None, by: str | None) -> Analysis:
    """Return the analysis that tells a quantile of a sensitive column."""
    if not 0 < share < 1:
        msg = f"A quantile is between 0 and 1, for example 0.9. Got {share}."
        raise UsageError(msg)
    column = release.value(value)
    _check_numeric(column)
    parts, names = parts_of(release, by)
    left = _left(release, f"`{column.name}`", column.name, mixed=False)
    what = f"quantile({column.name}, {share:g})"

    def one(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
        return quantile_of(rows, weights, share)

    numbers = numbers_of(column)
    above = {what: numbers > np.quantile(numbers, share)}
    _, settled = _of_values(release, what, column.name, (), left, parts.values())
    return summary(what, release, column.name, parts, names, left, one, (above, settled))


def correlations(release: Analysable, value: str | None) -> Analysis:
    """Return the analysis that tells how a sensitive column goes with each numeric quasi column."""
    column = release.value(value)
    _check_numeric(column)
    others = {n: one for n, one in release.quasi.items() if one.numeric and one.distinct > 1}
    if not others:
        msg = "No quasi-identifier of this release is numeric."
        raise UsageError(msg)
    weights = weights_in(release)
    lines = [_standard(numbers_of(one).astype(np.float64), weights) for one in others.values()]
    numbers = numbers_of(column).astype(np.float64)

    def fit(order: NDArray[np.int32]) -> Fitted:
        found, mine = [], _standard(numbers[order], weights)
        for line in lines:
            both = line * mine
            r = np.average(both, weights=weights)
            off = both - r * (line**2 + mine**2) / 2
            found.append((r, (weights**2 * off**2).sum() / weights.sum() ** 2))
        return np.array(found)[:, 0], np.array(found)[:, 1]

    names = tuple(f"correlation({name}, {column.name})" for name in others)
    said = f"correlation of {column.name} with {', '.join(others)}"
    terms = tuple(frozenset({name}) for name in others)
    shapes = dict(zip(others, lines, strict=True))
    taken = _of_values(release, column.name, column.name, (), lambda order: numbers[order], lines)
    return Analysis(said, column.name, names, fit, terms, shapes, *taken)


def _standard(numbers: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    away = numbers - np.average(numbers, weights=weights)
    return away / max(np.sqrt(np.average(away**2, weights=weights)), 1e-300)


def _only(release: Analysable, said: str, names: frozenset[str]) -> str:
    secret = names & release.values.keys()
    if len(secret) > 1:
        msg = (
            f"{said!r} needs two sensitive columns of one person, and the model has one at a time."
        )
        raise NoConclusion(msg)
    if not secret:
        raise UnknownColumn(said, list(release.values), "among the sensitive ones")
    return next(iter(secret))


def _check_numeric(column: Any) -> None:
    if not column.numeric:
        msg = f"Column {column.name!r} has labels, and this needs numbers. Ask for a share."
        raise UsageError(msg)
