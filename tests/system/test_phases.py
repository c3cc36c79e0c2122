"""What a command worked in each phase adds up to what the system counted for it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.datasets.census import census

SHOAL = [sys.executable, "-c", "from shoal.cli.main import main; main()", "anonymize"]
ASKED = ["--require", "EpsilonM(epsilon=2000, m=5)", "--quiet", "--output"]
CENSUS = ["--quasi", "age,birthplace,occupation", "--sensitive", "income"]
PHASES = {"start", "read", "code", "search", "recode", "write", "audit", "report", "other"}


def ran(*arguments: str | Path) -> tuple[str, float]:
    """Run a command; return what it printed and the seconds that the processor worked for it."""
    call = [*SHOAL, *map(str, arguments)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        told = one.stdout.read()
        _, status, used = os.wait4(one.pid, 0)
        one.returncode = os.waitstatus_to_exitcode(status)
    assert one.returncode == 0
    return told, used.ru_utime + used.ru_stime


def check_sum(phases: dict[str, float], whole: float) -> None:
    assert abs(sum(phases.values()) - whole) <= 0.1 * whole
    assert phases["other"] <= 0.25 * whole  # hardly anything belongs to no phase


@pytest.mark.parametrize("private", [False, True])
def test_processor_seconds_of_the_phases_add_up_to_those_of_the_command(
    private: bool, tmp_path: Path
) -> None:
    census(4_000).write_csv(tmp_path / "t.csv")
    more: list[str | Path] = ["--owner-report", tmp_path / "owner.html"] if private else []
    told, whole = ran(tmp_path / "t.csv", *CENSUS, *ASKED, tmp_path / "o", "--json", *more)
    facts = json.loads(told)
    assert facts["seconds_by"] == "processor"
    assert {*facts["seconds"]} == PHASES
    check_sum(facts["seconds"], whole)


def test_seconds_of_a_series_add_up_in_the_terminal(tmp_path: Path) -> None:
    census(4_000).with_row_index("who").write_csv(tmp_path / "t.csv")
    series: list[str | Path] = ["--person", "who", "--ledger", tmp_path / "ledger"]
    told, whole = ran(tmp_path / "t.csv", *CENSUS, *ASKED, tmp_path / "o", *series)
    line = told[told.index("Seconds: ") :].splitlines()[0]
    phases = {name: float(number) for name, number in re.findall(r"(\w+) (\d+\.\d\d)", line)}
    assert {*phases} == PHASES - {"code"}  # which is part of the search for newcomers
    check_sum(phases, whole)
