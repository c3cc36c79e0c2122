"""A plain run loads what it uses: the rest is what most of a small run's time would go into."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from system.shell import Row, people, write_csv

RUN = """
import json, os, sys
told, leave = sys.argv.pop(), os._exit
def tell(code):
    with open(told, "w") as file:
        json.dump([code, sorted(sys.modules)], file)
    leave(code)
os._exit = tell
from shoal.cli.main import main
main()
"""
# What is installed with an extra, or with other programs.
FOREIGN = {
    *("duckdb", "fastexcel", "matplotlib", "ortools", "pandas", "psycopg", "py4j", "pyarrow"),
    *("pyspark", "scipy.linalg", "scipy.optimize", "scipy.sparse", "sklearn", "vl_convert"),
    *("tornado", "uvicorn", "xlsxwriter"),
}
# What compiles kernels, which takes longer than a small run; what others use of us.
HERE = {
    "numba",
    *("shoal.audit.attack", "shoal.audit.survey", "shoal.kernels.freeform"),
    *("shoal.runs.compare", "shoal.runs.tune"),
    *("shoal.runs.learning", "shoal.utility.least", "shoal.web"),
}


@pytest.mark.parametrize("quiet", [[], ["--quiet", "--json"]])
def test_a_plain_run_loads_no_heavy_module(tmp_path: Path, quiet: list[str]) -> None:
    rows: list[Row] = people()
    table, told = write_csv(tmp_path / "people.csv", rows), tmp_path / "modules.json"
    options = ["--quasi", "age,town", "--sensitive", "salary", "--output", str(tmp_path / "out")]
    asked = ["--require", "EpsilonM(epsilon=1, m=2)", *quiet]
    subprocess.run(
        [sys.executable, "-c", RUN, "anonymize", str(table), *options, *asked, str(told)],
        check=True,
        capture_output=True,
    )
    code, loaded = json.loads(told.read_text())
    assert code == 0
    assert {"polars", "llvmlite", "shoal.kernels.exchange.moves"} <= {*loaded}
    assert ("rich" in loaded) is ("--json" not in quiet)  # it draws what JSON does without
    found = (FOREIGN | HERE) & {*loaded}
    assert found == set()


BEFORE = """
import os, sys
from shoal.cli import main
assert "numpy" not in sys.modules
main.finish = lambda *_: print(os.environ["OPENBLAS_NUM_THREADS"])
sys.argv = ["shoal", "--version"]
main.main()
"""


@pytest.mark.parametrize(("own", "found"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_command_starts_no_threads_for_linear_algebra(own: dict[str, str], found: str) -> None:
    bare = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", BEFORE], env=bare | own, check=True, capture_output=True, text=True
    )
    assert done.stdout.split()[-1] == found


@pytest.mark.parametrize("name", sorted(HERE))
def test_what_is_not_loaded_is_there(name: str) -> None:
    assert find_spec(name) is not None
