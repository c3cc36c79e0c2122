"""Java, where it is installed, and one Spark session for all tests of a process."""

from __future__ import annotations

import os
import shutil
import warnings
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import Spark

REQUIRED = "SHOAL_REQUIRE_JAVA"
MASTER = "SHOAL_SPARK_MASTER"


def binary() -> str | None:
    """Return where Java is, None where it or Spark is not installed."""
    return shutil.which("java") if find_spec("pyspark") else None


@cache
def session() -> Any:
    """Return a session of two cores on this machine, or on the master that tests are to run on."""
    import shoal
    from shoal.engines.spark.session import session_of

    return session_of(shoal.Spark(master=os.environ.get(MASTER, "local[2]"), memory="1g"))


def engine(shard: int = 500_000) -> Spark:
    """Return the engine that tests work on."""
    import shoal

    return shoal.Spark(session(), shard=shard)


def frame(table: Any) -> Any:
    """Return a Polars table as a frame of Spark."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet")
        return session().createDataFrame(table.to_arrow())
