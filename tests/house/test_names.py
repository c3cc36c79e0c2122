"""Several processes share the tests, so that each must find the same ones under the same names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def collected(seed: str, *options: str) -> list[str]:
    """Return the names of all tests, in order, as another process finds them."""
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in found.stdout.splitlines() if "::" in line]


@pytest.mark.long
def test_names_of_tests_depend_on_no_clock_and_no_order_of_sets():
    names = collected("1")
    assert len(names) > 5000
    assert collected("2", "-p", "a_day_later") == names
