"""Estimates from a release, with errors that count what is not published."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UnknownColumn, UsageError, option
from shoal.progress import Brief, Progress, silent, with_bar
from shoal.release.manifest import (
    APPROXIMATE,
    EXACT,
    REFUSED,
    STATUSES,
    VALID,
    NoConclusion,
    caveats,
    check_drawable,
    check_rows_are_people,
)
from shoal.sampling import check_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.estimation.analyses import Analysis
    from shoal.estimation.completing import Completed
    from shoal.estimation.opening import Analysable
    from shoal.estimation.pooling import Pooled


@dataclass(frozen=True, repr=False)
class Quantity(Brief):
    """One estimated quantity.

    Attributes
    ----------
    name : the term of the formula, or what was asked, for example `mean(income)[sex=1]`.
    estimate, se, low, high : the estimate, its standard error, and its 95% interval.
    naive : what the same analysis gives if members and values are paired at random.
    missing : the share of the information that is missing because pairings are not published.
    rhat : the split R̂ of the chains; near 1 they agree.
    status, reason : valid, approximate or refused, and why.
    """

    _brief = ("name", "estimate", "low", "high", "status")

    name: str
    estimate: float
    se: float
    low: float
    high: float
    naive: float
    missing: float
    rhat: float
    status: str
    reason: str


@dataclass(frozen=True, repr=False)
class Estimates(Brief):
    """What a release answers: a status with its reason, and the quantities.

    Attributes
    ----------
    formula : what was asked.
    status : `valid`, `approximate` or `refused`: the worst of the quantities.
    reason : why, in a sentence.
    quantities : none where the answer is refused and `anyway` was not asked for.
    """

    _brief = ("formula", "status", "quantities")

    formula: str
    status: str
    reason: str
    quantities: tuple[Quantity, ...]

    @classmethod
    def of(
        cls,
        analysis: Analysis,
        pooled: Pooled,
        naive: NDArray,
        rhat: NDArray,
        judged: Callable[[int], tuple[str, str]],
    ) -> Estimates:
        """Put figures and judgements together; the worst status is that of the whole."""
        figures = {
            "estimate": pooled.estimate,
            "se": pooled.error,
            "low": pooled.low,
            "high": pooled.high,
            "naive": naive,
            "missing": pooled.missing,
            "rhat": rhat,
        }
        quantities = []
        for place, name in enumerate(analysis.names):
            own = {figure: float(of_all[place]) for figure, of_all in figures.items()}
            status, reason = judged(place)
            quantities.append(Quantity(name=name, **own, status=status, reason=reason))
        worst = max(quantities, key=lambda one: STATUSES.index(one.status))
        return cls(analysis.said, worst.status, worst.reason, tuple(quantities))

    def __getitem__(self, name: str) -> Quantity:
        """Return a quantity by its name."""
        return next(one for one in self.quantities if one.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; what is not a number is None."""
        found = asdict(self)
        found["quantities"] = [
            {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in one.items()}
            for one in found["quantities"]
        ]
        return found


@with_bar
def estimate(
    source: Any,
    formula: str | None = None,
    *,
    mean: str | None = None,
    quantile: float | None = None,
    share: str | None = None,
    correlation: bool = False,
    of: str | None = None,
    by: str | None = None,
    logit: bool = False,
    tables: int = 20,
    chains: int = 2,
    seed: int | None = None,
    anyway: bool = False,
    progress: Progress = silent,
) -> Estimates:
    """Estimate a quantity from a release, with a standard error that is honest about groups.

    Who in a group has which value is not published. Shoal draws it many times by a model of the
    value given the quasi-identifiers, analyses each completed table, and pools the results.

    Parameters
    ----------
    source : a release, or its directory; only what is published is used.
    formula : a regression, for example `"log(income) ~ age + C(sex)"`.
    mean : a sensitive column, or an expression of one, whose mean is estimated.
    quantile : of the sensitive column `of`, for example 0.9.
    share : a condition, for example `"income > 50000"`.
    correlation : whether to correlate the sensitive column `of` with numeric quasi-identifiers.
    of : the sensitive column of a quantile or correlation. Default: the only one.
    by : a quasi-identifier, or a condition on some, that means, quantiles and shares are split by.
    logit : a logistic regression; the left side of the formula is a condition.
    tables : how many completed tables are analysed.
    chains : how many chains draw them.
    seed : of all that is drawn; by default the operating system's.
    anyway : whether to give what is refused, marked so.
    """
    from shoal.estimation.judging import SERVES
    from shoal.estimation.opening import open_release

    check_asked(tables, chains, seed)
    said = formula or ""
    try:
        release = open_release(source, check_rows_are_people)
        given = formula, mean, quantile, share, correlation, of, by, logit

        def asked(one: Analysable) -> Analysis:
            return _analysis(one, *given)

        said = asked(release).said
        found = answer(release, asked, tables, chains, seed, anyway=anyway, progress=progress)
    except NoConclusion as problem:
        said = said or mean or share or "estimate"
        return Estimates(said, REFUSED, str(problem), ())
    if found.status == REFUSED and not anyway:
        return replace(found, reason=f"{found.reason} {SERVES}", quantities=())
    return found


def check_asked(tables: int, chains: int, seed: int | None) -> None:
    """Raise where draws are asked for that say nothing, or what draws them is not installed."""
    from shoal.estimation.opening import installed

    if not installed():
        msg = "Estimates need formulaic and statsmodels: pip install 'shoal[estimate]'."
        raise UsageError(msg)
    if tables < 2 or chains < 2:
        msg = (
            "Errors cannot be computed from fewer than 2 tables and 2 chains. Got "
            f"{option('tables', tables)} and {option('chains', chains)}."
        )
        raise UsageError(msg)
    check_seed(seed)


