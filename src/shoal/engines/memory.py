"""How much memory a piece of work takes at its peak, as the operating system sees it.

Compiled loops take memory that Python's own accounting does not see, so the resident memory of the
whole process is asked for: its high-water mark is set back before the work, and what the mark is
above the memory held then is what the work took. Memory that was freed before is handed back first,
lest it be taken anew unseen; what an allocator keeps all the same, a later piece of work in the
same process may use without its showing, so the figure is never too large and can be some
megabytes too small. Only Linux can set the mark back; elsewhere nothing is measured.
"""

from __future__ import annotations

import ctypes
import gc
import re
from contextlib import suppress
from pathlib import Path
from typing import Self

STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET = "5"  # sets the high-water mark back, see proc(5)


class Peak:
    """Measures the work of a `with` block; `megabytes` is None where that cannot be done."""

    megabytes: float | None = None
    _before: int | None = None

    def __enter__(self) -> Self:
        _hand_back()
        with suppress(OSError):  # another system, or one that forbids it: then it is not measured
            MARK.write_text(RESET)
            self._before = _kilobytes("VmRSS")
        return self

    def __exit__(self, *_problem: object) -> None:
        if self._before is not None:
            taken = _kilobytes("VmHWM") - self._before
            self.megabytes = round(max(taken, 0) / 1024, 1)


def _kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(name)
    return int(found[1])


def _hand_back() -> None:
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)
