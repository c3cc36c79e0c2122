"""Pictures of what people really write into tables."""

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
