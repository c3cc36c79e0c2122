"""The files of a release: its manifest, its tables, and whether they are those that were published.

A manifest may be anybody's, so it is checked before it is believed. Every key has a type
(`release/manifest.py`), and a key without one is refused. Whether a number is the one that is
measured, the audit asks afterwards; here it only has to be such a number. Nothing that a manifest
says may open a file.

Digests say whether files are the same byte for byte. A table may come in part files: all of them
are there, readable to their end, and with the same columns.
"""

from __future__ import annotations

import hashlib
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from shoal.audit.agreement import check_agreement, contradictions
from shoal.audit.asked import check_asked
from shoal.audit.described import Wrong
from shoal.errors import AuditFailed, InputError
from shoal.notation import read_json
from shoal.release.manifest import MANIFEST, REPORT, Manifest
from shoal.table.columns import Gathered
from shoal.table.files import part_files, tables_named
from shoal.table.forms import CODEBOOK
from shoal.table.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from shoal.progress import Progress


SIZE = 2**28  # bytes of a manifest; a million labels take a tenth of it
BRIEF = 60  # characters of what was got that a message repeats
UNKNOWN = "has {0!r}, which this version of Shoal does not know"
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of a release directory, raising where it is not one."""
    path, name = directory / MANIFEST, directory.name
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            msg = f"{name!r} is not a release directory: {MANIFEST} is not an ordinary file."
            raise InputError(msg)
        if found.st_size > SIZE:
            msg = f"{MANIFEST} in {name!r} has {found.st_size:,} bytes, more than a manifest has."
            raise InputError(msg)
        data = path.read_bytes()
    except OSError as problem:
        msg = f"{name!r} is not a release directory: {MANIFEST}: {problem.strerror}."
        raise InputError(msg) from None
    try:
        return check_shape(read_json(data))
    except (InputError, Wrong) as problem:
        why = "is not a manifest" if isinstance(problem, Wrong) else "cannot be read"
        msg = f"{MANIFEST} in {name!r} {why}: {problem}."
        raise InputError(msg) from None


def check_shape(said: Any) -> Manifest:
    """Return a manifest, raising where it says something that no manifest can say."""
    try:
        manifest = msgspec.convert(said, Manifest)
    except msgspec.ValidationError as problem:
        raise _refused(str(problem), said) from None
    if lacking := manifest.lacking:
        msg = f"the manifest lacks {lacking[0]!r}"
        raise Wrong(msg)
    if manifest.to_dict() != said:
        msg = "the manifest has null, or an empty object, where it must leave the entry out"
        raise Wrong(msg)
    check_agreement(manifest)
    return manifest


def _refused(problem: str, said: Any) -> Wrong:
    """Return what is wrong as a sentence: where, what is needed, what was got."""
    if isinstance(said, dict) and (strange := said.keys() - {*Manifest.__struct_fields__}):
        return Wrong(f"the manifest {UNKNOWN.format(min(strange)[:BRIEF])}")
    why, _, path = problem.rpartition(" - at `") if " - at `" in problem else (problem, "", "$`")
    place, got = "the manifest", said
    for name, number in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
        if number == "...":
            key = _which(said, got, problem)
            place, got = f"{place}, {key[:BRIEF]!r}", got[key]
        elif number:
            place, got = f"{place}, {int(number) + 1}", got[int(number)]
        else:
            place, got = f"{place}, {name!r}", got[name]
    if path.startswith("key`"):
        return Wrong(f"{place} has a name that is not {_needed(why)}")
    field = re.search(r"(missing required|contains unknown) field `(.*)`", why, re.DOTALL)
    if field is None:
        return Wrong(f"{place} has to be {_needed(why)}, not {_shown(got)}")
    if field[1] == "missing required":
        return Wrong(f"{place} lacks {field[2]!r}")
    return Wrong(f"{place} {UNKNOWN.format(field[2][:BRIEF])}")


def _which(said: Any, among: dict[str, Any], problem: str) -> str:
    """Return the first key of an object under which a problem lies, found by leaving others out."""
    whole, keys = dict(among), list(among)
    while len(keys) > 1:
        half = keys[: len(keys) // 2]
        among.clear()
        among.update((key, whole[key]) for key in half)
        try:
            msgspec.convert(said, Manifest)
            there = False
        except msgspec.ValidationError as found:
            there = str(found) == problem
        keys = half if there else keys[len(half) :]
    among.clear()
    among.update(whole)
    return keys[0]


def _needed(why: str) -> str:
    """Return what has to stand somewhere, in words: `a whole number of at least 1`."""
    if words := re.fullmatch(r"Expected `str` matching regex '(.*)'", why, re.DOTALL):
        plain = words[1].replace("\\\\", "\\").removeprefix(r"\A").removesuffix(r"\Z")
        if plain.startswith("(?:"):
            return " or ".join(map(repr, re.sub(r"\\(.)", r"\1", plain[3:-1]).split("|")))
        return f"a text like {plain}"
    if kind := re.match(r"Expected `([^`]*)`(?: (of length )?([<>]=?) ([\d.]+))?", why):
        named = " or ".join(dict.fromkeys(WORDS[one] for one in kind[1].split(" | ")))
        if kind[3] is None:
            return named
        than = {">=": "of at least", "<=": "of at most", ">": "above", "<": "below"}[kind[3]]
        return f"{named} {than} {kind[4]}" + " characters" * (kind[1] == "str")
    return "true or left out"


def _shown(got: Any) -> str:
    try:
        shown = repr(got)
    except (ValueError, RecursionError):  # a number of thousands of digits, or deep nesting
        shown = type(got).__name__
    return shown if len(shown) <= BRIEF else shown[:BRIEF] + "…"


def digest_of(path: Path) -> str:
    """Return the digest of a file as a manifest has it."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_ordinary(path: Path) -> bool:
    """Return whether there is a file that can be read to its end: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_digests(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence for every published file that is missing or not what it was."""
    problems = []
    for name, digest in stated.items():
        if not is_ordinary(directory / name):
            problems.append(f"The file {name!r} is missing.")
        elif digest_of(directory / name) != digest:
            problems.append(f"The file {name!r} is not the one that was published.")
    return problems


