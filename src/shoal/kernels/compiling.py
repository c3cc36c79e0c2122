"""What kernels have in common: types of arrays, numbers for kinds of demands, how they compile.

Reading an array out of a tuple raises and lowers its reference count, an atomic write that costs
more than the work of a small kernel and that two threads fight over: 100 ns against 6 ns for
`ncp_after`. A kernel that allocates nothing needs no counts, and without them it also compiles
three times faster. What only other kernels call (`inner`) goes without the wrappers that let
Python call it, which for tuples of arrays take longer to compile than the kernel; called from
Python all the same, it would crash.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typeinfer import register_dispatcher
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Ints = NDArray[np.int32]
LongInts = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


FAMILIAR = ("0.68.",)  # versions of Numba whose kernels are kept as `keeping` does

# Nobody, no group. A bare -1 is a type of its own to Numba while it infers the others, and every
# kernel that is handed one would be compiled for it too: a third of all that was compiled.
NONE = np.int64(-1)

RUN, DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED = range(6)
SPREAD, VARIANCE, DISCLOSURE, LIKENESS = range(6, 10)


KERNELS: list[Any] = []  # all but those that wait for a call


def compiled(*signatures: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes a loop a kernel: for some types, else for those that it is called with.

    Nothing here is called from C, so there are no wrappers for that.
    """

    def make(function: Callable[..., Any]) -> Any:
        kernel = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)  # type: ignore[call-overload]
        if not hasattr(kernel, "compile"):  # as whoever looks for a fault in a loop may ask
            return kernel
        keep(kernel, function)
        KERNELS.append(kernel)
        if signatures:
            wait(kernel, signatures)
        return kernel

    return make


def wait(kernel: Any, signatures: tuple[Any, ...]) -> None:
    """Have a kernel compiled or loaded when Python calls it or another kernel is compiled with it.

    A kernel on disk holds those that it calls, which most runs never ask for.
    """

    def ready() -> None:
        with global_compiler_lock:
            if not kernel.overloads:
                with register_dispatcher(kernel):
                    for signature in signatures:
                        kernel.compile(signature)
                kernel.disable_compile()

    def called(*_arguments: Any, **_named: Any) -> Any:
        ready()
        return kernel  # which Numba calls

    def typed(*arguments: Any) -> Any:
        ready()
        return type(kernel).get_call_template(kernel, *arguments)

    # Numba asks a kernel for these by name, where it has no code for the types that it is given.
    kernel.ready, kernel._compile_for_args, kernel.get_call_template = ready, called, typed  # noqa: SLF001


def keep(kernel: Any, function: Callable[..., Any]) -> None:
    """Keep a kernel on disk as `shoal.kernels.keeping` does, or as a Numba that is new to it does.

    How kernels are kept is Numba's own affair, so only what was tried is believed.
    """
    if numba.__version__.startswith(FAMILIAR):
        from shoal.kernels.keeping import Kept

        kernel._cache = Kept(function)  # noqa: SLF001 - as Numba's own `enable_caching` does
    else:
        kernel.enable_caching()


def lean_as(*signatures: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes a loop that allocates nothing a kernel."""
    return compiled(*signatures, _nrt=False)


def inner_as(*signatures: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes a loop that allocates nothing a kernel for other kernels alone."""
    return compiled(*signatures, _nrt=False, no_cpython_wrapper=True)


lean, inner = lean_as(), inner_as()


LATER: list["Later"] = []  # all of them


class Later:
    """A kernel for calls from Python alone, compiled or loaded when it is first called.

    Parameters
    ----------
    function : the loop.
    signatures : the types that it takes; there are no others.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Any, ...]) -> None:
        self.signatures = signatures
        update_wrapper(self, function)
        LATER.append(self)

    @cached_property
    def kernel(self) -> Any:
        """The loop, compiled."""
        return compiled(*self.signatures)(self.__wrapped__)  # type: ignore[attr-defined]

    def __call__(self, *arguments: Any) -> Any:
        """Call the loop."""
        return self.kernel(*arguments)


def later(*signatures: Any) -> Callable[[Callable[..., Any]], Later]:
    """Return what makes a loop a kernel that is compiled when it is first called."""
    return lambda function: Later(function, signatures)
