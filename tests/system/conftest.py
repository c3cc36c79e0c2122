"""Tables and places that every system test may use."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from system.shell import Row, people, write_csv


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Load compiled code first, so that no test meets the remark that it is being compiled."""
    from shoal.kernels import load_all

    load_all()


@pytest.fixture(scope="session")
def rows() -> list[Row]:
    return people()


@pytest.fixture
def table(tmp_path: Path, rows: list[Row]) -> Path:
    """Return an input table, in a directory where nothing is ever written by the command."""
    (tmp_path / "input").mkdir()
    return write_csv(tmp_path / "input" / "xyzzy-plugh.csv", rows)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the directory in which a release is to appear."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all releases one id, so that their files can be compared."""
    ids = SimpleNamespace(token_hex=lambda _: "0" * 32)
    monkeypatch.setattr("shoal.release.statement.secrets", ids)
