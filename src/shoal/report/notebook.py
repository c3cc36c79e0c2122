"""Pieces of HTML for notebooks: a release, an audit and a plan at a glance."""

from __future__ import annotations

from typing import Any

from shoal.report.pages import render

SHOWN = 12  # points of a plan's frontier


def release_part(manifest: dict[str, Any]) -> str:
    """Return a release as a piece of HTML, from its manifest."""
    return render("part_release.html", facts=manifest)


def audit_part(facts: dict[str, Any], complaints: list[str]) -> str:
    """Return an audit as a piece of HTML."""
    return render("part_audit.html", facts=facts, complaints=complaints)


def plan_part(facts: dict[str, Any]) -> str:
    """Return a plan as a piece of HTML."""
    points = facts["frontier"] or ()
    return render("part_plan.html", facts=facts, points=points[:SHOWN], more=len(points) - SHOWN)
