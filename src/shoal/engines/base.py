"""What every engine can do: the five verbs that the way of the data is made of.

`domains` says what columns can hold, `shards` parts a table, `search` finds the groups of one
shard, `recode` turns what was found into a release, and `measure` judges the groups of one shard;
what shards measure adds up to what is said of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from shoal.notation import Term

if TYPE_CHECKING:
    from shoal.engines.spark.engine import Spark


class Engine(Term):
    """A place where the work of a run is done."""

    role = "engine"
    spreads: ClassVar[bool] = False  # whether over workers that see files, and not here

    def domains(self, *what: Any, **how: Any) -> Any:
        """Return what the columns of a table hold, and its rows as ranks over that."""
        raise NotImplementedError

    def shards(self, *what: Any, **how: Any) -> Any:
        """Return the rows of each shard; rows that must not be mixed are in different ones."""
        raise NotImplementedError

    def search(self, *what: Any, **how: Any) -> Any:
        """Find the groups of one shard, leaving out at most so many rows."""
        raise NotImplementedError

    def recode(self, *what: Any, **how: Any) -> Any:
        """Turn what was found into a release."""
        raise NotImplementedError

    def measure(self, *what: Any, **how: Any) -> Any:
        """Measure every requirement in the groups of one shard."""
        raise NotImplementedError


def is_spark(engine: Engine) -> TypeGuard[Spark]:
    """Return whether Spark does the work; nothing of it is loaded to ask."""
    return engine.spreads
