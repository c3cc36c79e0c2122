"""The examples run as they are, on fewer rows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_why_proximity_shows_that_only_proximity_principles_stop_a_near_guess(tmp_path):
    page = tmp_path / "why.html"
    script = EXAMPLES / "why_proximity.py"
    done = subprocess.run(
        [sys.executable, script, "--rows", "2000", "--output", page],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        cwd=tmp_path,
    )
    assert "Perturbation keeps EpsilonM" in done.stdout
    assert "Charts: why.html" in done.stdout
    html = page.read_text("utf-8")
    assert html.count("<svg ") == 2 * 3  # for a screen and for a phone
    assert "<script" not in html
    assert not re.search(r"(src|href)=.http", html)
    cells = [
        row.split("<td>")[1:] for row in re.findall(r"<tr>(<td>[^\n]*?)(?=<tr>|</table>)", html)
    ]
    breaches = {row[0].partition("(")[0]: float(row[4].rstrip("%")) for row in cells}
    assert {name for name, share in breaches.items() if share == 0} == {"Dissimilarity", "EpsilonM"}
    assert set(breaches) > {"DistinctL", "KE", "Variance", "TCloseness"}
    assert all(breaches[name] > 10 for name in ("DistinctL", "KE", "Variance", "TCloseness"))
