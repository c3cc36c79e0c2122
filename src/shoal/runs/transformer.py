"""A transformer of scikit-learn: published cells of any form, and plain ones, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.utility.numbers import CellNumbers

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ModuleNotFoundError:
    msg = "A transformer needs scikit-learn: pip install 'shoal[learning]'."
    raise UsageError(msg) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class CellTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns the cells of a release into numbers, and plain rows into the same numbers.

    A model is fitted to a release and asked about people as they are: `make_pipeline(
    shoal.measures.CellTransformer(), Ridge())`.

    Parameters
    ----------
    columns : which ones to take; by default all but `group`.
    """

    def __init__(self, columns: Sequence[str] | None = None) -> None:
        self.columns = columns

    def fit(self, table: Any, _target: Any = None) -> CellTransformer:
        """Learn which columns hold numbers, and which labels the others have."""
        self.cells_ = CellNumbers(self.columns).fit(table)
        return self

    def transform(self, table: Any) -> NDArray[np.float64]:
        """Return a row of numbers for each row."""
        return self.cells_.transform(table)

    def get_feature_names_out(self, _names: Any = None) -> list[str]:
        """Return the names of the numbers."""
        return self.cells_.names
