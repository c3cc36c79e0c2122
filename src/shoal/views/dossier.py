"""A dossier as a norm asks for it: sections of fields, computed, answered, or open.

A norm is a file in `norms`: what it asks, and which fact or which answer of people is in its place.
One template shows all of them, and one writer makes documents to edit.
"""

from __future__ import annotations

import io
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError, nearest
from shoal.views import sentences, verdict
from shoal.views.annex import PRIVATE_FACTS, over
from shoal.views.answers import PUBLIC_FACTS, STANDARD
from shoal.views.pages import render
from shoal.views.terminal import flag
from shoal.views.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


NORMS = ("ema", "hipaa", "iso27559", "gdpr", "ico", "nist", "fivesafes")
DISCLAIMER = (
    "This dossier does not say that the release is anonymous, or that it complies with a law or a "
    "norm. It states what was measured, and which decisions people have to take."
)
OPEN = "to be answered"
NO_ORIGINAL = f"Not computed: the original table was not given ({flag('original')})."
PRIVATE = (
    "Private annex. Do not publish it, and do not send it with the public part. It was computed "
    "from the original table."
)


def read_norm(name: str) -> dict[str, Any]:
    """Return what a norm asks."""
    if name not in NORMS:
        msg = f"There is no norm {name!r}{nearest(name, NORMS)} Known are {', '.join(NORMS)}."
        raise UsageError(msg)
    place = resources.files("shoal.views") / "norms" / f"{name}.toml"
    return {"name": name} | tomllib.loads(place.read_text("utf-8"))


@cache
def norm_titles() -> dict[str, str]:
    """Return the norms with what each is called."""
    return {name: read_norm(name)["title"] for name in NORMS}


def public(
    norm: Mapping[str, Any],
    known: dict[str, Any],
    answers: Mapping[str, str],
    complaints: Sequence[str],
) -> dict[str, Any]:
    """Return the public part: a function of the release and of what people answered."""
    release = known["release"] | ({"verdict": verdict.BROKEN} if complaints else {})
    known = known | {"release": release}
    sections: list[dict[str, Any]] = [
        {
            "title": f"{place} {section['title']}",
            "fields": [_field(one, known, answers) for one in section["field"]],
        }
        for place, section in enumerate(norm["section"], 1)
    ]
    kinds = [one["kind"] for section in sections for one in section["fields"]]
    told = kinds.count("answered")
    return {
        "annex": False,
        "norm": norm["title"],
        "source": norm["source"],
        "title": release.get("title") or f"Release of {plural(release['rows'], 'row')}",
        "date": release["date"],
        "shoal": release["shoal"],
        "says": verdict.says(release),
        "complaints": list(complaints),
        "important": sentences.important(release),
        "lead": (
            f"Shoal computed {kinds.count('computed')} of {len(kinds)} fields from the published "
            f"files. Standard text fills {kinds.count('standard')} more. "
            f"The schema file answers {told or 'none yet'}."
        ),
        "missing": kinds.count("open"),
        "sections": sections,
        "elsewhere": [one["asks"] for one in norm["annex"]],
        "disclaimer": DISCLAIMER,
    }


