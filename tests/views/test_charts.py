"""Pictures of what people really write into tables."""

import re

from shoal.audit.compared import FINDING, INFERENCE, LINKING, Compared, Rate
from shoal.views.charts import attack
from shoal.views.pages import draw


def test_characters_without_a_picture_do_not_end_the_process():
    # The drawing engine aborts on characters that no font has, and takes the release with it.
    label = "\x05\xba\U0008abff!\xcb"
    values = [{"place": label, "rows": 1}, {"place": "two\nlines", "rows": 2}]
    svg = draw(
        {
            "data": {"values": values},
            "mark": "bar",
            "encoding": {
                "x": {"field": "place", "type": "ordinal", "sort": [label]},
                "y": {"field": "rows", "type": "quantitative"},
            },
        }
    )
    assert "\U0008abff" not in svg
    assert "two lines" in svg


def test_members_and_controls_stand_beside_one_another_with_their_intervals(monkeypatch):
    compared = [
        Compared("r", LINKING, Rate(0.3, 500), Rate(0.1, 600), sets=(["age"], ["zip"])),
        Compared("r", INFERENCE, Rate(0.5, 500), Rate(0.4, 600), column="pay", epsilon=2000),
        Compared("r", FINDING, Rate(0.2, 500)),  # which controls cannot suffer
    ]
    entries = [one.to_dict() for one in compared]
    drawn = attack.controlled_chart(entries)
    for marks in ("rule", "symbol"):  # of two of each, but for finding
        broad, narrow = re.findall(rf'<g class="mark-{marks} role-mark[^>]*>(.*?)</g>', drawn)
        own = "<line" if marks == "rule" else "<path"
        assert broad.count(own) == narrow.count(own) == 5
    for words in ("linking", "inference: pay to within 2,000", "finding", "people in the table"):
        assert words in drawn
    asked: list[dict] = []

    def keep(told: dict, **_: object) -> str:
        asked.append(told)
        return ""

    monkeypatch.setattr(attack, "draw", keep)
    attack.controlled_chart(entries)
    (told,) = asked
    members, controls = "people in the table", "people who are not in it"
    expected = [
        (one["title"], who, one[side]["share"], one[side]["low"], one[side]["high"])
        for one in entries
        for side, who in (("members", members), ("controls", controls))
        if one[side] is not None
    ]
    names = ("attack", "who", "share", "low", "high")
    values = [tuple(one[name] for name in names) for one in told["data"]["values"]]
    assert values == expected
    interval, point = told["layer"]
    assert (interval["mark"]["type"], point["mark"]["type"]) == ("rule", "point")
    assert [interval["encoding"][end]["field"] for end in ("x", "x2")] == ["low", "high"]
    assert point["encoding"]["x"]["field"] == "share"
    assert told["encoding"]["color"]["scale"]["domain"] == [members, controls]
