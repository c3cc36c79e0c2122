"""From published cells and plain ones to the same features, and the models that take them.

A number is its own feature, measured in standard deviations of the original's training rows. An
interval becomes its midpoint, which is what its values are expected to be when they are spread
evenly over it, as in counts on a release. Its width is no feature: every row that a model is asked
about is a plain one of width 0, where a model that learned from widths would have seen next to
nothing. For the same reason features are scaled by the original and not by what is published, where
shares hardly vary and a plain row would lie far outside.

Numbers are published as sets of labels where some are missing, and as nodes where they have a
hierarchy. They are numbers all the same: such a cell becomes the mean of the numbers it stands for,
and where numbers are missing, a second feature is the share of missing ones.

A label becomes a share for each label of the column: 1 for its own. A set of k labels becomes 1 / k
for each of them, and so does a node of a hierarchy that stands for k labels. Labels beyond the
`MOST` commonest share one feature.

A forest of trees and a linear model learn from them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.table.coding import code_column
from shoal.table.missing import MISSING_LABEL, is_missing

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.cover import Cover
    from shoal.table.column import Column


MOST = 100  # labels of a column that have a feature of their own
UNKNOWN = -1  # the code of a missing number


@dataclass(frozen=True, eq=False)
class Feature:
    """One column of the original as features; `codes` are the ranks of all its rows.

    `places` says for each rank of a categorical column which feature it is, `width` how many
    features there are. Of a numeric one `middle` and `unit` are mean and standard deviation; a
    missing number counts as the mean, and as missing.
    """

    column: Column
    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    width: int
    middle: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, cells: pl.Series, train: NDArray[np.int64], *, kind: str | None) -> Feature:
        """Make features from the cells of a column; what is common, the training rows decide."""
        known = ~is_missing(cells)
        column = code_column(cells.filter(known), kind=kind)
        if column.numeric:
            codes = np.full(len(cells), UNKNOWN, np.int64)
            codes[known.to_numpy()] = column.codes
        else:  # missing is a label like any other
            column = code_column(cells, kind="categorical")
            codes = column.codes.astype(np.int64)
        trained = codes[train]
        counts = np.bincount(trained[trained != UNKNOWN], minlength=column.distinct)
        if column.numeric:
            values = column.numbers.astype(np.float64)
            rows = max(counts.sum(), 1)
            middle = float(counts @ values / rows)
            unit = float(np.sqrt(counts @ (values - middle) ** 2 / rows)) or 1.0
            width = 1 if known.all() else 2
            return cls(column, codes, np.zeros(0, np.int64), width, middle, unit)
        common = np.argsort(-counts, kind="stable")[:MOST]
        common = np.sort(common[counts[common] > 0])
        places = np.full(column.distinct, len(common), np.int64)
        places[common] = np.arange(len(common))
        return cls(column, codes, places, len(common) + 1)

    def points(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the features of plain rows."""
        codes = self.codes[rows]
        if self.column.numeric:
            values = np.append(self.column.numbers.astype(np.float64), self.middle)
            return self._scaled(values[codes], codes == UNKNOWN)  # UNKNOWN is the last of them
        features = np.zeros((len(rows), self.width), np.float32)
        features[np.arange(len(rows)), self.places[codes]] = 1
        return features

    def cells(self, covered: Cover) -> NDArray[np.float32]:
        """Return the features of published cells."""
        column = covered.domain  # the release's, with its own ranks
        if column.values is not None:
            spans, there = covered.numbers()
            values = spans.domain.numbers.astype(np.float64)
            middle = values[spans.low] / 2 + values[spans.high] / 2  # their sum may overflow
            missing = np.where(covered.mixed, 1 / (spans.high - spans.low + 2), ~there)
            return self._scaled(np.where(there, middle, self.middle), missing)
        cell, label, counts = covered.labels()
        if self.column.numeric:
            return self._means(column.spellings, cell, label, counts)
        rank = {label: rank for rank, label in enumerate(self.column.spellings)}
        ours = np.array([rank[label] for label in column.spellings], np.int64)
        place = cell * self.width + self.places[ours[label]]
        shares = np.bincount(place, weights=1 / counts[cell], minlength=len(counts) * self.width)
        return shares.reshape(-1, self.width).astype(np.float32)

    def _means(
        self, spellings: pl.Series, cell: NDArray, label: NDArray, counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the features of cells that stand for several numbers, some perhaps missing."""
        absent = spellings == MISSING_LABEL
        kind = "date" if self.column.dates else "numeric"
        known = code_column(spellings.filter(~absent), kind=kind)
        missing = absent.to_numpy()
        values = np.zeros(len(spellings))
        values[~missing] = known.numbers.astype(np.float64)[known.codes]
        gone = np.bincount(cell, weights=missing[label], minlength=len(counts))
        there = counts - gone
        shares = 1 / np.maximum(there, 1)  # before they are added up, so that sums do not overflow
        means = np.bincount(cell, weights=values[label] * shares[cell], minlength=len(counts))
        return self._scaled(np.where(there > 0, means, self.middle), gone / counts)

    def _scaled(self, numbers: NDArray[np.float64], missing: NDArray) -> NDArray[np.float32]:
        scaled = (numbers - self.middle) / self.unit
        return np.column_stack([scaled, missing])[:, : self.width].astype(np.float32)


MODELS = ("forest", "linear")
TREES = 50
LEAF = 5  # rows that a leaf of a tree has at least
STEPS = 50  # of the logistic regression

Scores = dict[str, float | None]
Weights = NDArray[np.float64] | None  # how many people each row stands for; None: all alike


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a model says of every row it is asked about, and how likely the second of two labels."""

    said: NDArray
    likely: NDArray[np.float64] | None = None

    def only(self, rows: NDArray[np.int64]) -> Learnt:
        """Return the answers for some of the rows."""
        return Learnt(self.said[rows], None if self.likely is None else self.likely[rows])


@dataclass(frozen=True)
class Learner:
    """How a target is learned: labels are classified, numbers are fitted."""

    classes: int | None  # how many labels the target has, None for numbers
    seed: int

    @property
    def metric(self) -> str:
        """The score that speaks for the others: more is better."""
        if self.classes is None:
            return "r2"
        return "roc_auc" if self.classes == 2 else "accuracy"

    def learn(
        self,
        features: NDArray[np.float32],
        target: NDArray,
        asked: NDArray[np.float32],
        weights: Weights = None,
    ) -> dict[str, Learnt]:
        """Train every model on features and target, and take its answers to what is asked.

        Rows count by their weights, where there are any.
        """
        return {
            model: self._answer(self._fit(model, features, target, weights), asked)
            for model in MODELS
        }

    def baseline(
        self, target: NDArray, truth: NDArray, weights: Weights = None, asked: Weights = None
    ) -> Scores:
        """Score the answer that knows no features: the commonest label, or the mean."""
        nothing = np.zeros((len(target), 0), np.float32)
        model = self._fit("none", nothing, target, weights)
        answers = self._answer(model, np.zeros((len(truth), 0), np.float32))
        return self.score(answers, truth, asked)

    def _fit(
        self, model: str, features: NDArray[np.float32], target: NDArray, weights: Weights
    ) -> Any:
        fitted = self._make(model if features.shape[1] and len(np.unique(target)) > 1 else "none")
        with warnings.catch_warnings():
            # A regression stopped after its steps is a model like any other; its score tells.
            warnings.simplefilter("ignore", _sklearn("exceptions").ConvergenceWarning)
            fitted.fit(features, target, sample_weight=weights)
        # Threads would add up the answers of the trees in any order, which shows in the last digit.
        return fitted.set_params(n_jobs=1) if "n_jobs" in fitted.get_params() else fitted

    def _make(self, model: str) -> Any:
        labels = self.classes is not None
        if model == "none":
            dummy = _sklearn("dummy")
            return dummy.DummyClassifier(strategy="prior") if labels else dummy.DummyRegressor()
        if model == "forest":
            options: dict[str, Any] = {
                "n_estimators": TREES,
                "min_samples_leaf": LEAF,
                "random_state": self.seed,
                "n_jobs": -1,  # the trees are the same, however many threads grow them
            }
            ensemble = _sklearn("ensemble")
            if labels:
                return ensemble.RandomForestClassifier(max_features="sqrt", **options)
            return ensemble.RandomForestRegressor(max_features=1 / 3, **options)
        linear = _sklearn("linear_model")
        return linear.LogisticRegression(max_iter=STEPS) if labels else linear.Ridge()

    def _answer(self, model: Any, asked: NDArray[np.float32]) -> Learnt:
        if self.classes != 2:
            return Learnt(model.predict(asked))
        if len(model.classes_) == 1:  # it has seen one label only and ranks nobody
            return Learnt(model.predict(asked), np.zeros(len(asked)))
        return Learnt(model.predict(asked), model.predict_proba(asked)[:, 1])

    def score(self, answers: Learnt, truth: NDArray, weights: Weights = None) -> Scores:
        """Compare answers with the truth; rows count by their weights, where there are any."""
        metrics = _sklearn("metrics")
        said, own = answers.said, {"sample_weight": weights}
        if self.classes is None:
            return {
                "r2": float(metrics.r2_score(truth, said, **own)) if len(truth) > 1 else None,
                "mae": float(metrics.mean_absolute_error(truth, said, **own)),
            }
        return {
            "accuracy": float(np.average(said == truth, weights=weights)),
            "balanced_accuracy": balanced_accuracy(truth, said, weights),
            "roc_auc": self._ranking(answers, truth, weights),
        }

    def _ranking(self, answers: Learnt, truth: NDArray, weights: Weights) -> float | None:
        """Return the area under the ROC curve of two labels, None where there are others."""
        if answers.likely is None or len(np.unique(truth)) != 2:
            return None
        score = _sklearn("metrics").roc_auc_score
        return float(score(truth == 1, answers.likely, sample_weight=weights))


def balanced_accuracy(truth: NDArray, said: NDArray, weights: Weights = None) -> float:
    """Return the mean over the labels that truly occur of the share that is recognized."""
    own = np.ones(len(truth)) if weights is None else weights
    codes = np.unique(truth, return_inverse=True)[1]
    every = np.bincount(codes, weights=own)
    right = np.bincount(codes, weights=own * (said == truth))
    return float((right[every > 0] / every[every > 0]).mean())


def _sklearn(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}")
    except ModuleNotFoundError:
        msg = "Learning utility needs scikit-learn: pip install 'shoal[learning]'."
        raise UsageError(msg) from None
