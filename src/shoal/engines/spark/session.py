"""The session that work on Spark is done in, and what goes wrong there as a sentence.

A session that somebody else started is used as it is and left running. One that is started here is
silent: what its machines have to say is said by the error that is raised.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.errors import OutputError, ShoalError, UsageError
from shoal.platforms import STOPS
from shoal.release.staging import OWNER, beside, claim, clear_leftovers, undisturbed
from shoal.table.files import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from shoal.engines.spark.engine import Spark

NAME = "shoal"
LOCAL = re.compile(r"local\[(\d+|\*)\]")  # a master that would not try a lost task again
ALONE = re.compile(r"local(\[.*\])?")  # a master that makes a secret for its own processes
TRIES = 4
CAUSE = re.compile(r"(?:Caused by: )?([\w.$]+(?:Error|Exception))(?:: (.*))?")
FULL = "No space left on device"
PANDAS = "PySpark does not yet fully support pandas"
# Java moves bytes here and seldom counts, so what it would compile for long runs never pays, nor do
# threads that clear up beside it: half of the processor time of a start, and no more for a row.
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PATIENCE = 10.0  # seconds that tasks have to end when they are told to


# Its ports can be reached by everybody on the machine. They answer whoever knows a secret, which
# Java makes and tells nobody.
_AMONG_ITSELF = {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}


class SparkFailed(OutputError):
    """Spark could not finish the work, and nothing was published."""


def session_of(engine: Spark) -> SparkSession:
    """Return the session of an engine, started where there is none."""
    load("pyspark", extra="spark", what="The engine Spark")
    logging.getLogger().addFilter(_worth_logging)
    if engine.session is not None:
        return engine.session
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        master = running.sparkContext.master
        if engine.master is not None and master != _retrying(engine.master):
            msg = (
                f"A Spark session is already running, on {master!r}. Pass it on as "
                f"Spark(session), or stop it first. Got master={engine.master!r}."
            )
            raise UsageError(msg)
        return running
    return _start(engine)


def _start(engine: Spark) -> SparkSession:
    from pyspark.accumulators import AccumulatorTCPServer
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    settings, private = _settings(engine), []
    if settings["spark.master"].startswith("local"):
        # Workers would take whichever python3 comes first; Spark looks here, not at its settings.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        private = _private_places()
        settings["spark.driver.defaultJavaOptions"] += f' "-Djava.io.tmpdir={private[0]}"'
    builder = SparkSession.builder.appName(NAME)
    for key, value in settings.items():
        builder = builder.config(key, value)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # It prints a traceback when Java is gone.
    setattr(AccumulatorTCPServer, "handle_error", _unheard)  # noqa: B010 - a method
    with _heard_later(), _quiet(), _kept_in(private):
        try:
            return _cleared_by_java(builder.getOrCreate(), private)
        except (PySparkException, OSError) as problem:
            msg = (
                f"Spark could not be started ({type(problem).__name__}). It needs Java 17 "
                "(Debian: openjdk-17-jre-headless) and the address of a master that it can reach."
            )
            raise UsageError(msg) from None
        except Exception as problem:  # noqa: BLE001 - what Java raises has a class of its own
            raise _failed(problem) from None


def _private_places() -> list[Path]:
    """Make places that only their owner can enter, for rows that Spark keeps on this machine.

    Each lies where it would lie otherwise, and is locked for as long as this process lives: should
    Java be killed, the next run finds it.
    """
    places = []
    for root in os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(","):
        above = Path(root.strip()).absolute()
        try:
            clear_leftovers(above)
            place = _claimed(above)
        except OSError as problem:
            msg = (
                f"Spark cannot keep its files in {root!r}: {problem.strerror}. Name a directory "
                "for them in the environment: SPARK_LOCAL_DIRS=/data/spark."
            )
            raise UsageError(msg) from None
        places.append(place)
    return places


def _claimed(above: Path) -> Path:
    """Make and lock a place; another run may take it for a leftover before it is locked."""
    while True:
        place = beside(above / NAME)
        place.mkdir(OWNER)
        if claim(place) is not None or place.exists():
            return place


@contextmanager
def _kept_in(places: list[Path]) -> Iterator[None]:
    """Let a Java that starts here keep rows in private places, which no later one shall lie in.

    Java removes them with all that they hold when it ends.
    """
    if not places:
        yield
        return
    known = os.environ.get("SPARK_LOCAL_DIRS")
    os.environ["SPARK_LOCAL_DIRS"] = ",".join(map(str, places))
    try:
        yield
    finally:
        if known is None:
            del os.environ["SPARK_LOCAL_DIRS"]
        else:
            os.environ["SPARK_LOCAL_DIRS"] = known


def _cleared_by_java(session: SparkSession, private: list[Path]) -> SparkSession:
    """Let Java remove the private places when it ends, which it does after this process."""
    java: Any = session.sparkContext._jvm  # noqa: SLF001 - there is no other way to Java
    for place in private:
        java.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(
            java.java.io.File(str(place))
        )
    return session


def _settings(engine: Spark) -> dict[str, str]:
    """Return how a session is started; a machine of a cluster finds its own Python."""
    master = _retrying(engine.master or "local[*]")
    here = master.startswith("local")
    source = str(Path(shoal.__file__).parents[1])
    known = os.environ.get("PYTHONPATH", "")
    threads = str(engine.threads)
    settings = {
        "spark.master": master,
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": engine.memory,
        "spark.executor.memory": engine.memory,
        "spark.io.encryption.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
        "spark.sql.parquet.enableVectorizedReader": "true",
        "spark.python.worker.faulthandler.enabled": "false",
        "spark.python.task.killTimeout": "200ms",  # of a worker whose task is not wanted any more
        "spark.executorEnv.POLARS_MAX_THREADS": threads,
        "spark.executorEnv.OMP_NUM_THREADS": threads,
        "spark.executorEnv.PYTHONWARNINGS": "ignore",
    }
    if ALONE.fullmatch(master):
        settings |= _AMONG_ITSELF
    if here:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, [source, known])),
            "spark.driver.defaultJavaOptions": LIGHT,
            "spark.executor.defaultJavaOptions": LIGHT,
        }
    return settings


def _retrying(master: str) -> str:
    """Return a master on this machine that tries a lost task again, as a cluster does."""
    found = LOCAL.fullmatch(master)
    return master if found is None else f"local[{found[1]},{TRIES}]"


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Java, which keeps what it is given here, write nowhere."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for place, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, place)
            os.close(descriptor)
        os.close(nowhere)


@contextmanager
def _heard_later() -> Iterator[None]:
    """Let whoever asks the process to stop be heard after Java has started, and not by Spark.

    A Java that is just starting would stay behind for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    kept = {stop: signal.getsignal(stop) for stop in STOPS}
    for stop, handler in kept.items():
        if callable(handler):
            signal.signal(stop, lambda number, _frame: asked.append(number))
    try:
        yield
    finally:
        for stop, handler in kept.items():
            signal.signal(stop, handler)
    if asked:
        signal.raise_signal(asked[0])


