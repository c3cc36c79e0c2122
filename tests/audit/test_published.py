"""A release in memory, in batches and in files is one and the same to whoever reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import shoal
from shoal.audit.published import Published, as_read, read_batches, read_release
from shoal.table.forms import FORMS
from shoal.utility.bias import codebook
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 240
VISITS = pl.DataFrame({"id": [f"p{n % 90}" for n in range(200)], "kind": [*"abcd"] * 50})


def table() -> pl.DataFrame:
    """Return people with one row or several, numbers, labels, dates and gaps."""
    of = [*range(ROWS)]
    return pl.DataFrame(
        {
            "id": [f"p{n if n < 120 else n // 2}" for n in of],
            "age": [None if n % 31 == 0 else 20 + n * 7 % 50 for n in of],
            "town": [("=sum", "b,c", "d")[n * 5 % 3] for n in of],
            "since": [f"2024-0{1 + n % 9}-1{n % 7}" for n in of],
            "pay": [1000 * (n * 37 % 97) for n in of],
            "note": [str(n % 4) for n in of],
        }
    )


def released(form: str, kind: str) -> shoal.Release:
    """Return a release of rows, of people, or of people with a linked table."""
    linked = {"visits": VISITS} if kind == "linked" else None
    schema = shoal.Schema(
        quasi=["age", "town", "since"],
        sensitive="pay",
        identifying=["id"] if kind == "rows" else [],
        other="note",
        person=None if kind == "rows" else "id",
        linked={"visits": shoal.Schema(sensitive="visits.kind", person="visits.id")}
        if linked
        else {},
    )
    said: dict[str, Any] = {"linked": linked} if linked else {}
    return shoal.anonymize(
        table(),
        schema,
        require="EpsilonM(epsilon=3000, m=4)",
        form=form,
        missing="value",
        keep_other=True,
        **said,
    )


def told(published: Published) -> dict[str, Any]:
    """Return everything that is read of a release, and what follows from it."""
    return {
        "schema": published.schema,
        "kinds": published.kinds,
        "form": published.form,
        "require": published.require,
        "problems": published.problems,
        "untrue": published.untrue(),
        "shown": shown(published),
        "codebook": codebook(published).to_dicts(),
        "sizes": sorted(published.groups.sizes.tolist()),
        "alike": sorted(published.by_cells.sizes.tolist()),
    }


def frames(published: Published) -> dict[str, pl.DataFrame]:
    people = {} if published.people is None else {"people": published.people}
    return {"": published.table, **people, **published.linked}


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (form, kind)
        for form in FORMS
        for kind in ("rows", "people", "linked")
        if form != "two-tables" or kind == "rows"  # it has one line a person, and no linked tables
    ],
)
def test_a_release_is_read_alike_from_memory_and_from_files(
    form: str, kind: str, tmp_path: Path
) -> None:
    release = released(form, kind)
    audited = release.write(tmp_path / "out")
    manifest = release.manifest
    parsed = read_release(tmp_path / "out", manifest)
    spelled = {name: part.text() for name, part in release.parts.items()}
    for one in (read_batches(spelled, manifest), as_read(release)):
        assert told(one) == told(parsed)
        for name, frame in frames(parsed).items():
            found = frames(one)[name].select(pl.all().cast(pl.String).fill_null(""))
            assert_frame_equal(found, frame.select(pl.all().cast(pl.String).fill_null("")))
    again = release.audit()
    assert again.to_dict()["measured"] == audited.to_dict()["measured"]
    assert again.statement() == audited.statement()
