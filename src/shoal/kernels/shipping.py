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
import sys
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.sigutils import normalize_signature

HERE = Path(__file__).parent
SHIPPED = HERE / "shipped.kernels"
TOLD = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")  # how Numba compiles, to be said by anybody

Place = tuple[int, int, str]  # where a kernel begins, its bytes, their digest


def sources() -> str:
    """Return a digest of all that kernels are compiled from: one calls another across files."""
    found = sha256()
    for file in sorted([*HERE.glob("*.py"), *HERE.glob("*/*.py")]):
        content = file.read_bytes()
        found.update(f"{file.relative_to(HERE).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def made_for(platform: str) -> dict[str, str]:
    """Return what compiled kernels depend on, beside what the processor can do."""
    return {
        "sources": sources(),
        "Python": f"{sys.implementation.cache_tag} {sys.abiflags}",
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy": np.__version__.partition(".")[0],
        "platform": platform,
        "told": " ".join(str(getattr(config, one)) for one in TOLD),
    }


def named(function: Callable[..., Any], types: tuple[Any, ...]) -> str:
    """Return what a kernel is known by: its loop as it was read, and the types that it takes."""
    code = function.__code__
    loop = sha256(code.co_code).hexdigest()
    return f"{function.__module__}.{function.__qualname__} {code.co_firstlineno} {loop} {types!r}"


@cache
def places(file: Path, platform: str, features: str) -> Mapping[str, Place]:
    """Return where the kernels of a file are by name: none where they do not fit."""
    try:
        with file.open("rb") as opened:
            digest, head = opened.readline(), opened.readline()
            begin = opened.tell()
    except OSError:  # most have none
        return {}
    if digest.strip() != sha256(head).hexdigest().encode():
        return {}
    told = json.loads(head)
    able = {*told["features"].split(",")} <= {*features.split(",")}
    if not able or told["made for"] != made_for(platform):
        return {}
    return {name: (begin + at, size, kept) for name, (at, size, kept) in told["kernels"].items()}


def shipped(function: Callable[..., Any], signature: Any, codegen: Any) -> Any:
    """Return what is shipped of a kernel for some types, None where it is kept or compiled here."""
    platform, _, features = codegen.magic_tuple()
    types, _ = normalize_signature(signature)  # type: ignore[no-untyped-call]
    place = places(SHIPPED, platform, features).get(named(function, tuple(types)))
    if place is None:
        return None
    begin, size, digest = place
    try:
        with SHIPPED.open("rb") as opened:
            opened.seek(begin)
            content = opened.read(size)
    except OSError:  # it was there a moment ago: somebody is installing another
        return None
    if sha256(content).hexdigest() != digest:
        return None
    return pickle.loads(content)  # noqa: S301 - as trusted as the code, see above


def ship(file: Path, made: Mapping[str, str], features: str, kernels: Mapping[str, bytes]) -> None:
    """Write compiled kernels, for whoever makes a wheel.

    Parameters
    ----------
    file : where to.
    made : what they were made for, asked before: sources may change while they are compiled.
    features : what they use of a processor.
    kernels : each by name.
    """
    directory, begin = {}, 0
    for name, content in kernels.items():
        directory[name] = (begin, len(content), sha256(content).hexdigest())
        begin += len(content)
    told = {"made for": made, "features": features, "kernels": directory}
    head = json.dumps(told).encode() + b"\n"
    digest = sha256(head).hexdigest().encode() + b"\n"
    file.write_bytes(b"".join([digest, head, *kernels.values()]))
