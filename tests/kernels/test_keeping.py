"""Kernels are loaded with nothing that only compiling needs, and can be compiled with all the same.

Each process of these tests is a fresh one; those of one test keep kernels in one place.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLED = """
import numpy as np
from shoal.kernels.compiling import compiled, inner, lean

@inner
def square(value):
    return value * value

@lean
def squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total

@compiled("int64[::1](int64)")
def steps(count):
    found = np.empty(count, np.int64)
    for place in range(count):
        found[place] = place
    return found
"""
CALLING = """
from called import squares, steps
from shoal.kernels.compiling import compiled

@compiled("float64(float64[::1])")
def both(values):
    return squares(values) + steps(values.size)[3]
"""
ASKED = """
import json, sys
import numpy as np
import called
{more}
values = np.arange(4.0)
kernels = [one for one in (called.squares, called.steps) if hasattr(one, "_cache_hits")]
told = {{
    {told}
    "squares": called.squares(values),
    "steps": called.steps(3).tolist(),
    "loaded": sum(sum(one._cache_hits.values()) for one in kernels),
    "compiled": sum(sum(one._cache_misses.values()) for one in kernels),
    "ready to compile": "numba.np.linalg" in sys.modules,
}}
print(json.dumps(told))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "called.py").write_text(CALLED)
    (tmp_path / "calling.py").write_text(CALLING)
    return tmp_path


def asked(place: Path, more: str = "", told: str = "", **environment: str) -> dict[str, object]:
    """Return what a fresh process says."""
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(more=more, told=told)],
        cwd=place,
        env=os.environ | {"NUMBA_CACHE_DIR": str(place / "kept")} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_kernels_are_kept_loaded_without_the_compiler_and_compiled_with(place: Path) -> None:
    right = {"squares": 14.0, "steps": [0, 1, 2]}
    first = asked(place)
    assert first == right | {"loaded": 0, "compiled": 2, "ready to compile": True}
    again = asked(place)
    assert again == right | {"loaded": 2, "compiled": 0, "ready to compile": False}
    # What was loaded stands in a kernel that is compiled now, and in the same one once it is kept.
    for compiled in (1, 0):
        found = asked(
            place,
            "import calling",
            '"both": calling.both(values), "new": sum(calling.both._cache_misses.values()),',
        )
        assert (found["both"], found["new"]) == (17.0, compiled)
        assert found["loaded"] == 2
        assert found["ready to compile"] is bool(compiled)


THREADS = """
from concurrent.futures import ThreadPoolExecutor
import calling
with ThreadPoolExecutor(4) as pool:
    sums = list(pool.map(calling.both, [np.arange(4.0)] * 8))
asked = [len(one.overloads) for one in (called.squares, called.steps)]
try:
    calling.both(np.arange(4))
except TypeError:
    sums.append("refused")
"""


def test_a_kernel_waits_until_it_is_asked_for_and_takes_no_other_types(place: Path) -> None:
    told = '"sums": sums, "asked": asked, "more": "numba.np.arrayobj" in sys.modules,'
    asked(place, THREADS, told)
    found = asked(place, THREADS, told)
    assert found["sums"] == [17.0] * 8 + ["refused"]
    assert found["asked"] == [0, 0]  # what calls them is kept, and has them in it
    assert found["more"] is False


@pytest.mark.long
def test_another_numba_keeps_kernels_in_its_own_way(place: Path) -> None:
    (place / "newer.py").write_text("import numba\nnumba.__version__ = '7.0.0'\n")
    (place / "called.py").write_text("import newer\n" + CALLED)
    for compiled in (2, 0):
        found = asked(place, told='"ours": "shoal.kernels.keeping" in sys.modules,')
        assert (found["squares"], found["compiled"], found["ours"]) == (14.0, compiled, False)


def test_a_function_that_changed_is_compiled_anew(place: Path) -> None:
    asked(place)
    (place / "called.py").write_text(CALLED.replace("value * value", "value * value * value"))
    found = asked(place)
    assert (found["squares"], found["compiled"]) == (36.0, 2)


def test_loops_run_as_they_are_where_numba_is_told_not_to_compile(place: Path) -> None:
    found = asked(place, NUMBA_DISABLE_JIT="1")
    assert found["steps"] == [0, 1, 2]
    assert (found["loaded"], found["compiled"]) == (0, 0)
