"""The report as one page that opens offline: no script, no font, no request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.report.charts import frontier_chart, loss_chart, reach_chart, risk_chart, size_chart
from shoal.report.collect import collect

if TYPE_CHECKING:
    from shoal.audit.verify import Audit
    from shoal.release.release import Release


def render_release(release: Release, audit: Audit) -> str:
    """Return the report of a release as HTML."""
    return render(collect(release, audit))


def render(facts: dict[str, Any]) -> str:
    """Return collected facts as HTML; every value is escaped."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("shoal.report"), autoescape=True, trim_blocks=True
    )
    charts: dict[str, Any] = {
        "loss": Markup(loss_chart(facts["loss"]["ncp"])),  # noqa: S704 - drawn here, labels escaped
        "sizes": Markup(size_chart(facts["sizes"], grouped=facts["groups"] is not None)),  # noqa: S704
        "risks": [Markup(risk_chart(r["risks"], r["bound"])) for r in facts["requirements"]],  # noqa: S704
        "frontiers": [
            Markup(frontier_chart(r["frontier"])) if "frontier" in r else None  # noqa: S704
            for r in facts["requirements"]
        ],
    }
    charts["reaches"] = [
        Markup(reach_chart(r["reach"])) if "reach" in r else None  # noqa: S704
        for r in facts["requirements"]
    ]
    return environment.get_template("release.html").render(facts=facts, charts=charts)
