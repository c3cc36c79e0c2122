"""Learning utility: train on what is published, answer for people who were never in it.

The rows of the original are parted first. Those for training are anonymized; models are trained on
the published rows and asked about the held-out rows, which are plain. Beside them stand models that
were trained on the original, on the trivial release (without the quasi columns), and the answer
that knows nothing but the target.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError, UnknownColumn, UsageError
from shoal.progress import Progress, silent, with_bar
from shoal.runs.doing import trial_of
from shoal.runs.features import MODELS, Feature, Learner, Learnt, Scores
from shoal.runs.learned import (
    SURE,
    LearningUtility,
    about_whom,
    blocks_of,
    guessing_error,
    part_rows,
    standard_error,
)
from shoal.runs.run import Run
from shoal.table.coding import code_column, code_lenient
from shoal.table.missing import Missing, complete_rows, is_missing
from shoal.table.reading import take_frame
from shoal.table.schema import Schema
from shoal.table.settling import settle, trimmed, weights_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shoal.methods.base import Method
    from shoal.principles.requirement import Require
    from shoal.runs.release import Release
    from shoal.table.column import Column

MOST_TRAINED = 10_000  # rows that a model is trained on
READ = ("quasi", "sensitive", "other")  # whose numbers may be written in any way
ABOUT_PEOPLE = ("person", "most_rows", "rows", "never_mix")  # as they are protected
MOST_ASKED = 10_000  # held-out rows that it is asked about


class Trial:
    """Rows to train on and rows to ask about, with the scores that no release changes."""

    def __init__(
        self,
        train: pl.DataFrame,
        held_out: pl.DataFrame,
        schema: Schema,
        *,
        target: str | None = None,
        kinds: dict[str, str] | None = None,
        seed: int = 0,
        who: NDArray[np.int64] | None = None,  # whom each held-out row is about
    ) -> None:
        self.target = find_target(schema, target)
        weight = schema.survey_weight
        names = [name for name in train.columns if name in schema.published and name != weight]
        table = _one_below_the_other(train, held_out, names)
        usable = (~is_missing(table[self.target])).to_numpy()
        self.weight = weight
        self.weights = None if weight is None else _weights(train, held_out, schema)
        if self.weights is not None:
            usable &= self.weights > 0  # whoever stands for nobody neither teaches nor is asked
        chance = np.random.Generator(np.random.PCG64(seed))
        rows = np.flatnonzero(usable)
        self.train = _some(rows[rows < train.height], MOST_TRAINED, chance)
        self.asked = _some(rows[rows >= train.height], MOST_ASKED, chance)
        if not len(self.train) or not len(self.asked):
            msg = f"No row is left to learn {self.target!r} from, or to ask about."
            raise InputError(msg)
        kinds = (kinds or {}) | dict(schema.types)
        self.features = {
            name: Feature.of(table[name], self.train, kind=kinds.get(name))
            for name in names
            if name != self.target
        }
        self.quasi = [name for name in names if name in schema.quasi]
        self.plain = [name for name in self.features if name not in self.quasi]
        self.truth, classes = _answers(table[self.target], usable, kinds.get(self.target))
        self.learner = Learner(classes, seed)
        people = np.arange(held_out.height) if who is None else who
        self.who = people[self.asked - train.height]

    @cached_property
    def baseline(self) -> Scores:
        """The scores of the answer that knows no features."""
        own = self._weighing(self.train), self._weighing(self.asked)
        return self.learner.baseline(self.truth[self.train], self.truth[self.asked], *own)

    @cached_property
    def original(self) -> dict[str, Learnt]:
        """The answers of models trained on the original."""
        return self._learn(self._points([*self.quasi, *self.plain], self.train), self.train)

    @cached_property
    def trivial(self) -> dict[str, Learnt]:
        """The answers of models trained without the quasi columns."""
        return self._learn(self._points(self.plain, self.train), self.train, self.plain)

    @cached_property
    def chance(self) -> float | None:
        """By how much chance alone could make the original's better model seem better."""
        metric, truth, weights = (
            self.learner.metric,
            self.truth[self.asked],
            self._weighing(self.asked),
        )
        better = [self._better(answers) for answers in (self.original, self.trivial)]

        def gain(rows: NDArray[np.int64]) -> float | None:
            own = None if weights is None else weights[rows]
            of = [self.learner.score(one.only(rows), truth[rows], own)[metric] for one in better]
            return None if of[0] is None or of[1] is None else of[0] - of[1]

        error = max(
            standard_error(gain, blocks_of(self.who, self.learner.seed)),
            guessing_error(metric, truth, self.who),
        )
        return SURE * error if np.isfinite(error) else None

    def _better(self, answers: dict[str, Learnt]) -> Learnt:
        """Return the answers of the better model."""
        scores = self._scores(answers)
        metric = self.learner.metric
        known = {one: score for one in MODELS if (score := scores[one][metric]) is not None}
        return answers[max(known, key=lambda one: known[one]) if known else MODELS[0]]

    def _scores(self, answers: dict[str, Learnt]) -> dict[str, Scores]:
        truth, weights = self.truth[self.asked], self._weighing(self.asked)
        return {model: self.learner.score(one, truth, weights) for model, one in answers.items()}

    def _weighing(self, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return how many people each row stands for, None where all count alike."""
        return None if self.weights is None else self.weights[rows]

    def score(self, release: Release) -> LearningUtility:
        """Train on a release of the training rows, all of them or a sample, and score it.

        A published row is trained on where the row whose values it carries is: the same people
        teach every model, but for suppressed ones. It counts by its published survey weight.
        """
        wanted = np.zeros(max(self.truth.size, 1), bool)
        wanted[self.train] = True
        taken = np.flatnonzero(wanted[release.linkage])
        carried = release.linkage[taken]
        recoding = release.recoding
        bears = recoding.layout.bears[taken]
        quasi = []
        for name in self.quasi:
            cover = recoding.covers[name]
            quasi.append(self.features[name].cells(cover)[cover.borne[bears]])
        features = np.hstack([*quasi, self._points(self.plain, carried)])
        weights = None
        if self.weight is not None:
            published = release.schema.read_numbers(recoding.source.select(self.weight), "other")
            weights = weights_of(published[self.weight]).to_numpy()[recoding.layout.carries[taken]]
        return LearningUtility(
            target=self.target,
            metric=self.learner.metric,
            trained=len(carried),
            asked=len(self.asked),
            release=self._scores(self._learn(features, carried, weights=weights)),
            original=self._scores(self.original),
            trivial=self._scores(self.trivial),
            baseline=self.baseline,
            chance=self.chance,
        )

    def _points(self, names: list[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        nothing = np.zeros((len(rows), 0), np.float32)
        return np.hstack([nothing, *(self.features[name].points(rows) for name in names)])

    def _learn(
        self,
        features: NDArray[np.float32],
        rows: NDArray[np.int64],
        names: list[str] | None = None,
        *,
        weights: NDArray[np.float64] | None = None,
    ) -> dict[str, Learnt]:
        known = [*self.quasi, *self.plain] if names is None else names
        own = self._weighing(rows) if weights is None else weights
        return self.learner.learn(features, self.truth[rows], self._points(known, self.asked), own)


@with_bar
def learning_utility(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    target: str | None = None,
    missing: Missing = "error",
    suppress: str | float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> LearningUtility:
    """Part a table, anonymize four fifths of it, and learn a column for the people of the rest.

    Parameters
    ----------
    frame : a pandas, Polars or PyArrow table; it is not changed.
    schema : the roles of its columns.
    require, method, missing, suppress, seconds, progress : as for `anonymize`.
    target : the column to learn, sensitive or other; by default the first sensitive one. Labels and
        columns of two values are classified, other numbers are fitted.
    seed : decides how rows are parted and how trees grow. Nothing is published here, so it may be
        fixed, and equal calls give equal scores.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": range(200), "pay": [10 * age for age in range(200)]})
    >>> schema = shoal.Schema(quasi="age", sensitive="pay")
    >>> found = shoal.measures.learning_utility(people, schema, require="KAnonymity(k=2)")
    >>> found.metric, found.kept > 0.9
    ('r2', True)
    """
    trial, train, fixed = part(frame, schema, target=target, missing=missing, seed=seed)
    run = Run.over(
        train,
        fixed,
        require=require,
        method=method,
        missing=missing,
        suppress=suppress,
        seconds=seconds,
        seed=seed,
    )
    release = trial_of(run, progress)
    progress("learn", 0.0)
    return trial.score(release)


def part(
    frame: Any,
    schema: Schema,
    *,
    target: str | None,
    missing: Missing,
    seed: int,
    who: NDArray[np.int64] | None = None,
) -> tuple[Trial, pl.DataFrame, Schema]:
    """Part the rows of a table; return the trial, the rows to anonymize, and their schema.

    Whether a column is numeric, the whole table decides, not one part of it. `who` says whom each
    row is about; else the columns that name people do. Nobody has rows in both parts.
    """
    table, schema = settle(take_frame(frame), schema)
    table = schema.read_numbers(table, *READ)
    name = find_target(schema, target)
    keep = complete_rows(table, (*schema.quasi, *schema.sensitive), missing, schema.missing_cells)
    kept = (keep & ~is_missing(table[name])).to_numpy()
    table = table.filter(pl.Series(kept))
    if table.height < 2:
        msg = f"Learning needs at least 2 rows that have a {name!r}. There are {table.height}."
        raise InputError(msg)
    kinds = {
        column: kind_of(code_lenient(table[column], order=schema.order.get(column)))
        for column in (*schema.quasi, *schema.sensitive)
    }
    fixed = Schema(  # numbers are read, rounded and cut off already
        **{role: getattr(schema, role) for role in ("quasi", "sensitive", "identifying", "other")},
        **{said: getattr(schema, said) for said in ABOUT_PEOPLE},
        types=kinds | dict(schema.types),
        order=schema.order,
        hierarchies=schema.hierarchies,
        weights=schema.weights,
        survey_weight=schema.survey_weight,
    )
    known = about_whom(table, schema) if who is None else np.asarray(who)[kept]
    rows, held_out = part_rows(known, seed)
    train, rest = table[rows], table[held_out]
    trial = Trial(train, rest, fixed, target=name, seed=seed, who=known[held_out])
    return trial, train, fixed


def learning_from_release(
    release: Release, held_out: Any, *, target: str | None = None, seed: int = 0
) -> LearningUtility:
    """Learn a column from a release that was made before, for people who are not in it.

    `held_out` are rows of the same kind as those that were anonymized, and none of them.
    """
    given = _as_read(release.given, release.schema)
    kinds = {
        column.name: kind_of(column if column.numeric else code_lenient(given[column.name]))
        for column in (*release.coded.quasi, *release.coded.sensitive)
    }
    trial = Trial(
        given,
        _as_read(held_out, release.schema),
        release.schema,
        target=target,
        kinds=kinds,
        seed=seed,
    )
    return trial.score(release)


def _as_read(frame: Any, schema: Schema) -> pl.DataFrame:
    """Return a table with its cells read, rounded and cut off as those of a release were."""
    return schema.read_numbers(trimmed(take_frame(frame), schema, *READ), *READ)


def kind_of(column: Column) -> str:
    """Return the type that makes cells be read as those of a column were."""
    if column.dates:
        return "date"
    return "numeric" if column.numeric else "categorical"


def find_target(schema: Schema, target: str | None) -> str:
    """Return the column to learn, which has to be published as it is."""
    known = (*schema.sensitive, *schema.other)
    if target is None and schema.sensitive:
        return schema.sensitive[0]
    if target is None:
        msg = "There is no column to learn: name a sensitive column, or a target."
        raise UsageError(msg)
    if target in schema.quasi:
        msg = f"{target!r} is generalized, so it cannot be learned; choose a sensitive column."
        raise UsageError(msg)
    if target not in known:
        raise UnknownColumn(target, known)
    return target


def _answers(
    cells: pl.Series, usable: NDArray[np.bool_], kind: str | None
) -> tuple[NDArray, int | None]:
    """Return what is to be learned, numbers or codes of labels, and how many labels there are."""
    column = code_column(cells.filter(pl.Series(usable)), kind=kind)
    if column.values is None or column.distinct <= 2:
        answers = np.full(len(cells), -1, np.int64)
        answers[usable] = column.codes
        return answers, column.distinct
    numbers = np.zeros(len(cells))
    numbers[usable] = column.numbers[column.codes]
    return numbers, None


def _weights(train: pl.DataFrame, held_out: pl.DataFrame, schema: Schema) -> NDArray[np.float64]:
    """Return the survey weights of all rows."""
    name = str(schema.survey_weight)
    both = _one_below_the_other(train, held_out, [name])
    return weights_of(schema.read_numbers(both, "other")[name]).to_numpy()


def _some(rows: NDArray[np.int64], most: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows, or so many of them at random."""
    return rows if len(rows) <= most else np.sort(chance.choice(rows, most, replace=False))


def _one_below_the_other(
    train: pl.DataFrame, held_out: pl.DataFrame, names: list[str]
) -> pl.DataFrame:
    """Return the named columns of both, as text where their types differ."""
    columns = []
    for name in names:
        if name not in held_out.columns:
            raise UnknownColumn(name, held_out.columns)
        both = train[name], held_out[name]
        if both[0].dtype != both[1].dtype:
            both = both[0].cast(pl.String), both[1].cast(pl.String)
        columns.append(pl.concat(both))
    return pl.DataFrame(columns)
