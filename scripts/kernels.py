"""The compiled kernels of a wheel: `make wheel` has Hatch call this, no other installation does.

`python scripts/kernels.py FILE` compiles all kernels of the package that Python finds and writes
them as `shoal.kernels.shipping` reads them. The hook does that in a process of its own, for
processors that nearly everybody has: those of x86-64-v3, as most that were made since 2013 are.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import cpython_tags

LEVEL = "x86-64-v3"
FEATURES = (
    *("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2", "crc32"),
    *("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
)
# Kernels are bound by name to what Numba has loaded, to no version of the C library: the oldest
# platform that pip knows by its version is one that they fit.
PLATFORM = "manylinux_2_17_x86_64"


def write(file: Path) -> None:
    """Compile all kernels and write them."""
    from numba.core.registry import cpu_target
    from numba.core.serialize import dumps

    from shoal.kernels import load_all
    from shoal.kernels.compiling import KERNELS
    from shoal.kernels.keeping import reduced
    from shoal.kernels.loading import bare_form
    from shoal.kernels.shipping import made_for, named, ship

    target, _, features = cpu_target.target_context.codegen().magic_tuple()
    made = made_for(target)
    load_all()
    kernels, bare = {}, {}
    for kernel in KERNELS:
        for types, compiled in kernel.overloads.items():
            name, payload = named(kernel.py_func, types), reduced(compiled)
            defined, (library, kind, (_, linked)), *rest = payload
            if found := bare_form(payload):
                bare[name] = found
                payload = (defined, (library, kind, (b"", linked)), *rest)
            kernels[name] = dumps(payload)
    ship(file, made, features, kernels, bare)


def able() -> set[str]:
    """Return what this processor can do."""
    from llvmlite import binding

    return {name for name, there in binding.get_host_cpu_features().items() if there}


def environment(source: Path, cache: str) -> dict[str, str]:
    """Return what kernels are compiled in: nothing kept is loaded, nothing told to Numba counts."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {
        "PYTHONPATH": str(source),
        "NUMBA_CACHE_DIR": cache,
        "NUMBA_CPU_NAME": LEVEL,
        "NUMBA_CPU_FEATURES": ",".join(f"+{one}" for one in FEATURES),
        "NUMBA_DISABLE_INTEL_SVML": "1",  # functions that few have
    }


class Kernels(BuildHookInterface):
    """What is added to a wheel while it is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile all kernels into the wheel, which then fits this Python and platform alone."""
        if version == "editable":  # its sources change
            return
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            sys.exit("Kernels are shipped for Linux on x86-64: make other wheels with pip wheel")
        if lacking := sorted({*FEATURES} - able()):  # each is called once while they are compiled
            sys.exit(f"This processor lacks {', '.join(lacking)} of {LEVEL}: use another")
        self.made = tempfile.TemporaryDirectory()
        file = Path(self.made.name) / "shipped.kernels"
        command = [sys.executable, __file__, str(file)]
        with tempfile.TemporaryDirectory() as cache:
            told = environment(Path(self.root) / "src", cache)
            subprocess.run(command, env=told, check=True)  # noqa: S603 - our own program
        tag = next(cpython_tags())
        build_data["tag"] = f"{tag.interpreter}-{tag.abi}-{PLATFORM}"
        build_data["pure_python"] = False
        build_data["force_include"][str(file)] = "shoal/kernels/shipped.kernels"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made on the way."""
        del build_data, artifact_path
        if version != "editable":
            self.made.cleanup()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
