"""Compiled loops over plain arrays: numbers in, numbers out, nothing of ours imported.

Kernels with explicit signatures compile once and are loaded from Numba's cache afterwards, when
they are called or another is compiled with them, without Numba where that can be (`loading`).
Those that take tuples of arrays compile when they are first called; `load_all` calls them on a
tiny table. Where a wheel carries them compiled (`shipping`), nothing is left to compile.
"""

import os
import tempfile
from importlib import import_module
from pathlib import Path

MODULES = (
    "windows",
    "text",
    "demands",
    "splits",
    "partition",
    "guarded",
    "queries",
    "pairing",
    "freeform.greedy",
    "freeform.matchings",
    "freeform.coverage",
    "freeform.tree",
    "permuting",
    "swapping",
)


def place_cache() -> None:
    """Give Numba a private cache of our own where neither the package nor the home is writable.

    Without it Numba refuses to load a cached kernel at all.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - never raises, unlike Path.home
    if not any(os.access(place, os.W_OK) for place in (Path(__file__).parent, home)):
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="shoal-kernels-")


def load_all() -> None:
    """Compile or load every kernel."""
    for name in MODULES:
        import_module(f"shoal.kernels.{name}")
    for one in import_module("shoal.kernels.compiling").KERNELS:
        one.load()
    import_module("shoal.kernels.warming").run()


place_cache()
