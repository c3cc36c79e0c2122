"""How far something is, shown in a notebook while it takes longer than a moment."""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from shoal.exact import percent
from shoal.views.whole import WORDS, Whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.progress import Progress

PATIENCE = 1.0  # seconds that something may take before a bar is drawn
EVERY = 0.25  # seconds between two pictures of it


@contextmanager
def cell_bar() -> Iterator[Progress]:
    """Give what draws a bar below a cell; it is gone at the end."""
    display = import_module("IPython.display")
    whole, begun = Whole(), time.monotonic()
    shown, last = None, begun

    def report(phase: str, share: float) -> None:
        nonlocal shown, last
        done, now = whole.share(phase, share), time.monotonic()
        if now - begun < PATIENCE or (shown is not None and now - last < EVERY):
            return
        last = now
        page = display.HTML(
            f'<progress max="1" value="{done:.3f}"></progress> {percent(done)} '
            f"{WORDS.get(phase, phase)}"
        )
        if shown is None:
            shown = display.display(page, display_id=True)
        else:
            shown.update(page)

    try:
        yield report
    finally:
        if shown is not None:
            shown.update(display.HTML(""))
