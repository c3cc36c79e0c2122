"""What kernels have in common: types of arrays, numbers for kinds of demands, how they compile.

Reading an array out of a tuple raises and lowers its reference count, an atomic write that costs
more than the work of a small kernel and that two threads fight over: 100 ns against 6 ns for
`ncp_after`. A kernel that allocates nothing needs no counts, and without them it also compiles
three times faster. What only other kernels call (`inner`) goes without the wrappers that let
Python call it, which for tuples of arrays take longer to compile than the kernel; called from
Python all the same, it would crash.
"""

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Ints = NDArray[np.int32]
LongInts = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


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


without_linear_algebra()

# Nobody, no group. A bare -1 is a type of its own to Numba while it infers the others, and every
# kernel that is handed one would be compiled for it too: a third of all that was compiled.
NONE = np.int64(-1)

RUN, DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED = range(6)
SPREAD, VARIANCE, DISCLOSURE, LIKENESS = range(6, 10)


lean = njit(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True)  # type: ignore[call-overload]
inner = njit(  # type: ignore[call-overload]
    cache=True, nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
)


def lean_as(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Return `lean` for one signature, so that importing the kernel compiles it."""
    return njit(  # type: ignore[call-overload]
        signature, cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True
    )


def inner_as(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Return `inner` for one signature."""
    return njit(  # type: ignore[call-overload]
        signature,
        cache=True,
        nogil=True,
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )


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
        return njit([*self.signatures], cache=True, nogil=True)(self.__wrapped__)  # type: ignore[attr-defined]

    def __call__(self, *arguments: Any) -> Any:
        """Call the loop."""
        return self.kernel(*arguments)


def later(*signatures: Any) -> Callable[[Callable[..., Any]], Later]:
    """Return what makes a loop a kernel that is compiled when it is first called."""
    return lambda function: Later(function, signatures)
