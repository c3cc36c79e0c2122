"""One Hypothesis profile for all property tests, and what becomes of tests that need a program."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import amount
import chance
import chromium
import jvm
import postgres
import rscript

# Machines are noisy, so that nothing is said of time. What is drawn follows from the code and the
# name of each test, so that a run fails for what was changed and not for what it happened to draw;
# `pytest --hypothesis-profile explore` draws anew, and more.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("shoal", UNHURRIED, derandomize=True, max_examples=amount.examples(60))
settings.register_profile("explore", UNHURRIED, max_examples=1000)
settings.load_profile("shoal")

PROGRAMS = {
    "postgresql": (
        postgres.binaries,
        postgres.REQUIRED,
        "the tests of PostgreSQL, because no server is installed here (initdb and postgres; "
        f"{postgres.REQUIRED}=1 demands them).",
    ),
    "r": (
        rscript.binary,
        rscript.REQUIRED,
        "the tests with R, because it is not installed here (Rscript; "
        f"{rscript.REQUIRED}=1 demands them).",
    ),
    "mice": (
        rscript.pooling,
        rscript.REQUIRED_POOLING,
        "the tests that pool in R, because mice, mitools or survey is not installed here "
        f"(r-cran-mice and so on; {rscript.REQUIRED_POOLING}=1 demands them).",
    ),
    "spark": (
        jvm.binary,
        jvm.REQUIRED,
        f"the tests on Spark, because Java is not installed here (java; {jvm.REQUIRED}=1 demands "
        "them).",
    ),
    "browser": (
        chromium.binary,
        chromium.REQUIRED,
        "the tests in a browser, because Chromium is not installed here (chromium; "
        f"{chromium.REQUIRED}=1 demands them).",
    ),
}


def pytest_configure(config: pytest.Config) -> None:
    """Have all chance follow from the names of tests, unless others are to be drawn.

    Nothing waits for a disk: what tests write need not outlive the machine.
    """
    setattr(os, "fsync", lambda _: None)  # noqa: B010 - as a test's patch, for all of them
    if config.getoption("hypothesis_profile", None) != "explore":
        chance.foresee()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the chance of a test."""
    chance.STREAM.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Give what several tests share a chance of its own: any of them may be the first."""
    if fixturedef.scope == "function":
        return (yield)
    which = request.param_index  # type: ignore[attr-defined]
    with chance.STREAM.apart(f"{fixturedef.baseid} {fixturedef.argname} {which}"):
        return (yield)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes after what they are given as: their own may hold the time at which they were made.

    Where several processes share the tests, every one of them must find the same names.
    """
    return argname if isinstance(val, bytes) else None


def _lacking() -> list[str]:
    """Return the marks of tests whose program is neither there nor demanded."""
    return [
        mark
        for mark, (found, required, _) in PROGRAMS.items()
        if found() is None and not os.environ.get(required)
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what only `make test-long` runs; leave out tests whose program is not installed."""
    for item in items:
        if item.get_closest_marker("spark"):  # whose encrypted streams leave sockets to Python
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
    amount.mark_the_rest(items)
    lacking = _lacking()
    left_out = [item for item in items if any(map(item.get_closest_marker, lacking))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so when something was left out."""
    for mark in _lacking():
        terminalreporter.write_line(f"Left out: {PROGRAMS[mark][2]}")
