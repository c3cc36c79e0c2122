"""What is measured of a requirement is shown beside what it allows, as chances where they are."""

from __future__ import annotations

from shoal.views.sentences import risk_and_bound


def test_chances_are_in_per_cent_and_other_measures_numbers():
    chance = {"principle": "KAnonymity(k=3)", "risk": 0.5, "bound": 1 / 3}
    assert risk_and_bound(chance) == ("50%", "1 in 3 (33.3%)")
    distance = {"principle": "TCloseness(t=0.2)", "risk": 0.375, "bound": 0.2}
    assert risk_and_bound(distance) == ("0.375", "0.2")
