"""Compiled kernels, loaded and called without Numba, whose import takes longer than a small run.

Numba's machine code has beside each kernel a wrapper that Python can call. All that such a kernel
needs is LLVM's loader (`llvmlite`), the helpers in three of Numba's extension modules, which load
by themselves, and types that are those it was compiled for: a wrapper believes what it is handed,
so they are compared before. Where anything differs (sources, versions, processor, something told
to Numba, types) there is nothing to be loaded, and Numba does the work as ever.
"""

import builtins
import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from shoal.kernels import shipping

Told = dict[str, Any]
Payload = tuple[Any, ...]
Call = Callable[..., Any]
LOADING = RLock()
NUMBERS = {int: "i8", np.int64: "i8", float: "f8", np.float64: "f8", bool: "b1", np.bool_: "b1"}
CONVERTED = {("i8", "b1"), ("f8", "i8"), ("f8", "b1")}  # what is asked for, what may be given
BEYOND = 2**63  # of Python's integers, those below it are taken as they are


def willing() -> bool:
    """Say whether kernels go without Numba: not where it is there, or has been told something."""
    told = any(name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR" for name in os.environ)
    return "numba" not in sys.modules and not told


def kind_given(value: Any) -> object:
    """Return the type of an argument, None where only Numba knows it."""
    kind = type(value)
    if kind is np.ndarray:
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return (value.dtype.str, value.ndim, order, flags.writeable) if flags.aligned else None
    if kind in NUMBERS:
        return NUMBERS[kind] if kind is not int or -BEYOND <= value < BEYOND else None
    if isinstance(value, tuple):
        named = kind.__name__ if hasattr(kind, "_fields") else ""
        return (named, *map(kind_given, value))
    return None


def kind_taken(kind: Any) -> object:
    """Return a type of Numba's as `kind_given` writes it; raise TypeError where it does not."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(kind, types.Array) and kind.aligned:
        return (as_dtype(kind.dtype).str, kind.ndim, kind.layout, kind.mutable)
    if kind in {types.int64, types.float64, types.boolean}:
        return {types.int64: "i8", types.float64: "f8"}.get(kind, "b1")
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        named = getattr(kind, "instance_class", None)
        return (named.__name__ if named else "", *map(kind_taken, members))
    raise TypeError(kind)


def takes_kind(asked: Any, value: Any, *, converted: bool) -> bool:
    """Say whether a kernel takes an argument by their types; some kernels convert what they get."""
    if not isinstance(asked, (list, tuple)) or not isinstance(value, tuple):
        return asked == value or (converted and (asked, value) in CONVERTED)
    if len(asked) != len(value) or asked[0] != value[0]:
        return False
    if asked[0][:1] not in {"<", "|", ">"}:  # a tuple
        return all(
            takes_kind(*both, converted=converted)
            for both in zip(asked[1:], value[1:], strict=True)
        )
    _, columns, order, written = value
    ordered = asked[2] == order or (converted and asked[2] == "A")
    writable = asked[3] == written or (converted and written)
    return bool(asked[1] == columns and ordered and writable)


def bare_form(payload: Payload) -> tuple[Told, bytes] | None:
    """Return how a compiled kernel is called without Numba, and its code; None where it cannot be.

    Code that uses objects of Python's, or that has no wrapper, is loaded by Numba.
    """
    _, (_, _, (code, _)), function, environment, signature, *_, begun, others = payload
    wrapper = function.llvm_cpython_wrapper_name
    bare = not (environment.consts or begun or any(one.consts for one in others))
    if not bare or wrapper.encode() not in code:
        return None
    try:
        takes = [kind_taken(one) for one in signature.args]
    except TypeError:
        return None
    told = {"accepts": takes, "wrapper": wrapper, "environment": environment.env_name}
    return {"name": f"{function.modname}.{function.qualname}"} | told, code


def kernel_folder() -> Path:
    """Return where kernels are kept that were compiled here."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    return Path(told) if told else shipping.HERE / "__pycache__"


@cache
def made_here() -> tuple[dict[str, str], str]:
    """Return what kernels must have been made for, and what this processor can do."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return shipping.made_for(binding.get_process_triple()), features


def keep_bare(payload: Payload, made: dict[str, str], features: str) -> None:
    """Keep a compiled kernel for whoever does without Numba, where it can be written."""
    found = bare_form(payload)
    if found is None or not found[0]["name"].startswith("shoal.kernels."):
        return
    told, code = found
    told |= {"made for": made, "features": features, "digest": sha256(code).hexdigest()}
    head = json.dumps(told).encode() + b"\n"
    types = sha256(repr(told["accepts"]).encode()).hexdigest()[:16]
    file = kernel_folder() / f"{told['name']}-{types}.kernel"
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        if not file.exists() or file.read_bytes() != head + code:
            file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(head + code)
            beside.replace(file)
    except OSError:  # nothing can be written there: Numba keeps its own elsewhere
        return


@cache
def kept_files() -> dict[str, list[Path]]:
    """Return the files of kernels that are kept, by kernel."""
    found: dict[str, list[Path]] = {}
    for file in sorted(kernel_folder().glob("*.kernel")):
        found.setdefault(file.name.rpartition("-")[0], []).append(file)
    return found


def offers(name: str) -> Iterator[tuple[Told, bytes]]:
    """Yield what there is of a kernel: shipped, else kept."""
    made, features = made_here()
    yield from shipping.called_bare(name, made["platform"], features)
    for file in kept_files().get(name, []):
        try:
            head, _, code = file.read_bytes().partition(b"\n")
            told = json.loads(head)
        except (OSError, ValueError):
            continue
        able = shipping.able(told["features"], features)
        if able and told["made for"] == made and told["digest"] == sha256(code).hexdigest():
            yield told, code


@cache
def kernel_loader() -> SimpleNamespace:
    """Return LLVM's loader, knowing all that kernels call, and what makes a function of a kernel.

    The extension modules stand where Numba itself looks for them, should it be imported later.
    """
    from llvmlite import binding

    functions, helpers, memory = (
        extension(name) for name in ("_dynfunc", "_helperlib", "core.runtime._nrt_python")
    )
    symbols = {"_Py_NoneStruct": id(None)}
    for module in (helpers, functions):
        symbols |= {f"numba_{name}": place for name, place in module.c_helpers.items()}
    for name, place in memory.c_helpers.items():
        symbols[name if name.startswith("_") else f"NRT_{name}"] = place
    for one in vars(builtins).values():
        if isinstance(one, type) and issubclass(one, BaseException):
            symbols[f"PyExc_{one.__name__}"] = id(one)
    for name, place in symbols.items():
        binding.add_symbol(name, place)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple()).create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    return SimpleNamespace(engine=engine, functions=functions, binding=binding, kept=[])


def extension(name: str) -> ModuleType:
    """Return an extension module of Numba's, without Numba."""
    full = f"numba.{name}"
    if full not in sys.modules:
        package = find_spec("numba")
        assert package is not None
        assert package.origin is not None
        place = Path(package.origin).parent.joinpath(*name.split("."))
        file = f"{place}{EXTENSION_SUFFIXES[0]}"
        spec = spec_from_file_location(full, file, loader=ExtensionFileLoader(full, file))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[full] = module
    return sys.modules[full]


def load_kernel(told: Told, code: bytes) -> Call:
    """Return a kernel that Python can call."""
    loader = kernel_loader()
    engine = loader.engine
    engine.add_object_file(loader.binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    environment = loader.functions.Environment({})
    place = engine.get_global_value_address(told["environment"])
    ctypes.c_void_p.from_address(place).value = id(environment)
    loader.kept.append(environment)
    address = engine.get_function_address(told["wrapper"])
    name = told["name"].rpartition(".")[2]
    found: Call = loader.functions.make_function(sys, name, "", address, environment, (engine,))
    return found


def loaded_kernel(name: str, types: tuple[object, ...], *, converted: bool) -> Call | None:
    """Return a kernel for arguments of some types, None where Numba has to be asked."""
    with LOADING:
        if not willing():
            return None
        for told, code in offers(name):
            if takes_kind(("", *told["accepts"]), ("", *types), converted=converted):
                return load_kernel(told, code)
    return None