def _analysis(
    release: Analysable,
    formula: str | None,
    mean: str | None,
    quantile: float | None,
    share: str | None,
    correlation: bool,  # noqa: FBT001
    of: str | None,
    by: str | None,
    logit: bool,  # noqa: FBT001
) -> Analysis:
    """Return what was asked for: one thing."""
    from shoal.estimation import analyses

    asked = [formula is not None, mean is not None, quantile is not None, share is not None]
    if sum(asked) + correlation != 1:
        others = [option(name) for name in ("mean", "quantile", "share", "correlation")]
        msg = f"Ask for one thing: a formula, or one of {', '.join(others)}."
        raise UsageError(msg)
    if not release.quasi and (formula is not None or correlation or by is not None):
        check_drawable(release.manifest)
    if formula is not None:
        if by is not None:
            msg = f"A formula has its columns on the right; {option('by')} goes with means."
            raise UsageError(msg)
        return analyses.regression(release, formula, logit=logit)
    if mean is not None or share is not None:
        try:
            if mean is not None:
                return analyses.means(release, mean, by)
            return analyses.shares(release, str(share), by)
        except UnknownColumn as problem:
            if not release.quasi and problem.column in release.manifest.kinds:
                check_drawable(release.manifest)
            raise
    if quantile is not None:
        return analyses.quantiles(release, quantile, of, by)
    return analyses.correlations(release, of)


def answer(
    release: Analysable,
    asked: Callable[[Analysable], Analysis],
    tables: int,
    chains: int,
    seed: int | None,
    *,
    anyway: bool,
    progress: Progress = silent,
) -> Estimates:
    """Return what a release answers, each quantity with its status; none where all are refused."""
    from shoal.estimation import completing, judging
    from shoal.estimation.pooling import pool
    from shoal.runs.correcting import CORRECTED, bias

    analysis = asked(release)
    naive, squares = _at_random(release, analysis, seed)
    if analysis.settled and not (release.cells and any(analysis.terms)):
        pooled = pool(np.array([naive, naive]), np.array([squares, squares]))
        alone = _settled(squares, caveats(release.manifest, exact=True))
        return Estimates.of(analysis, pooled, naive, np.ones(len(naive)), alone)
    problem = completing.Problem(release, analysis.value)
    reasons = judging.before(problem)
    if reasons and not anyway:
        return Estimates(analysis.said, REFUSED, " ".join(reasons), ())
    seen: list[judging.Diagnosis] = []
    fits: list[NDArray] = []

    def settled(found: Completed) -> bool:
        seen[:] = [judging.Diagnosis.of(found)]
        fits[:] = [found.fits(analysis, asked)]
        hopeless = seen[0].missing >= judging.MISSING and not anyway
        return hopeless or (completing.long_enough(fits[0]) and seen[0].apart <= judging.APART)

    completed = completing.complete_tables(
        problem, chains=chains, seed=seed, tables=tables, settled=settled, progress=progress
    )
    reasons += seen[0].reasons() + judging.uncorrected_cells(release, seen[0])
    if reasons and not anyway:
        return Estimates(analysis.said, REFUSED, " ".join(reasons), ())
    rhat, agreeing = completing.agreement(fits[0][:, :, 0]), completing.agreed(fits[0])
    kept = completing.some(fits[0], tables)
    found = bias(completed, seen[0], analysis, asked, chains=chains, seed=seed)
    reasons += found.reasons
    rhat, agreeing = np.maximum(rhat, found.rhat), agreeing & (found.rhat < judging.AGREED)
    pooled = pool(kept[:, 0] - found.off, kept[:, 1], found.error)
    general = caveats(release.manifest)
    general += [CORRECTED] * bool(found.off.any())
    general += [f"The model does not have {one}." for one in analysis.beyond(problem)]

    def judged(place: int) -> tuple[str, str]:
        if reasons:
            return REFUSED, " ".join(reasons)
        if not agreeing[place]:
            return REFUSED, f"The chains do not agree on {analysis.names[place]}."
        unsure = pooled.missing[place] >= judging.UNSURE
        limits = [*general, *judging.own_limits(pooled, place)]
        if unsure and judging.follows_values(release.manifest):
            return REFUSED, " ".join(limits)
        return (APPROXIMATE, " ".join(limits)) if limits else (VALID, EXACT)

    return Estimates.of(analysis, pooled, naive, rhat, judged)


NO_MODEL = "This does not depend on who in a group has which value, so no model is needed."


def _settled(squares: NDArray, general: list[str]) -> Callable[[int], tuple[str, str]]:
    """Return what judges quantities that no pairing changes, by their squared errors."""
    from shoal.estimation import judging

    def judged(place: int) -> tuple[str, str]:
        limits = general + [judging.NO_ERROR] * bool(squares[place] <= 0)
        return (APPROXIMATE if limits else VALID), " ".join([NO_MODEL, *limits])

    return judged


def _at_random(
    release: Analysable, analysis: Analysis, seed: int | None
) -> tuple[NDArray, NDArray]:
    """Return the quantities where members and values of a group are paired at random.

    With their squared errors.
    """
    group = np.repeat(np.arange(len(release.starts) - 1), np.diff(release.starts))
    shuffled = np.random.default_rng(seed).permutation(release.rows)
    order = shuffled[np.argsort(group[shuffled], kind="stable")]
    return analysis.fit(order.astype(np.int32))
