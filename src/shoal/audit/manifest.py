"""The manifest of a release as a stranger may have written it: checked before it is believed.

Every key has a type (`release/manifest.py`), and a key without one is refused. Whether a number is
the one that is measured, the audit asks afterwards; here it only has to be such a number. Nothing
that a manifest says may open a file.
"""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Any

import msgspec

from shoal.audit.agreement import check_agreement
from shoal.audit.described import Wrong
from shoal.errors import InputError
from shoal.release.manifest import MANIFEST, Manifest
from shoal.table.strict import read_json

if TYPE_CHECKING:
    from pathlib import Path

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
            msg = f"{name!r} is not a release directory: {MANIFEST} is no ordinary file."
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
        msg = "the manifest says null, or an empty object, where nothing is to be said"
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