def files_beside(directory: Path, stated: Mapping[str, str]) -> list[str]:
    """Return a sentence where files lie in a release directory that do not belong to it."""
    others = sorted(set(_files(directory)) - {*stated, MANIFEST})
    if not others:
        return []
    return [f"Not part of the release, and not looked at: {', '.join(map(repr, others))}."]


def _files(directory: Path) -> Iterator[str]:
    """Yield what lies in a directory and one directory below it, as a manifest names it."""
    for path in directory.iterdir():
        below = list(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
        yield from (f"{path.name}/{inner.name}" for inner in below)
        if not below:
            yield path.name


@dataclass(frozen=True, eq=False)
class PartFiles:
    """Parts of one table: their paths, how many rows each has, and the columns of all."""

    paths: tuple[Path, ...]
    heights: tuple[int, ...]
    columns: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows they have together."""
        return sum(self.heights)

    def first(self, most: int) -> PartFiles:
        """Return the first parts, as many as it takes to have so many rows."""
        reached = accumulate(self.heights)
        count = next((at for at, rows in enumerate(reached, 1) if rows >= most), len(self.paths))
        return replace(self, paths=self.paths[:count], heights=self.heights[:count])

    def read(
        self, change: Callable[[pl.DataFrame], pl.DataFrame], progress: Progress
    ) -> pl.DataFrame:
        """Return the parts as one table, each changed when it is read."""
        gathered = Gathered(lean=True)
        for place, path in enumerate(self.paths, 1):
            gathered.add(change(read_table(path)))
            progress("audit", place / len(self.paths))
        return gathered.table(list(self.columns), self.rows)


def find_parts(directory: Path, stem: str, stated: Iterable[str]) -> PartFiles | None:
    """Return the parts of a table among the files that a manifest states, None where it has none.

    Nothing but the ends of the files is read.
    """
    names = part_files(stem, stated)
    if not names:
        return None
    paths, heights = [], []
    first: list[tuple[str, pl.DataType]] | None = None
    for name in names:
        path = directory / name
        if not is_ordinary(path):
            msg = f"{directory.name!r} has no {name}, or it is not an ordinary file."
            raise InputError(msg)
        with _whole(path), path.open("rb") as raw:  # Polars opens no name that is not UTF-8
            file = pl.scan_parquet(raw, glob=False)
            found = list(file.collect_schema().items())
            heights.append(int(file.select(pl.len()).collect().item()))
        if first is not None and found != first:
            msg = f"{name} has other columns than {names[0]}, or others of their types."
            raise InputError(msg)
        first = found
        paths.append(path)
    return PartFiles(tuple(paths), tuple(heights), tuple(column for column, _ in first or ()))


def only_file(directory: Path, stem: str, stated: Iterable[str]) -> Path:
    """Return the file of a table that comes in one, among those that a manifest states."""
    (name,) = (name for name in stated if name in tables_named(stem))
    if not is_ordinary(directory / name):
        msg = f"{directory.name!r} has no {name}, or it is not an ordinary file."
        raise InputError(msg)
    return directory / name


def read_part(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Return a part, or some of its columns."""
    with _whole(path), path.open("rb") as raw:
        return pl.read_parquet(raw, columns=columns, glob=False)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None


# The one gate to a release directory


def open_stated(directory: Path, but: Container[str] = (REPORT, CODEBOOK)) -> Manifest:
    """Read the manifest of a release whose files are those that it names, or raise.

    Files named in `but` may be missing: those that are to be made anew, or that nobody looks at.
    """
    manifest = read_manifest(directory)
    digests = {name: said for name, said in manifest.digests.items() if name not in but}
    refuse(directory, check_digests(directory, digests) + inconsistent(manifest))
    return manifest


def inconsistent(manifest: Manifest) -> list[str]:
    """Return a sentence for everything that parts of a manifest say against each other."""
    return contradictions(manifest) + check_asked(manifest)


def refuse(directory: Path, problems: list[str]) -> None:
    """Raise where anything is wrong with a release."""
    if problems:
        msg = f"The files of {directory.name!r} are not what its manifest says. "
        raise AuditFailed(msg + " ".join(problems))
