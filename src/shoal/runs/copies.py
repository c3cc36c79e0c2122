"""A written release in a second place, whole or not at all; apart, because nothing is made."""

from __future__ import annotations

import shutil
from pathlib import Path

from shoal.errors import UsageError
from shoal.release.places import as_output_errors, check_output
from shoal.release.staging import staging, swap_in, sync


def copy_release(source: str | Path, target: str | Path) -> Path:
    """Copy the files of a release into a directory that is not there yet, and return which."""
    if not str(target).strip():
        msg = "Name the folder that the release should go into."
        raise UsageError(msg)
    place = Path(target).expanduser().absolute()
    check_output(place, format="csv", linkage=None, force=False)
    with as_output_errors(place.name), staging(place) as staged:
        shutil.copytree(source, staged, dirs_exist_ok=True)
        for path in staged.rglob("*"):
            if path.is_file():
                sync(path)
        swap_in(staged, place)
    return place
