"""Dealing in turn is for one value per person: people with several have no sorted order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from shoal.kernels.exchange.swaps import round_robin
from shoal.kernels.relations import BAND


def test_people_with_several_values_are_not_dealt_in_turn() -> None:
    relations: Any = SimpleNamespace(
        forms=np.array([BAND]),
        sets=np.array([0]),
        first=np.array([0, 1], np.int32),
        last=np.array([0, 1], np.int32),
    )
    groups: Any = SimpleNamespace(
        rows=np.array([[0, 1], [2, 3]]),
        sizes=np.array([2, 2]),
        codes=np.array([[[0], [3]], [[1], [2]]]),
    )
    space: Any = None
    assert not round_robin(space, relations, groups, np.array([0, 1]), 1)
