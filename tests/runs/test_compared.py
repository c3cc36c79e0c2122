"""Why points of a frontier were not reached: said once, of the one next to those that were."""

import pytest

from shoal.views.tables import reasons


def facts(reached):
    points = [
        {"value": place + 2, "problem": None if one else f"why {place + 2} fails"}
        for place, one in enumerate(reached)
    ]
    return {"parameter": "m", "points": points}


@pytest.mark.parametrize(
    ("reached", "said"),
    [
        ([True, True], []),
        ([True, False], ["m = 3: why 3 fails"]),
        ([True, False, False, False], ["m = 3: why 3 fails", "m = 4, 5: not achieved either."]),
        ([False, False, True], ["m = 3: why 3 fails", "m = 2: not achieved either."]),
        ([False, False], ["m = 2: why 2 fails", "m = 3: not achieved either."]),
    ],
)
def test_reasons(reached, said):
    assert reasons(facts(reached)) == said
