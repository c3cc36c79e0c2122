"""Count what one plain `anonymize` enters: `python scripts/walk.py`.

A module is entered where a function of it is called (the body of a class is none, nor is a
comprehension), and loaded where it is imported. The fewer there are, the sooner somebody has read a
row's whole way.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROWS = 200


def walk(*arguments: str) -> tuple[Counter[str], list[str]]:
    """Run a command; return how many functions it calls in each module, and what it loads."""
    called: set[tuple[str, str, int]] = set()

    def profile(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<":
            called.add((frame.f_globals.get("__name__", ""), code.co_qualname, code.co_firstlineno))

    sys.setprofile(profile)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            from shoal.cli.main import commands

            commands(arguments[0])([*arguments], prog_name="shoal", standalone_mode=False)
    finally:
        sys.setprofile(None)
    entered = Counter(module for module, *_ in called if module.split(".")[0] == "shoal")
    return entered, sorted(name for name in sys.modules if name.split(".")[0] == "shoal")


def plain(place: Path) -> tuple[str, ...]:
    """Return a plain `anonymize` of a small table that it writes."""
    table = place / "people.csv"
    rows = (f"{20 + row * 7 % 60},{1000 * (row * 37 % 211)}\n" for row in range(ROWS))
    table.write_text("age,pay\n" + "".join(rows))
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "EpsilonM(epsilon=2000, m=5)")
    return ("anonymize", str(table), *asked, "--output", str(place / "published"))


def main() -> None:
    """Print what is entered and loaded, the most used module first."""
    with tempfile.TemporaryDirectory() as place:
        entered, loaded = walk(*plain(Path(place)))
    for module, functions in entered.most_common():
        sys.stdout.write(f"{functions:4} {module}\n")
    functions = sum(entered.values())
    said = f"{len(entered)} modules and {functions} functions entered, {len(loaded)} loaded"
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main()
