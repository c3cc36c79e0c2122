"""How every chart looks, and how a specification becomes SVG."""

from __future__ import annotations

import re
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from markupsafe import Markup

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: told apart by colour-blind readers
GREY = "#808080"  # readable on white and on black; a page of ours puts its own ink in its place
PALETTE = ["#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#0072B2"]  # the same source
# A picture is drawn for a screen and for a phone, so that neither shrinks its letters; the page
# shows the one that fits, and where nobody styles it the first.
WIDTHS = {'class="broad"': 860, 'class="slim" hidden': 460}
CONFIG = {
    "background": None,
    "font": "sans-serif",
    "aria": False,  # no words for every mark: the picture as a whole has some
    "view": {"stroke": None},
    "text": {"fontSize": 13},
    "axis": {
        "labelColor": GREY,
        "titleColor": GREY,
        "gridColor": "#80808033",
        "domainColor": GREY,
        "tickColor": GREY,
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titleLimit": 300,
    },
    "legend": {
        "labelColor": GREY,
        "titleColor": GREY,
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "orient": "top",
    },
}


def warm_up() -> None:
    """Start the drawing engine in the background: its first picture takes most of a second."""
    Thread(target=draw, args=({"data": {"values": []}, "mark": "bar"},), daemon=True).start()


def _printable(part: Any) -> Any:
    """Return a specification without characters that have no picture: some abort the process."""
    if isinstance(part, str):
        return part if part.isprintable() else "".join(map(_shown, part))
    if isinstance(part, dict):
        return {_printable(key): _printable(value) for key, value in part.items()}
    return [_printable(one) for one in part] if isinstance(part, list) else part


def _shown(letter: str) -> str:
    return letter if letter.isprintable() else " " if letter.isspace() else "\ufffd"


LABELS = 240  # of the width, for the names beside a facet's parts
MARGIN = {"left": 30, "right": 5, "top": 5, "bottom": 5}  # a browser's letters may be wider
UNTOLD = "This picture shows the numbers of the text or table beside it."


def draw(spec: dict[str, Any], *, height: int = 220, says: str = UNTOLD) -> str:
    """Return a specification as SVG text, for a wide page and for a narrow one.

    The parts of a facet take what their labels leave of the width. `says` is read aloud to those
    who do not see the picture.
    """
    return "".join(
        f"<div {said}>{picture(spec, width, height, says)}</div>" for said, width in WIDTHS.items()
    )


def picture(
    spec: dict[str, Any], width: int | None = None, height: int = 220, says: str = UNTOLD
) -> str:
    """Return a specification as one SVG element, which is also a whole file.

    Without a width the parts of a facet have their own, and anything else is narrow.
    """
    import vl_convert
    from markupsafe import escape

    size: dict[str, Any] = {"width": width or min(WIDTHS.values()), "height": height}
    if "facet" in spec:
        size = (
            {"spec": spec["spec"] | {"width": width - LABELS}, "padding": MARGIN} if width else {}
        )
    whole = {"config": CONFIG} | _printable(spec) | size
    svg = vl_convert.vegalite_to_svg(whole)
    svg = re.sub(r"gradient_\d+", "gradient", svg)  # numbered anew with every picture of a process
    svg = re.sub(r' (?:role="graphics-\w+"|aria-roledescription="[^"]*")', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(says)}" ', 1)


def drawn(chart: Callable[..., str], *values: Any, **options: Any) -> Markup:
    """Draw a chart for a page; where that fails, a sentence stands in its place.

    No picture may cost a release: whatever goes wrong in drawing, all that is lost is the picture.
    """
    from markupsafe import Markup

    try:
        return Markup(chart(*values, **options))  # noqa: S704 - drawn here, labels escaped
    except Exception as problem:  # noqa: BLE001 - the drawing engine raises what it likes
        return Markup("<p>This picture could not be drawn ({}).</p>").format(type(problem).__name__)
