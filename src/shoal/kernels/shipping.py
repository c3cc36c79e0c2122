"""Compiled kernels that a wheel carries, so that a first run takes no longer than the second.

`make wheel` compiles all kernels into one file beside their sources, for processors that nearly
everybody has. They are used where everything that they were made from and for is the same here:
the sources of all kernels, Python, Numba, llvmlite, NumPy, the platform, and how Numba was told to
compile, on a processor that can do what they use. Anywhere else, where one of them is damaged, and
for types that are not among them, kernels are kept and compiled as if there were none.

Nothing is ever written to the file. What it holds are pickles, which may do anything when they are
read; so it is read from the package's own folder alone, where whoever could change it could change
the code just as well. Its digests notice damage, not malice.
"""

import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
SHIPPED = HERE / "shipped.kernels"
TOLD = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")  # how Numba compiles, to be said by anybody
UNTOLD = "_OptLevel(3) None 0"  # where nobody did

Place = tuple[int, int, str]  # where a kernel begins, its bytes, their digest


def sources() -> str:
    """Return a digest of all that kernels are compiled from: one calls another across files."""
    found = sha256()
    for file in sorted([*HERE.glob("*.py"), *HERE.glob("*/*.py")]):
        content = file.read_bytes()
        found.update(f"{file.relative_to(HERE).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def version_of(package: str) -> str:
    """Return the version of a package, which need not be imported for it."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    said = re.search(r'"version": "(.+)"', Path(spec.origin).with_name("_version.py").read_text())
    return said[1] if said else ""


def compiler_told() -> str:
    """Return how Numba compiles."""
    config = sys.modules.get("numba.core.config")
    return " ".join(str(getattr(config, one)) for one in TOLD) if config else UNTOLD


def made_for(platform: str) -> dict[str, str]:
    """Return what compiled kernels depend on, beside what the processor can do."""
    return {
        "sources": sources(),
        "Python": f"{sys.implementation.cache_tag} {sys.abiflags}",
        "Numba": version_of("numba"),
        "llvmlite": version_of("llvmlite"),
        "NumPy": np.__version__.partition(".")[0],
        "platform": platform,
        "told": compiler_told(),
    }


def named(function: Callable[..., Any], types: tuple[Any, ...]) -> str:
    """Return what a kernel is known by: its loop as it was read, and the types that it takes."""
    code = function.__code__
    loop = sha256(code.co_code).hexdigest()
    return f"{function.__module__}.{function.__qualname__} {code.co_firstlineno} {loop} {types!r}"


def able(used: str, features: str) -> bool:
    """Say whether a processor can do what kernels use."""
    return {*used.split(",")} <= {*features.split(",")}


@cache
def fitting(file: Path, platform: str, features: str) -> tuple[dict[str, Place], dict[str, Any]]:
    """Return the kernels of a file by name, none where they do not fit.

    First where each is, then, of those that go without Numba, how they are called and where their
    code is, which is not in the first place then.
    """
    try:
        with file.open("rb") as opened:
            digest, head = opened.readline(), opened.readline()
            begin = opened.tell()
    except OSError:  # most have none
        return {}, {}
    if digest.strip() != sha256(head).hexdigest().encode():
        return {}, {}
    said = json.loads(head)
    if not able(said["features"], features) or said["made for"] != made_for(platform):
        return {}, {}
    moved = {name: (begin + at, *rest) for name, (at, *rest) in said["kernels"].items()}
    return moved, {
        name: one | {"place": (begin + one["place"][0], *one["place"][1:])}
        for name, one in said["bare"].items()
    }


def bytes_at(place: Place) -> bytes | None:
    """Return what is in a place of the file, None where it is damaged."""
    begin, size, digest = place
    try:
        with SHIPPED.open("rb") as opened:
            opened.seek(begin)
            found = opened.read(size)
    except OSError:  # it was there a moment ago: somebody is installing another
        return None
    return found if sha256(found).hexdigest() == digest else None


def shipped(function: Callable[..., Any], signature: Any, codegen: Any) -> Any:
    """Return what is shipped of a kernel for some types, None where it is kept or compiled here."""
    from numba.core.sigutils import normalize_signature

    platform, _, features = codegen.magic_tuple()
    types, _ = normalize_signature(signature)  # type: ignore[no-untyped-call]
    kernels, bare = fitting(SHIPPED, platform, features)
    name = named(function, tuple(types))
    found = bytes_at(kernels[name]) if name in kernels else None
    code = bytes_at(bare[name]["place"]) if name in bare else b""
    if found is None or code is None:
        return None
    defined, (library, kind, (own, linked)), *rest = pickle.loads(found)  # noqa: S301 - see above
    return (defined, (library, kind, (own or code, linked)), *rest)


def called_bare(name: str, platform: str, features: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield how the kernels of a function are called without Numba, and their code."""
    for one in fitting(SHIPPED, platform, features)[1].values():
        if one["name"] == name and (code := bytes_at(one["place"])) is not None:
            yield one, code


def ship(
    file: Path,
    made: Mapping[str, str],
    features: str,
    kernels: Mapping[str, bytes],
    bare: Mapping[str, tuple[Mapping[str, Any], bytes]],
) -> None:
    """Write compiled kernels, for whoever makes a wheel.

    Parameters
    ----------
    file : where to.
    made : what they were made for, asked before: sources may change while they are compiled.
    features : what they use of a processor.
    kernels : each by name.
    bare : of those that go without Numba, how they are called, and their code.
    """
    begin, parts = 0, []

    def placed(part: bytes) -> Place:
        nonlocal begin
        parts.append(part)
        begin += len(part)
        return begin - len(part), len(part), sha256(part).hexdigest()

    said = {
        "made for": made,
        "features": features,
        "kernels": {name: placed(part) for name, part in kernels.items()},
        "bare": {name: {**one, "place": placed(code)} for name, (one, code) in bare.items()},
    }
    head = json.dumps(said).encode() + b"\n"
    digest = sha256(head).hexdigest().encode() + b"\n"
    file.write_bytes(b"".join([digest, head, *parts]))
