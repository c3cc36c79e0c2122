"""What a command takes: seconds, processor seconds, and megabytes at its peak.

A process starts with the peak memory of the one that started it, as Linux counts. So commands are
started by a small process of their own, which is this file run as a program: it needs nothing but
the standard library.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


# As in the Makefile: where no bytecode is kept, imports take three to five times as long.
UNWRITTEN = "PYTHONDONTWRITEBYTECODE"


@dataclass(frozen=True)
class Taken:
    """What a command took and printed; `code` is None where it was stopped at the limit.

    `cpu` are the seconds of all processors together, `megabytes` the largest memory that the
    process, or one that it started, has held.
    """

    seconds: float
    cpu: float
    megabytes: float
    code: int | None
    out: str
    problem: str

    @property
    def reason(self) -> str:
        """The last line of what it complained of."""
        lines = self.problem.strip().splitlines()
        return lines[-1] if lines else f"exit code {self.code}"


def measure(command: Sequence[str | Path], *, limit: float, work: int = 0) -> Taken:
    """Run a command in a fresh process and stop it, with all that it started, at the limit.

    IN: limit, in seconds; work, where it is not 0, those that the processor may work for it.
    """
    asked = [str(limit), str(work), *map(str, command)]
    starter = [sys.executable, "-S", "-E", __file__, *asked]
    run = subprocess.run(starter, check=True, capture_output=True, text=True)
    return Taken(**json.loads(run.stdout))


def run_measured(limit: float, work: int, command: Sequence[str]) -> dict[str, Any]:
    """Run a command and return what it took."""
    if work:  # what is started has the limits of this process, which hardly works itself
        resource.setrlimit(resource.RLIMIT_CPU, (work, resource.RLIM_INFINITY))
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        env={name: text for name, text in os.environ.items() if name != UNWRITTEN},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, problem = child.communicate(timeout=limit)
        code = None if child.returncode == -signal.SIGXCPU else child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, problem = child.communicate()
        code = None
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
        "code": code,
        "out": out,
        "problem": problem,
    }


if __name__ == "__main__":
    json.dump(run_measured(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]), sys.stdout)
