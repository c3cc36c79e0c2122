"""The papers' experiments run on small tables, and the page about them follows from its numbers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "papers"
RESULTS = ROOT / "docs" / "results"
FIGURES = {
    "em-fig4": {"neighbourhood", "epsilon", "method", "mean", "median", "p95", "gcp"},
    "em-fig5": {"neighbourhood", "m", "w", "method", "mean", "gcp"},
    "em-fig6": {"neighbourhood", "s", "w", "method", "mean"},
    "em-fig7": {"along", "value", "method", "seconds", "lexsorts"},
    "xc-fig4": {"norm", "method", "epsilon", "delta", "share", "gcp"},
    "xc-fig5": {"along", "value", "qd", "method", "mean", "gcp"},
    "xc-fig6": {"along", "value", "size", "method", "seconds", "lexsorts"},
    "hk-gcp": {"along", "size", "k", "method", "gcp"},
    "hk-time": {"size", "k", "method", "seconds", "lexsorts"},
}


def run(script: str, output: Path, *options: str) -> str:
    """Run a script as a user would, without the tables of the benchmarks."""
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, "--output", output, *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        env=os.environ | {"SHOAL_DATA": "synthetic"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with every figure of a small table."""
    output = tmp_path_factory.mktemp("papers")
    run("all.py", output, "--rows", "320", "--queries", "10")
    return output


@pytest.mark.long
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_comes_with_its_numbers_its_picture_and_its_words(name, made):
    numbers = pl.read_csv(made / f"{name}.csv")
    assert FIGURES[name] <= set(numbers.columns)
    assert numbers["table"].unique().to_list() == ["embedded generator"]
    assert numbers["rows"].unique().to_list() == [320]
    assert numbers["method"].n_unique() > 1
    picture = ET.parse(made / f"{name}.svg").getroot()
    assert picture.tag.endswith("svg")
    drawn = " ".join(text.text or "" for text in picture.iter() if text.tag.endswith("text"))
    assert all(method.split(",")[0] in drawn for method in numbers["method"].unique())
    (section,) = re.findall(
        rf"^!\[[^\]]+\]\({name}\.svg\)\n(.*?)(?=^## |\Z)",
        (made / "papers.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert "**Agrees.**" in section or "**Differs.**" in section
    assert f"benchmarks/papers/{name.replace('-', '_')}.py --rows 320`" in section
    assert "nan" not in section.lower().split()


@pytest.mark.long
def test_a_figure_is_also_a_command_of_its_own_and_leaves_the_others_on_the_page(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    numbers = pl.read_csv(made / "em-fig7.csv").with_columns(rows=pl.lit(330))
    numbers.write_csv(tmp_path / "em-fig7.csv")
    said = run("em_fig7.py", tmp_path, "--redraw")
    assert "## EM, Figure 7" in said
    before, after = ((path / "papers.md").read_text("utf-8") for path in (made, tmp_path))
    headings = re.findall(r"^## .+$", before, re.MULTILINE)
    assert len(headings) == len(FIGURES)
    assert re.findall(r"^## .+$", after, re.MULTILINE) == headings
    assert after.count("--rows 330`") == 1
    assert after.count("--rows 320`") == len(FIGURES) - 1


def test_the_words_of_the_documentation_follow_from_the_numbers_beside_them(tmp_path):
    for name in FIGURES:
        shutil.copy(RESULTS / f"{name}.csv", tmp_path)
        assert (RESULTS / f"{name}.svg").exists()
    run("all.py", tmp_path, "--redraw")
    assert (tmp_path / "papers.md").read_text("utf-8") == (RESULTS / "papers.md").read_text("utf-8")
