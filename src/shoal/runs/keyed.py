"""What keyed hashes give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.audit.identification import release_groups
from shoal.audit.people import descriptions
from shoal.errors import option
from shoal.runs.remarks import Remark
from shoal.table.coding import code_persons
from shoal.table.partition import PersonOf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.runs.release import Release


def about_keys(release: Release) -> Iterator[Remark]:
    """Say of keys that tie rows together how many people the release gives away by that.

    A reader sees in which groups somebody's rows are. Whoever is the only one with rows in these
    groups is told from all others.
    """
    groups = release_groups(release)
    if groups is None:
        return
    for name in release.schema.pseudonymize:
        column = release.recoding.source[name]
        known = column.is_not_null().to_numpy()
        if not known.any():
            continue
        whom = PersonOf(code_persons(column.filter(column.is_not_null())))
        rows, people = len(whom.labels), len(whom)
        if people == rows:
            continue
        alone = int((descriptions(groups.labels[known], whom).sizes == 1).sum())
        yield Remark(
            f"The pseudonyms in {name!r} link {rows:,} rows to {people:,} people. {alone:,} of "
            "these people have a unique combination of groups, so a reader who knows their "
            f"rows can identify them. Use {option('person', name)} instead of "
            f"{option('pseudonymize')}.",
            warning=True,
        )
