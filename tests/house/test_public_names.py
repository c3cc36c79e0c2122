"""Names that were renamed still work, say what to write instead, and are listed nowhere."""

from __future__ import annotations

import pytest

import shoal
from shoal.names import MEMBERS, RENAMED

OLD = [(space, old, new) for space, names in RENAMED.items() for old, new in names.items()]


@pytest.mark.parametrize(("space", "old", "new"), OLD, ids=[old for _, old, _ in OLD])
def test_an_old_name_is_the_new_one_with_a_warning(space, old, new):
    part = getattr(shoal, space.rpartition(".")[2])
    assert new in dir(part)
    assert old not in dir(part)
    for place in (part, shoal):
        with pytest.warns(DeprecationWarning, match=rf"Write {space}\.{new}\."):
            assert getattr(place, old) is getattr(part, new)


@pytest.mark.parametrize(("old", "new"), MEMBERS["Run"].items())
def test_an_old_name_of_a_run_is_the_new_one_with_a_warning(old, new):
    run = shoal.results.Run(require="KAnonymity(k=2)")
    assert old not in dir(run)
    with pytest.warns(DeprecationWarning, match=rf"Write Run\.{new}\."):
        found = getattr(run, old)
    assert found == getattr(run, new)
    assert not hasattr(run, "nothing_of_the_kind")
