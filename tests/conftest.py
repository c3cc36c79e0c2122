"""One Hypothesis profile for all property tests, and what becomes of tests that need a server."""

import os

import pytest
from hypothesis import settings

import postgres

settings.register_profile("shoal", deadline=None, max_examples=150)  # machines are noisy
settings.load_profile("shoal")


def _without_server() -> bool:
    return postgres.binaries() is None and not os.environ.get(postgres.REQUIRED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of PostgreSQL where it is not installed, unless it is required."""
    if not _without_server():
        return
    left_out = [item for item in items if item.get_closest_marker("postgresql")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say so when something was left out."""
    if _without_server():
        terminalreporter.write_line(
            "Left out: the tests of PostgreSQL, because no server is installed here "
            f"(initdb and postgres; {postgres.REQUIRED}=1 demands them)."
        )
