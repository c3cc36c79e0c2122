"""Java, where it is installed, and one Spark session for all tests of a process."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import textwrap
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from shoal import Spark

REQUIRED = "SHOAL_REQUIRE_JAVA"
MASTER = "SHOAL_SPARK_MASTER"
FAULTY = Path(tempfile.gettempdir()) / f"shoal-faulty-{os.getpid()}"
SITE = '''
    """Wrap what Shoal's workers do: it fails where and as often as files beside this say."""

    import importlib.abc
    import importlib.machinery
    import os
    import signal
    import sys
    from pathlib import Path

    PLACE = Path(__file__).parent
    WHERE = {
        "shoal.engines.spark.shard": ["_search"],
        "shoal.engines.spark.reading": ["_copy", "write_parquet"],
        "shoal.engines.spark.scattering": ["digest_of"],
        "shoal.engines.spark.engine": ["audit_slice"],
    }


    def fails():
        for path in PLACE.glob("times-*"):
            try:
                path.unlink()  # whoever removes it is the one who fails
            except FileNotFoundError:
                continue
            return True
        return False


    def fault(kind):
        if kind == "raises":
            raise RuntimeError("a cell of somebody")
        if kind == "full":
            raise OSError(28, "No space left on device")
        if kind == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        above = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(above, signal.SIGKILL)  # what started the daemon that this worker is a child of


    def wrapped(module, name, before):
        def instead(*args, **kwargs):
            done = before(*args, **kwargs)
            where, which, kind = (PLACE / "fault").read_text().split()
            if (where, which) == (module, name) and fails():
                fault(kind)
            return done

        return instead


    class Wrapping(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path, target=None):
            if name not in WHERE:
                return None
            known = importlib.machinery.PathFinder.find_spec(name, path)
            made = importlib.machinery.ModuleSpec
            return made(name, self, origin=known.origin, loader_state=known)

        def exec_module(self, module):
            module.__spec__.loader_state.loader.exec_module(module)
            for name in WHERE[module.__name__]:
                setattr(module, name, wrapped(module.__name__, name, getattr(module, name)))


    if "pyspark.daemon" in " ".join(sys.orig_argv):
        sys.meta_path.insert(0, Wrapping())
'''


def binary() -> str | None:
    """Return where Java is, None where it or Spark is not installed."""
    return shutil.which("java") if find_spec("pyspark") else None


def faulty(place: Path) -> Path:
    """Make a place that workers who have it on their path look at before they fail."""
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(textwrap.dedent(SITE))
    fail(place, "", 0)
    return place


def fail(place: Path, fault: str, times: int) -> None:
    """Have a function of workers fail so often: its module, its name, and how."""
    for one in left(place):
        one.unlink(missing_ok=True)
    (place / "fault").write_text(fault or "- - -")
    for turn in range(times):
        (place / f"times-{turn}").touch()


def left(place: Path) -> list[Path]:
    """Return one file for every time that nothing has failed yet."""
    return list(place.glob("times-*"))


@cache
def session() -> Any:
    """Return a session of two cores on this machine, or on the master that tests are to run on.

    Its workers fail as `FAULTY` says, and what it keeps on disk lies where no other process looks.
    """
    import shoal
    from shoal.engines.spark.session import session_of

    atexit.register(shutil.rmtree, faulty(FAULTY), ignore_errors=True)
    path = os.pathsep.join(filter(None, [str(FAULTY), os.environ.get("PYTHONPATH")]))
    kept = FAULTY / "kept"
    kept.mkdir(exist_ok=True)
    with patch.dict(os.environ, {"PYTHONPATH": path, "SPARK_LOCAL_DIRS": str(kept)}):
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
