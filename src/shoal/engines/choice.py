"""The engine that was asked for."""

from __future__ import annotations

from shoal.engines.base import Engine
from shoal.engines.local import Local
from shoal.errors import UsageError


def engine_of(engine: Engine | str | None) -> Engine:
    """Return the engine asked for, in Python or in the notation: this machine, if none is."""
    chosen = Engine.read(engine) if isinstance(engine, str) else engine or Local()
    if not isinstance(chosen, Engine):
        msg = f"{chosen!r} is not an engine, as Local() or Spark() are."
        raise UsageError(msg)
    return chosen


def choose_engine(engine: Engine | str | None) -> Local:
    """Return the engine asked for, which has to work on a table in memory."""
    chosen = engine_of(engine)
    if not isinstance(chosen, Local):
        msg = f"{chosen!r} is not an engine that works on a table in memory."
        raise UsageError(msg)
    return chosen
