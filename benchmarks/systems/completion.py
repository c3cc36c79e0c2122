"""The completion: rows from published cells, a value at random from each cell, all equally likely.

Values are whole numbers, and a cell is a number, `[low, high]` or `low-high`. A release in two
tables has everybody's quasi values; there the value comes from `shoal complete`, one table.
"""

from __future__ import annotations

import re

CELL = re.compile(r"\[?(-?\d+)(?:(?:, |-)(-?\d+))?\]?")


def complete_cells(cells: list[str], random) -> list[int]:
    """Return one value from each cell; `random` is a `random.Random`."""
    found = []
    for cell in cells:
        read = CELL.fullmatch(cell.strip())
        if read is None:
            msg = f"The cell {cell!r} is neither a number nor an interval of numbers."
            raise ValueError(msg)
        low = int(read[1])
        found.append(random.randint(low, int(read[2] or low)))
    return found
