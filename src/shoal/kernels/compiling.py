"""What kernels have in common: types of arrays, numbers for kinds of demands, how they compile.

Reading an array out of a tuple raises and lowers its reference count, an atomic write that costs
more than the work of a small kernel and that two threads fight over: 100 ns against 6 ns for
`ncp_after`. A kernel that allocates nothing needs no counts, and without them it also compiles
three times faster. What only other kernels call (`inner`) goes without the wrappers that let
Python call it, which for tuples of arrays take longer to compile than the kernel; called from
Python all the same, it would crash.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Ints = NDArray[np.int32]
LongInts = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


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
