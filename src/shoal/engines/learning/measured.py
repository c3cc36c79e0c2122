"""What was learned: the scores of every model, and what they say of a release."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.engines.learning.models import MODELS

if TYPE_CHECKING:
    from shoal.engines.learning.models import Scores


@dataclass(frozen=True)
class LearningUtility:
    """Scores on held-out rows, by model, and of what.

    `metric` names the score that speaks for the others: ROC-AUC for two labels, accuracy for more,
    R² for numbers. `trained` and `asked` count rows; of large tables a sample is trained on, the
    same people for every model. `chance` is by how much a model that learned nothing could be
    better than another on the people who were held out, None where they do not tell.
    """

    target: str
    metric: str
    trained: int
    asked: int
    release: dict[str, Scores]
    original: dict[str, Scores]
    trivial: dict[str, Scores]
    baseline: Scores
    chance: float | None

    def best(self, which: str) -> float | None:
        """Return the score of the better model trained on "release", "original" or "trivial"."""
        scores = [getattr(self, which)[model][self.metric] for model in MODELS]
        return max((score for score in scores if score is not None), default=None)

    @property
    def learnable(self) -> bool:
        """Whether quasi columns teach anything that the held-out rows can show.

        The better model of the original has to beat that of the trivial release by more than
        `chance`.
        """
        original, trivial = map(self.best, ("original", "trivial"))
        if original is None or trivial is None or self.chance is None:
            return False
        return original - trivial > self.chance

    @property
    def kept(self) -> float | None:
        """How much of what quasi columns teach beyond the trivial release is still learned.

        (release - trivial) / (original - trivial), of the better models; 1 is all, 0 nothing, and
        None where nothing can be learned to begin with.
        """
        release, original, trivial = map(self.best, ("release", "original", "trivial"))
        if not self.learnable or release is None or original is None or trivial is None:
            return None
        return (release - trivial) / (original - trivial)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self) | {"learnable": self.learnable, "kept": self.kept}
