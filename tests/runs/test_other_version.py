"""A report whose version is said to be another passes no audit in silence."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal
from forged import reported
from system.shell import shoal as command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def released(tmp_path: Path) -> Path:
    table = pl.DataFrame({"age": [n % 20 for n in range(60)], "pay": [100 * n for n in range(60)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    shoal.anonymize(table, schema, require="EpsilonM(epsilon=150, m=3)").write(tmp_path / "out")
    return tmp_path / "out"


def says_version(directory: Path, version: str) -> None:
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"shoal": version}), "utf-8")
    reported(directory)


def forge(directory: Path, old: str, new: str) -> None:
    """Change the page, and let the manifest say that it was published so."""
    page = (directory / "report.html").read_text("utf-8")
    assert old in page
    page = page.replace(old, new)
    (directory / "report.html").write_text(page, "utf-8")
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["digests"]["report.html"] = f"sha256:{hashlib.sha256(page.encode()).hexdigest()}"
    path.write_text(json.dumps(manifest), "utf-8")


@pytest.mark.parametrize("version", [shoal.__version__, "0.1.9", "0.2.99", "9.9.9"])
def test_the_page_that_this_version_makes_is_compared_whatever_version_is_named(
    released: Path, version: str
) -> None:
    says_version(released, version)
    found = shoal.audit(released)
    assert found.holds
    assert found.report == shoal.audit(released).report
    assert found.to_dict()["report"] == {"text": "compared", "because": None}


@pytest.mark.parametrize("version", [shoal.__version__, "0.1.9", "0.0", "0.2.99", "9.9.9"])
def test_text_that_was_changed_is_never_passed_over(released: Path, version: str) -> None:
    says_version(released, version)
    forge(released, "</h1>", "</h1><p>Nobody can be found.</p>")
    done = command("audit", released)
    told = command("audit", released, "--json", "--quiet").json()
    if version.startswith(("0.2.99", "9.")):  # which may have written it
        assert done.code == 0
        assert told["report"]["text"] == "not compared"
        first = " ".join(done.out.split()).split("Measured")[0]
        assert "was NOT compared" in first
        sheet = released.parent / "sheet.html"
        assert command("certificate", released, sheet).code == 0
        assert "was NOT compared" in sheet.read_text("utf-8")
        together = command("audit", released, released)
        assert "was NOT compared" in " ".join(together.out.split())
    else:
        assert done.code == 1
        assert any("report.html" in one for one in told["problems"])
        assert command("audit", released, released).code == 1


@pytest.mark.parametrize("facts", ["{}", "[]", '{"release": {}}'])
def test_facts_that_are_left_out_are_missed_in_any_version(released: Path, facts: str) -> None:
    says_version(released, "9.9.9")
    page = (released / "report.html").read_text("utf-8")
    start = page.index('id="facts">') + len('id="facts">')
    end = page.index("</script>", start)
    forge(released, page[start:end], facts)
    assert not shoal.audit(released).holds
