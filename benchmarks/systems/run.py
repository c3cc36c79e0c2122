"""Have one system make rows, in its own environment: run by scale.py, jobs on standard input."""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from pathlib import Path


def main() -> None:
    system = importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        job = json.loads(line)
        setting = system.SETTINGS[job["setting"]]
        source, target = Path(job["source"]), Path(job["target"])
        start = time.process_time()
        try:
            system.make(source, target, job["case"], setting, job["seed"])
            status = ""
        except Exception as problem:  # noqa: BLE001 - one that fails is a result, told with its reason
            traceback.print_exc()
            status = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        done = {"seconds": round(time.process_time() - start, 2), "status": status}
        target.with_suffix(".json").write_text(json.dumps(done), "utf-8")
        print(target.stem, done, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
