"""Compiled kernels on disk, loaded with nothing done that only compiling needs.

Numba gets to know every function that it could compile before it loads one that is compiled, and
reads of each kernel what another would put in its own place: two thirds of what loading took. Here
the first waits until something has to be compiled, the second until another kernel asks for it.
"""
# ruff: noqa: SLF001 - Numba has no other way to say how a kernel is loaded

import sys
from functools import cache, cached_property
from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys

from shoal.kernels import loading
from shoal.kernels.loading import Call, Payload
from shoal.kernels.shipping import made_for, shipped


def without_linear_algebra() -> None:
    """Have Numba load its own parts without SciPy's linear algebra, half of what they take.

    While they load they ask whether it is there, and do without it where it is not; a program that
    uses it is asked for it again, and finds it.
    """
    asked = "scipy.linalg.cython_blas"
    if "scipy.linalg" not in sys.modules:
        sys.modules[asked] = None  # type: ignore[assignment]
        try:
            import numba.np.arraymath  # noqa: F401
        finally:
            del sys.modules[asked]


@cache
def nothing() -> bytes:
    """Return a module without functions, as Numba stores modules."""
    return bytes(binding.parse_assembly("").as_bitcode())


def reduced(cres: Any) -> Payload:
    """Return what is kept of a kernel: beside what Numba keeps, the names its machine code defines.

    They are what loading has to know of the code for other kernels, which stays unread. How types
    were inferred is left out: it is for people to look at, and names the folder of who compiled.
    So is where code that uses no objects of Python's would look for them: with it, half of Numba
    would be imported.
    """
    module = cres.library._get_module_for_linking()
    defined = [
        one.name
        for some in (module.functions, module.global_variables)
        for one in some
        if not one.is_declaration
    ]
    *known, _, begun, environments = cres._reduce()
    used = tuple(one for one in environments if one.consts)
    return (tuple(defined), *known, "", begun, used)


def rebuilt(target_context: Any, payload: Payload) -> Any:
    """Return a kernel that can be called, and that others are compiled with when they ask."""
    defined, (name, kind, (code, linked)), *rest = payload
    codegen = target_context.codegen()
    codegen._engine._defined_symbols.update(defined)
    bare = (name, kind, (code, nothing()))
    found = CompileResult._rebuild(target_context, bare, *rest)  # type: ignore[no-untyped-call]
    found.library._get_module_for_linking = cache(lambda: binding.parse_bitcode(linked))
    return found


def kept_bare(codegen: Any, payload: Payload) -> Payload:
    """Return what is kept of a kernel, which next time goes without Numba where it can."""
    platform, _, features = codegen.magic_tuple()
    loading.keep_bare(payload, _made(platform), features)
    return payload


_made = cache(made_for)


class Kernels(CompileResultCacheImpl):
    """How a kernel becomes a file, and a file a kernel."""

    def reduce(self, cres: Any) -> Payload:
        """Return what is written."""
        return kept_bare(cres.codegen, reduced(cres))

    def rebuild(self, target_context: Any, payload: Payload) -> Any:
        """Return what was written."""
        return rebuilt(target_context, kept_bare(target_context.codegen(), payload))


class Files(FunctionCache):
    """The files of one function, known apart from those that Numba itself would keep."""

    _impl_class = Kernels

    def _index_key(self, sig: object, codegen: Any) -> Payload:
        # Numba looks at the file of a kernel alone, which calls others in other files.
        made = _made(codegen.magic_tuple()[0])["sources"]
        return ("shoal", made, *super()._index_key(sig, codegen))  # type: ignore[no-untyped-call]


class Kept:
    """The kernels of one function: shipped with the package, else wherever Numba keeps them.

    Where that is, it finds out by writing there: so nobody asks before a kernel is called for.
    """

    def __init__(self, function: Call) -> None:
        self.function = function

    @cached_property
    def files(self) -> Files:
        """What is on disk."""
        return Files(self.function)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """Return the kernel for some types, None where it has to be compiled."""
        rtsys.initialize(target_context)
        payload = shipped(self.function, sig, target_context.codegen())
        if payload is not None:
            return rebuilt(target_context, payload)
        with self.files._guard_against_spurious_io_errors():
            found = self.files._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            without_linear_algebra()
        return found

    def save_overload(self, sig: object, compiled: Any) -> None:
        """Keep what was compiled."""
        self.files.save_overload(sig, compiled)  # type: ignore[no-untyped-call]
