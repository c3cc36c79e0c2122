"""The models that learn: a forest of trees and a linear model, and how their answers are scored."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODELS = ("forest", "linear")
TREES = 50
LEAF = 5  # rows that a leaf of a tree has at least
STEPS = 50  # of the logistic regression

Scores = dict[str, float | None]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of every row it is asked about, and how likely the second of two labels."""

    said: NDArray
    likely: NDArray[np.float64] | None = None

    def only(self, rows: NDArray[np.int64]) -> Answers:
        """Return the answers for some of the rows."""
        return Answers(self.said[rows], None if self.likely is None else self.likely[rows])


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
        self, features: NDArray[np.float32], target: NDArray, asked: NDArray[np.float32]
    ) -> dict[str, Answers]:
        """Train every model on features and target, and take its answers to what is asked."""
        return {model: self._answer(self._fit(model, features, target), asked) for model in MODELS}

    def baseline(self, target: NDArray, truth: NDArray) -> Scores:
        """Score the answer that knows no features: the commonest label, or the mean."""
        nothing = np.zeros((len(target), 0), np.float32)
        model = self._fit("none", nothing, target)
        return self.score(self._answer(model, np.zeros((len(truth), 0), np.float32)), truth)

    def _fit(self, model: str, features: NDArray[np.float32], target: NDArray) -> Any:
        fitted = self._make(model if features.shape[1] and len(np.unique(target)) > 1 else "none")
        with warnings.catch_warnings():
            # A regression stopped after its steps is a model like any other; its score tells.
            warnings.simplefilter("ignore", _sklearn("exceptions").ConvergenceWarning)
            fitted.fit(features, target)
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

    def _answer(self, model: Any, asked: NDArray[np.float32]) -> Answers:
        if self.classes != 2:
            return Answers(model.predict(asked))
        if len(model.classes_) == 1:  # it has seen one label only and ranks nobody
            return Answers(model.predict(asked), np.zeros(len(asked)))
        return Answers(model.predict(asked), model.predict_proba(asked)[:, 1])

    def score(self, answers: Answers, truth: NDArray) -> Scores:
        """Compare answers with the truth."""
        metrics = _sklearn("metrics")
        said = answers.said
        if self.classes is None:
            return {
                "r2": float(metrics.r2_score(truth, said)) if len(truth) > 1 else None,
                "mae": float(metrics.mean_absolute_error(truth, said)),
            }
        return {
            "accuracy": float((said == truth).mean()),
            "balanced_accuracy": balanced_accuracy(truth, said),
            "roc_auc": self._ranking(answers, truth),
        }

    def _ranking(self, answers: Answers, truth: NDArray) -> float | None:
        """Return the area under the ROC curve of two labels, None where there are others."""
        if answers.likely is None or len(np.unique(truth)) != 2:
            return None
        return float(_sklearn("metrics").roc_auc_score(truth == 1, answers.likely))


def balanced_accuracy(truth: NDArray, said: NDArray) -> float:
    """Return the mean over the labels that truly occur of the share that is recognized."""
    labels, codes = np.unique(truth, return_inverse=True)
    right = np.bincount(codes, weights=said == truth, minlength=len(labels))
    return float((right / np.bincount(codes)).mean())


def _sklearn(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}")
    except ModuleNotFoundError:
        msg = "Learning utility needs scikit-learn: pip install 'shoal[learning]'."
        raise UsageError(msg) from None
