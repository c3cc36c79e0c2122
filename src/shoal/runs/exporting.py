"""A release for Stata or SPSS, made from its directory alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.audit.tables import open_stated
from shoal.errors import UsageError
from shoal.release.packages import package_of, packaged
from shoal.release.places import PUBLIC, check_beside, write_whole
from shoal.utility.numbers import typed_tables

if TYPE_CHECKING:
    from collections.abc import Sequence


def export_file(release: str | Path, output: str | Path) -> Sequence[Path]:
    """Write a release as a file of Stata (`.dta`) or SPSS (`.sav`), and read it again to compare.

    It is made from the published files, which have to be those that the manifest names. Intervals
    stand in two columns, `age_low` and `age_high`; labels become codes with value labels, of those
    that occur. A release of several tables becomes as many files, with the table's name in each.

    Parameters
    ----------
    release : the release directory.
    output : the file to write, outside the release. Its ending says for which program.

    Returns
    -------
    The paths of the files that were written.
    """
    place, path = Path(release), Path(output)
    package = package_of(path)
    if not place.is_dir():
        msg = (
            f"{place.name!r} is not a release directory, and only a release directory can be "
            "exported."
        )
        raise UsageError(msg)
    tables = typed_tables(place)
    alone = len(tables) == 1
    paths = [path if alone else path.with_stem(f"{path.stem}-{name}") for name in tables]
    for one in paths:
        check_beside(place, one, "A file for another program")
    title = open_stated(place).title or ""
    made = [packaged(table, package, title) for table in tables.values()]
    for one, content in zip(paths, made, strict=True):
        write_whole(one, content, force=False, mode=PUBLIC)
    return paths
