"""Peak memory: what a block takes at most, not what was held before or is still held after."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from shoal.methods import choice as memory
from shoal.methods.choice import Peak

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MEGABYTES = 160
TOLD = os.access(memory.MARK, os.W_OK)


def _fill() -> float:
    return float(np.ones(MEGABYTES * 2**20 // 8).sum())


def test_memory_that_is_freed_again_counts_and_what_came_before_does_not():
    held = np.ones(MEGABYTES * 2**20 // 8)
    with Peak() as peak:
        _fill()
    with Peak() as nothing:
        pass
    assert held.size
    if not TOLD:
        assert peak.megabytes is None
        return
    assert peak.megabytes is not None
    assert nothing.megabytes is not None
    assert MEGABYTES - 40 < peak.megabytes < MEGABYTES + 40
    assert nothing.megabytes < 10


def test_where_the_system_does_not_tell_nothing_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(memory, "MARK", tmp_path / "nowhere" / "clear_refs")
    with Peak() as peak:
        _fill()
    assert peak.megabytes is None
