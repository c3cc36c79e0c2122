"""Pages for owners, as HTML files that open offline, and how every picture on a page looks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from shoal.errors import OutputError, UsageError, option
from shoal.exact import at_least
from shoal.release.places import lies_in_release, write_whole
from shoal.views.sentences import risk_and_bound
from shoal.views.words import ATTACKS, FILTERS, draws, extent, usual, without_draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import BytecodeCache
    from markupsafe import Markup


def survey_page(facts: dict[str, Any]) -> str:
    """Return a survey as HTML."""
    from shoal.views.tables import level_name, level_value, sentences, worst

    found = facts["identification"]
    said = [worst(found["smallest_group"]), *sentences(found)]
    return render("survey.html", facts=facts, sentences=said, name=level_name, value=level_value)


COMPARED = 0.5  # the share of groups in breach whose lines are laid over one another


def attack_page(facts: dict[str, Any]) -> str:
    """Return an attack as HTML, the vulnerability of every release as a picture."""
    from shoal.views.charts.attack import (
        controlled_chart,
        shared_contour_chart,
        vulnerability_chart,
    )

    charts = [drawn(vulnerability_chart, one["grid"]) for one in facts["vulnerability"]]
    together: dict[str, dict[str, Any]] = {}
    for one in facts["vulnerability"]:
        if len({entry["epsilon"] for entry in one["grid"]}) > 1:
            together.setdefault(one["column"], {})[one["release"]] = one["grid"]
    compared = [
        (column, drawn(shared_contour_chart, grids, COMPARED))
        for column, grids in together.items()
        if len(grids) > 1
    ]
    releases: dict[str, list[dict[str, Any]]] = {}
    for one in facts["controlled"]:
        releases.setdefault(one["release"], []).append(one)
    controlled = [(name, drawn(controlled_chart, some)) for name, some in releases.items()]
    said = {"without_draw": without_draw, "draws": draws(facts), "attacks": ATTACKS}
    return render(
        "attack.html",
        facts=facts,
        charts=charts,
        compared=compared,
        controlled=controlled,
        share=COMPARED,
        **said,
    )


def comparison_page(facts: dict[str, Any]) -> str:
    """Return methods compared as HTML, with the picture."""
    return _compared("compare.html", facts)


def comparison_part(facts: dict[str, Any]) -> str:
    """Return the same as a piece of HTML, for notebooks."""
    return _compared("compared.html", facts)


def _compared(template: str, facts: dict[str, Any]) -> str:
    return render(template, **comparison_values(facts))


def comparison_values(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a comparison needs."""
    from shoal.views.charts.comparison import comparison_chart
    from shoal.views.tables import explained, failures, measures, winner

    shown = [one for one in measures(facts) if any(value is not None for value in one.values)]
    methods = [
        entry["method"] + (" (does not hold)" if entry["holds"] is False else "")
        for entry in facts["entries"]
    ]
    chart = drawn(comparison_chart, methods, shown) if shown else ""
    return {
        "facts": facts,
        "measures": shown,
        "failures": failures(facts),
        "winner": winner(facts),
        "notes": explained(facts),
        "chart": chart,
    }


def frontier_page(facts: dict[str, Any]) -> str:
    """Return loss against a parameter as HTML, with the picture."""
    return _frontier("tune.html", facts)


def frontier_part(facts: dict[str, Any]) -> str:
    """Return the same as a piece of HTML, for notebooks."""
    return _frontier("tuned.html", facts)


def _frontier(template: str, facts: dict[str, Any]) -> str:
    return render(template, **frontier_values(facts))


def frontier_values(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a frontier needs."""
    from shoal.views.charts.comparison import tuning_chart
    from shoal.views.tables import reasons

    reached = [point for point in facts["points"] if point["loss"] is not None]
    chart = drawn(tuning_chart, facts) if reached else ""
    return {"facts": facts, "reasons": reasons(facts), "chart": chart}


def render(template: str, **values: Any) -> str:
    """Fill a template; every value is escaped."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("shoal.views"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled(),
    )
    environment.filters |= FILTERS | {
        "at_least": at_least,
        "extent": extent,
        "risk_and_bound": risk_and_bound,
    }
    environment.tests["usual"] = usual
    return environment.get_template(template).render(**values)


def _compiled() -> BytecodeCache | None:
    """Return where templates are kept as they were compiled: beside them, as Python does."""
    from jinja2 import FileSystemBytecodeCache

    place = Path(__file__).parent / "templates" / "__pycache__"
    try:
        place.mkdir(exist_ok=True)
    except OSError:  # then they are compiled each time, as modules would be
        return None
    return FileSystemBytecodeCache(str(place)) if os.access(place, os.W_OK) else None


def check_page(path: str | Path) -> None:
    """Raise before any work where a page could not be written, or would replace or spoil files."""
    path = Path(path)
    if lies_in_release(path.resolve()):
        msg = f"{path.name!r} is private and cannot lie inside a release. Choose another "
        raise UsageError(msg + option("report") + ".")
    if os.path.lexists(path):
        msg = f"{path.name!r} exists. Choose another {option('report')}."
        raise OutputError(msg)
    if not path.absolute().parent.is_dir():
        msg = f"Cannot write {path.name!r}: its directory does not exist."
        raise OutputError(msg)


def write_page(path: str | Path, text: str, *, force: bool = False) -> None:
    """Write a page that only its owner can read."""
    write_whole(path, text, force=force, what="report")


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
