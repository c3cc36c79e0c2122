"""Programs for analysts who do not have Shoal: they read a release into R, pandas or Stata."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.audit.manifest import read_manifest
from shoal.errors import UsageError
from shoal.release.places import new_directory
from shoal.table.files import tables_named
from shoal.table.forms import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

# What is written, and what it is called here: a program of others is not to be checked as ours.
LOADERS = {"load.R": "load.R", "load.do": "load.do", "load_release.py": "load_release.py.txt"}
TEXT = ("csv", "tsv", "csv.gz", "tsv.gz")


def write_scripts(release: str | Path, directory: str | Path) -> Sequence[Path]:
    """Write what reads a release into R, Stata and pandas into a new directory."""
    manifest = read_manifest(Path(release))
    for stem in stems(manifest["form"]):
        (name,) = (name for name in manifest["digests"] if name in tables_named(stem))
        if name.removeprefix(f"{stem}.") not in TEXT:
            msg = (
                f"{name} is no table of text that R, Stata and pandas read alike. Publish the "
                "release as csv or tsv, or read it in Python: shoal.read."
            )
            raise UsageError(msg)
    with new_directory(directory) as staged:
        for name, kept in LOADERS.items():
            text = files("shoal.release.loaders").joinpath(kept).read_text("utf-8")
            (staged / name).write_text(text, "utf-8")
    return [Path(directory) / name for name in LOADERS]