def annex(
    norm: Mapping[str, Any], known: dict[str, Any], own: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the private annex; without the original table all of its fields are open."""
    release, fields = known["release"], []
    for one in norm["annex"]:
        found: Any = NO_ORIGINAL if own is None else PRIVATE_FACTS[one["fact"]](known, own)
        fields.append(_shown(one["asks"], found, "original table"))
    return {
        "annex": True,
        "norm": norm["title"],
        "source": norm["source"],
        "title": f"Annex: {release.get('title') or plural(release['rows'], 'row')}",
        "date": release["date"],
        "shoal": release["shoal"],
        "warning": PRIVATE,
        "over": None if own is None else over(own["over"]),
        "missing": [one["kind"] for one in fields].count("open"),
        "sections": [{"title": "Risk before, population and attacks", "fields": fields}],
        "disclaimer": DISCLAIMER,
    }


def by_column(text: str, names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    r"""Return what an answer says of each column, a line each, and the lines that name none.

    >>> by_column("age: high\nof all: low", ["age", "zip"])
    ({'age': 'high'}, ['of all: low'])
    """
    told, others = {}, []
    for line in text.splitlines():
        named = [name for name in names if line.startswith(f"{name}:")]
        name = max(named, key=len, default=None)
        said = line if name is None else line[len(name) + 1 :].strip()
        if name is None:
            others.append(line)
        elif said:
            told[name] = said
    return told, others


def _of_columns(
    one: Mapping[str, Any], known: dict[str, Any], answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return a field with a row for each column: what is measured, and what people answered."""
    measured = PUBLIC_FACTS[one["fact"]](known)
    if isinstance(measured, str):
        return _shown(one["asks"], measured, "published files")
    table = measured["table"]
    names, keys = [row[0] for row in table["rows"]], one["columns"]
    told = {key: by_column(answers.get(key, ""), names) for key in keys}
    lacking = [key for key in keys if set(names) - set(told[key][0])]
    said = [line for key in keys for line in told[key][1]]
    if lacking:
        example = f"{names[0]}: …" if names else "column: …"
        said += [
            f"{one['hint']} Keys under [context]: {', '.join(lacking)}, each with a line for each "
            f"column, for example “{example}”."
        ]
    rows = [(*row, *(told[key][0].get(row[0], OPEN) for key in keys)) for row in table["rows"]]
    return {
        "asks": one["asks"],
        "kind": "open" if lacking else "answered",
        "said": said,
        "who": one["who"] if lacking else f"published files and [context] {', '.join(keys)}",
        "table": {"head": [*table["head"], *map(str.capitalize, keys)], "rows": rows},
    }


def _field(
    one: Mapping[str, Any], known: dict[str, Any], answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return a field: what is asked, what is said, and where that comes from."""
    if "columns" in one:
        return _of_columns(one, known, answers)
    if "fact" in one:
        found = _shown(one["asks"], PUBLIC_FACTS[one["fact"]](known), "published files")
        same = {"kind": "standard", "who": "the same for every release of this kind, not measured"}
        return found | same if one["fact"] in STANDARD else found
    keys = ", ".join(one["answer"])
    several = len(one["answer"]) > 1
    given = [
        f"{key.replace('_', ' ').capitalize()}: {line}" if several and not place else line
        for key in one["answer"]
        for place, line in enumerate(answers.get(key, "").splitlines())
    ]
    lacking = [key for key in one["answer"] if key not in answers]
    if lacking:
        said = f"{one['hint']} Key under [context]: {', '.join(lacking)}."
        return {
            "asks": one["asks"],
            "kind": "open",
            "said": [*given, said],
            "who": one["who"],
            "table": None,
        }
    return {
        "asks": one["asks"],
        "kind": "answered",
        "said": given,
        "who": f"[context] {keys}",
        "table": None,
    }


def _shown(asks: str, found: Any, source: str) -> dict[str, Any]:
    """Return a field that is computed; a bare text says why it could not be."""
    if isinstance(found, str):
        who = "not computed"
        return {"asks": asks, "kind": "open", "said": [found], "who": who, "table": None}
    return {
        "asks": asks,
        "kind": "computed",
        "said": found["said"],
        "who": source,
        "table": found.get("table"),
    }


def written(shown: dict[str, Any], suffix: str) -> bytes:
    """Return a dossier, or its annex, as the bytes of a file."""
    if suffix == ".docx":
        from shoal.views.dossier import document

        return document(shown)
    return render("dossier.html", **shown).encode()


def document(shown: dict[str, Any]) -> bytes:
    """Return a dossier as a document that can be edited."""
    try:
        from docx import Document
    except ModuleNotFoundError:
        msg = (
            "Writing DOCX needs python-docx. Install it with pip install 'shoal[dossier]', or "
            "choose an output that ends in .html."
        )
        raise UsageError(msg) from None
    page = Document()
    about = page.core_properties._element  # noqa: SLF001 - the template's author and date are nobody's here
    for stated in list(about):
        about.remove(stated)
    page.core_properties.title = f"{shown['title']}: {shown['norm']}"
    page.add_heading(shown["title"], 0)
    page.add_paragraph(f"{shown['norm']}. {shown['source']}")
    noted = (*shown.get("complaints", ()), *shown.get("important", ()))
    for text in (shown.get("warning"), *noted, shown["disclaimer"]):
        if text:
            page.add_paragraph().add_run(text).bold = True
    if shown.get("over"):
        page.add_paragraph(shown["over"])
    if "says" in shown:
        page.add_paragraph(f"Verdict: {shown['says']}. {shown['lead']}")
    for section in shown["sections"]:
        page.add_heading(section["title"], 1)
        for one in section["fields"]:
            _add_field(page, one)
    for text in shown.get("elsewhere", ()):
        page.add_paragraph(f"In the private annex: {text}")
    file = io.BytesIO()
    page.save(file)
    return file.getvalue()


def _add_field(page: Any, one: Mapping[str, Any]) -> None:
    page.add_heading(one["asks"], 2)
    mark = "To be answered" if one["kind"] == "open" else one["kind"].capitalize()
    page.add_paragraph().add_run(f"{mark}: {one['who']}").italic = True
    for text in one["said"]:
        page.add_paragraph(text)
    if one["table"]:
        _add_table(page, one["table"])
    if one["kind"] == "open":
        page.add_paragraph("…" * 30)


def _add_table(page: Any, table: Mapping[str, Any]) -> None:
    grid = page.add_table(rows=1, cols=len(table["head"]))
    grid.style = "Table Grid"
    for cell, text in zip(grid.rows[0].cells, table["head"], strict=True):
        cell.text = text
    for row in table["rows"]:
        for cell, text in zip(grid.add_row().cells, row, strict=True):
            cell.text = text
