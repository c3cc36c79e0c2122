"""What a hundred and twenty seeded runs come to, as it was: a change of any of it has to be meant.

After a change that is meant, and is explained where it is committed: `make golden`. Where a digest
alone differs, `python -m golden.runs --full DIR` on both versions and `diff -r` show everything.
"""

import pytest

from golden import runs
from golden.cases import cases

CASES = cases()


@pytest.fixture(scope="module")
def kept():
    return runs.read()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.spark, pytest.mark.long] if case.spark else [])
        for name, case in CASES.items()
    ],
)
def test_a_run_comes_to_what_it_came_to(name, kept):
    changed = runs.differences(kept[name], runs.known(runs.result(CASES[name])))
    assert not changed, "\n".join([name, *changed])


def test_every_run_is_in_the_file_and_no_other(kept):
    assert set(kept) == set(CASES)
    assert runs.FILE.stat().st_size < 300_000
