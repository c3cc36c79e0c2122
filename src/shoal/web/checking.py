"""Step 5: check, attack, compare and tune; what the commands print, as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import Route

ROUTES: list[Route] = []
