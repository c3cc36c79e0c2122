"""Charts take the width that a page has, and are drawn anew where it has little."""

import re

import pytest

from shoal.exact import percent
from shoal.views.charts.attack import vulnerability_chart
from shoal.views.charts.comparison import comparison_chart, tuning_chart
from shoal.views.tables import Measure

COLUMN, PHONE = 969, 400  # pixels of a page's column on a wide screen, and of a phone
FRONTIER = {
    "parameter": "epsilon",
    "asked": 2,
    "knee": {"value": 2},
    "points": [{"value": v, "loss": v / 10} for v in (1, 2, 3)] + [{"value": 4, "loss": None}],
}
GRID = [
    {"epsilon": float(e), "delta": d, "share": min(1.0, e * d / 20)}
    for e in (0, 10, 20)
    for d in (0.1, 0.5, 0.9)
]
METHODS = ["Exchange()", "Split(partition='round-robin')"]
CHARTS = {
    "attack": lambda: vulnerability_chart(GRID),
    "compare": lambda: comparison_chart(METHODS, [Measure("GCP", "lost", percent, [0.1, 0.2])]),
    "tune": lambda: tuning_chart(FRONTIER),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_fills_a_screen_and_stays_readable_on_a_phone(name: str) -> None:
    drawn = CHARTS[name]()
    broad, slim = drawn.split('<div class="slim" hidden>')
    assert broad.startswith('<div class="broad">')
    wide, narrow = (
        float(re.findall(r'<svg [^>]*?width="([0-9.]+)"', one)[0]) for one in (broad, slim)
    )
    assert 0.8 * COLUMN <= wide <= COLUMN
    assert PHONE / narrow >= 0.7  # letters of 13 pixels are shrunk to no fewer than nine
