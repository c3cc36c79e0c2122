"""The pages, from templates; every value is escaped, and numbers are written for people."""

from __future__ import annotations

import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from shoal.errors import spell
from shoal.exact import percent, unique_share
from shoal.views import sentences, verdict
from shoal.views.dossier import norm_titles
from shoal.views.terminal import Command
from shoal.views.words import CONTEXT, cell
from shoal.web import words
from shoal.web.draft import GONE, ROLES

if TYPE_CHECKING:
    from starlette.background import BackgroundTask

    from shoal.web.worker import Refusal

NUMBERS = re.compile(r"(?<![&#\w.])\d[\d,]*(?:\.\d+)?(?: in \d[\d,]*)?%?(?![\w;])")
FISH = "M0 6C4 0 11 0 15 6 11 12 4 12 0 6ZM13.5 6 20 1.5V10.5Z"


@cache
def environment() -> Environment:
    """Return what turns templates into pages."""
    made = Environment(
        loader=PackageLoader("shoal.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "whole": words.whole,
        "percent": percent,
        "unique_share": unique_share,
        "size": words.size,
        "clock": lambda moment: time.strftime("%H:%M", time.localtime(moment)),
        "day": lambda moment: time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)),
        "seconds": words.seconds,
        "said": said,
        "marked": marked,
        "number": words.number,
        "risk_and_bound": sentences.risk_and_bound,
        "list_twice": lambda name: (name, name),
    }
    made.filters |= filters
    made.globals |= {
        "roles": ROLES,
        "gone": GONE,
        "phases": words.PHASES,
        "fish": FISH,
        "words": words,
        "judge": verdict,
        "left_out": sentences.left_out,
        "context": CONTEXT,
        "repeat": repeat,
        "norms": norm_titles,
        "cell": cell,
    }
    return made


def page(
    template: str, status: int = 200, background: BackgroundTask | None = None, **values: Any
) -> HTMLResponse:
    """Fill a template."""
    return HTMLResponse(fill(template, **values), status, background=background)


def fill(template: str, **values: Any) -> str:
    """Return a filled template."""
    return environment().get_template(template).render(**values)


def said(refusal: Refusal | str) -> Markup:
    """Write a sentence, its options in the words of the page."""
    sentence = refusal if isinstance(refusal, str) else refusal.sentence
    return Markup(spell(str(escape(sentence)), words.option))  # noqa: S704 - escaped before


def marked(sentence: str) -> Markup:
    """Write a promise, its numbers in bold."""
    plain = str(escape(sentence))
    return Markup(NUMBERS.sub(r"<b>\g<0></b>", plain))  # noqa: S704 - escaped before


def repeat(table: str) -> str:
    """Return the command that repeats a run beside its schema file."""
    options = (("schema", "shoal.toml"), ("output", "published"))
    return Command("anonymize", (table,), options).line
