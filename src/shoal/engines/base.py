"""What every engine is: a place where the work of a run is done, in shards.

This machine has the rows and gives back groups (`Local.solve`); Spark has files and gives back
files (`Spark.domains`, `shards`, `search`, `recode`, `measure`). Refusals, remarks and the report
are made outside of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeGuard

from shoal.errors import UsageError
from shoal.notation import Term

if TYPE_CHECKING:
    from shoal.engines.spark.engine import Spark


class Engine(Term):
    """A place where the work of a run is done."""

    role = "engine"
    spreads: ClassVar[bool] = False  # whether over workers that see files, and not here


def is_spark(engine: Engine) -> TypeGuard[Spark]:
    """Return whether Spark does the work; nothing of it is loaded to ask."""
    return engine.spreads


def engine_of(engine: Engine | str | None) -> Engine:
    """Return the engine asked for, in Python or in the notation: this machine, if none is."""
    if engine is None:
        from shoal.engines.local import Local

        return Local()
    chosen = Engine.read(engine) if isinstance(engine, str) else engine
    if not isinstance(chosen, Engine):
        msg = f"{chosen!r} is not an engine. Engines are Local() and Spark()."
        raise UsageError(msg)
    return chosen
