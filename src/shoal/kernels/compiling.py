"""What kernels have in common: types of arrays, numbers for kinds of demands, how they compile.

Reading an array out of a tuple raises and lowers its reference count, an atomic write that costs
more than the work of a small kernel and that two threads fight over: 100 ns against 6 ns for
`ncp_after`. A kernel that allocates nothing needs no counts, and without them it also compiles
three times faster. What only other kernels call (`inner`) goes without the wrappers that let
Python call it, which for tuples of arrays take longer to compile than the kernel; called from
Python all the same, it would crash.

A call hands over every array of a tuple by its shape and strides, about a kilobyte for the groups
of an exchange, and the compiler leaves a large kernel a call of its own. That was half of the time
of a search. What a search asks for millions of times (`placed`) stands where it is asked for.
"""

import logging
from collections.abc import Callable
from functools import cache, update_wrapper
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import loading
from shoal.kernels.loading import Call, Told

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


KERNELS: list["Kernel"] = []  # all of them
MAKING = RLock()


class Kernel:
    """A loop over arrays that runs compiled: for some types, else for those it is called with.

    Called from Python, it is loaded without Numba where it was compiled before (`loading`). Numba
    is imported when there is none for what it is called with, and when another is compiled with it.

    Parameters
    ----------
    function : the loop.
    signatures : the types that it takes, and no others; those that it is called with where none
        are given.
    options : how Numba compiles it.
    """

    def __init__(self, function: Call, signatures: tuple[str, ...], options: Told) -> None:
        self.signatures, self.options = signatures, options
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.known: dict[object, Call] = {}
        update_wrapper(self, function)
        KERNELS.append(self)

    def __call__(self, *arguments: object, **named: object) -> Any:
        """Call the loop."""
        types = tuple(map(loading.kind_given, arguments))
        return (self.known.get(types) or self.chosen(types))(*arguments, **named)

    def chosen(self, types: tuple[object, ...]) -> Call:
        """Return what is called with arguments of some types."""
        found = loading.loaded_kernel(self.name, types, converted=bool(self.signatures))
        self.known[types] = found or self.dispatcher
        return self.known[types]

    def __getattr__(self, name: str) -> Any:
        """Return what Numba knows of the kernel, as it does when it compiles another."""
        if name.startswith("__"):  # what Python asks any object for
            raise AttributeError(name)
        if name == "dispatcher":
            with MAKING:
                found = vars(self)[name] = vars(self).get(name) or self.made()
            return found
        return getattr(self.dispatcher, name)

    def made(self) -> Any:
        """Return the kernel as Numba has it; nothing here is called from C: no wrappers for it."""
        from numba import njit

        listen()
        function = self.__wrapped__
        kernel = njit(nogil=True, no_cfunc_wrapper=True, **self.options)(function)  # type: ignore[call-overload]
        if hasattr(kernel, "compile"):  # whoever looks for a fault in a loop may ask for none
            keep(kernel, function)
            if self.signatures:
                wait(kernel, self.signatures)
        return kernel

    def load(self) -> None:
        """Have a kernel of known types compiled or loaded."""
        known = loading.willing() and next(loading.offers(self.name), None)
        if self.signatures and not known and hasattr(self.dispatcher, "ready"):
            self.dispatcher.ready()


@cache
def listen() -> None:
    """Have whoever reads the log of `shoal.kernels` told when Numba compiles."""
    from numba.core import event

    log = logging.getLogger("shoal.kernels")

    class Teller(event.Listener):
        def on_start(self, event: object) -> None:  # noqa: ARG002 - whichever kernel it is
            log.info("compiling")

        def on_end(self, event: object) -> None:
            """Nothing more is to be said."""

    event.register("numba:compile", Teller())  # type: ignore[no-untyped-call]


def compiled(*signatures: str, **options: Any) -> Callable[[Call], Any]:
    """Return what makes a loop a kernel."""
    return lambda function: Kernel(function, signatures, options)


def wait(kernel: Any, signatures: tuple[str, ...]) -> None:
    """Have a kernel compiled or loaded when Python calls it or another kernel is compiled with it.

    A kernel on disk holds those that it calls, which most runs never ask for.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.typeinfer import register_dispatcher

    def ready() -> None:
        with global_compiler_lock:
            if not kernel.overloads:
                with register_dispatcher(kernel):
                    for signature in signatures:
                        kernel.compile(signature)
                kernel.disable_compile()

    def called(*_arguments: object, **_named: object) -> Any:
        ready()
        return kernel  # which Numba calls

    def typed(*arguments: object) -> Any:
        ready()
        return type(kernel).get_call_template(kernel, *arguments)

    # Numba asks a kernel for these by name, where it has no code for the types that it is given.
    kernel.ready, kernel._compile_for_args, kernel.get_call_template = ready, called, typed  # noqa: SLF001


def keep(kernel: Any, function: Call) -> None:
    """Keep a kernel on disk as `shoal.kernels.keeping` does, or as a Numba that is new to it does.

    How kernels are kept is Numba's own affair, so only what was tried is believed.
    """
    import numba

    if numba.__version__.startswith(FAMILIAR):
        from shoal.kernels.keeping import Kept

        kernel._cache = Kept(function)  # noqa: SLF001 - as Numba's own `enable_caching` does
    else:
        kernel.enable_caching()


def lean_as(*signatures: str, **options: Any) -> Callable[[Call], Any]:
    """Return what makes a loop that allocates nothing a kernel."""
    return compiled(*signatures, _nrt=False, **options)


def inner_as(*signatures: str, **options: Any) -> Callable[[Call], Any]:
    """Return what makes a loop that allocates nothing a kernel for other kernels alone."""
    return compiled(*signatures, _nrt=False, no_cpython_wrapper=True, **options)


lean, inner = lean_as(), inner_as()
placed = lean_as(forceinline=True)
placed_inner = inner_as(forceinline=True)