def _worth_logging(record: logging.LogRecord) -> bool:
    """Return whether a record is none of py4j's about an interrupt, which is raised anyway."""
    problem = record.exc_info[0] if record.exc_info else None
    return not (
        problem is not None
        and issubclass(problem, KeyboardInterrupt)
        and "py4j" in Path(record.pathname).parts
    )


def _unheard(*_told: object) -> None:
    """Say nothing."""


@contextmanager
def tagged(session: SparkSession, tag: str) -> Iterator[None]:
    """Run jobs under a tag; whatever ends them early waits until no worker may still write.

    An interrupt may be lost in py4j and come out as an error of Spark's, so all are alike here.
    """
    from py4j.protocol import Py4JError

    context = session.sparkContext
    context.addJobTag(tag)
    try:
        yield
    except BaseException:
        with undisturbed(), suppress(Py4JError, OSError):  # where Java is gone, so are its jobs
            context.cancelJobsWithTag(tag)
            tracker, end = context.statusTracker(), time.monotonic() + PATIENCE
            while time.monotonic() < end and (
                tracker.getActiveJobsIds()
                or any(one.numRunningTasks for one in tracker.getExecutorInfos())
            ):
                time.sleep(0.05)
        raise
    finally:
        with suppress(Py4JError, OSError):
            context.removeJobTag(tag)


@contextmanager
def on_spark() -> Iterator[None]:
    """Raise what goes wrong on Spark as a sentence, without a stack of Java lines."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=PANDAS)
        try:
            yield
        except ShoalError:
            raise
        except Exception as problem:
            if not _of_spark(problem):
                raise
            if _interrupted(problem):
                raise KeyboardInterrupt from None
            raise _failed(problem) from None


def _of_spark(problem: Exception) -> bool:
    """Return whether Spark, or the way to its Java, is what failed."""
    foreign = type(problem).__module__.startswith(("pyspark", "py4j"))
    return foreign or isinstance(problem, ConnectionError)


def _interrupted(problem: BaseException | None) -> bool:
    """Return whether something came of an interrupt, which py4j may lose on its way."""
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__context__
    return problem is not None


def _failed(problem: Any) -> SparkFailed:
    """Return the last cause of what went wrong; its text may hold cells, so little is told."""
    text = str(problem)
    if FULL in text:
        return SparkFailed(f"Spark could not finish: {FULL.lower()} on one of its machines.")
    causes = [found[1] for found in CAUSE.finditer(text)]
    cause = (causes or [type(problem).__name__])[-1].rpartition(".")[2]
    return SparkFailed(
        f"Spark could not finish the work, so Shoal published nothing ({cause}). The logs of "
        "Spark have the details."
    )
