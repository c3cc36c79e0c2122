"""What a command worked in each phase adds up to what the system counted for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from shoal.datasets.census import census


def test_processor_seconds_of_the_phases_add_up_to_those_of_the_command(tmp_path: Path) -> None:
    census(4_000).write_csv(tmp_path / "t.csv")
    call = [sys.executable, "-c", "from shoal.cli.main import main; main()", "anonymize"]
    call += [str(tmp_path / "t.csv"), "--quasi", "age,birthplace,occupation", "--sensitive"]
    call += ["income", "--require", "EpsilonM(epsilon=2000, m=5)", "--json", "--quiet"]
    with subprocess.Popen([*call, "--output", str(tmp_path / "o")], stdout=subprocess.PIPE) as ran:
        assert ran.stdout is not None
        facts = json.loads(ran.stdout.read())
        _, status, used = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    assert ran.returncode == 0
    assert facts["seconds_by"] == "processor"
    phases = facts["seconds"]
    assert {*phases} == {"start", "read", "code", "search", "recode", "write", "audit", "report"}
    whole = used.ru_utime + used.ru_stime
    assert abs(sum(phases.values()) - whole) <= 0.1 * whole
