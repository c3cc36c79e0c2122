"""Kernels that are shipped are used where they fit, and only there.

The package of these tests has a few small kernels, compiled for the machine that runs the tests by
the program that makes those of a wheel. `test_wheel.py` looks at a whole wheel.
"""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import config

from shoal.kernels import shipping

HERE = Path(__file__).parents[2]
SQUARED = """
from shoal.kernels.compiling import inner

@inner
def square(value):
    return value * value
"""
CALLED = """
import numpy as np
from shoal.kernels.compiling import compiled, lean
from shoal.kernels.deeper.squared import square

@lean
def squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total

@compiled("int64[::1](int64)")
def steps(count):
    found = np.empty(count, np.int64)
    for place in range(count):
        found[place] = place
    return found

@compiled("int64(int64[::1])")
def highest(values):
    found = values[0]
    for value in values:
        found = max(found, value)
    return found
"""
WARMING = """
import numpy as np
from shoal.kernels.called import squares

def run():
    squares(np.zeros(1))
"""
ASKED = """
import json, sys
import numpy as np
from numba.core import event
compiled = []
class Watch(event.Listener):
    def on_start(self, one):
        function = one.data["dispatcher"].py_func
        if function.__module__.startswith("shoal."):
            compiled.append(function.__name__)
    def on_end(self, one):
        pass
event.register("numba:compile", Watch())
from shoal.kernels.called import highest, squares, steps
found = squares(np.arange(4.0)), int(highest(steps(3)))
if "whole" in sys.argv:
    found = squares(np.arange(4)), found[1]
print(json.dumps([found, compiled, "numba.np.linalg" in sys.modules]))
"""
ALL = ["highest", "square", "squares", "steps"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small package of kernels, compiled."""
    place = tmp_path_factory.mktemp("made") / "package"
    kernels = place / "shoal" / "kernels"
    (kernels / "deeper").mkdir(parents=True)
    for name in ("compiling", "keeping", "loading", "shipping"):
        shutil.copy(HERE / "src" / "shoal" / "kernels" / f"{name}.py", kernels)
    whole = (HERE / "src" / "shoal" / "kernels" / "__init__.py").read_text()
    before, _, rest = whole.partition("MODULES = (")
    (kernels / "__init__.py").write_text(f'{before}MODULES = ("called",){rest.partition(")")[2]}')
    for name, text in {"called": CALLED, "warming": WARMING, "deeper/squared": SQUARED}.items():
        (kernels / f"{name}.py").write_text(text)
    for empty in (place / "shoal", kernels / "deeper"):
        (empty / "__init__.py").write_text("")
    program = HERE / "scripts" / "kernels.py"
    ran(place, str(program), str(kernels / "shipped.kernels"), NUMBA_CACHE_DIR=str(place / "cache"))
    shutil.rmtree(place / "cache")
    return place


@pytest.fixture
def package(made: Path, tmp_path: Path) -> Path:
    """A copy, installed: other places, other times, the same bytes."""
    return shutil.copytree(made, tmp_path / "installed", copy_function=shutil.copyfile)


def ran(place: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": str(place)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(place: Path, *more: str, **environment: str) -> tuple[list[float], list[str], bool]:
    """Return what the kernels of a package find in a fresh process, and which were compiled."""
    environment |= {"NUMBA_CACHE_DIR": str(place / "cache")}
    found, compiled, ready = json.loads(ran(place, "-c", ASKED, *more, **environment))
    return found, sorted(compiled), ready


def shipped(place: Path) -> Path:
    return place / "shoal" / "kernels" / "shipped.kernels"


def parts(file: Path) -> tuple[dict[str, Any], bytes]:
    """Return what a file says of its kernels, and the kernels."""
    _, head, rest = file.read_bytes().split(b"\n", 2)
    return json.loads(head), rest


def rewrite(file: Path, told: dict[str, Any], rest: bytes) -> None:
    """Write a file that is whole, but says something else."""
    head = json.dumps(told).encode() + b"\n"
    file.write_bytes(sha256(head).hexdigest().encode() + b"\n" + head + rest)


def test_a_first_run_compiles_nothing_and_writes_nothing(package: Path) -> None:
    before = shipped(package).read_bytes()
    assert asked(package) == ([14.0, 2], [], False)
    assert not (package / "cache").exists()
    assert shipped(package).read_bytes() == before
    assert str(HERE).encode() not in before, "where kernels were compiled is nobody's concern"


def test_what_is_not_shipped_is_compiled_with_what_is_and_kept(package: Path) -> None:
    before = shipped(package).read_bytes()
    # Of whole numbers, `squares` takes another `square` too.
    assert asked(package, "whole") == ([14.0, 2], ["square", "squares"], True)
    assert asked(package, "whole") == ([14.0, 2], [], False)
    assert shipped(package).read_bytes() == before


def test_after_a_change_of_any_source_nothing_shipped_is_used(package: Path) -> None:
    before = shipped(package).read_bytes()
    changed = package / "shoal" / "kernels" / "deeper" / "squared.py"
    changed.write_text(SQUARED.replace("value * value", "value + value"))
    assert asked(package) == ([12.0, 2], ALL, True)
    assert asked(package) == ([12.0, 2], [], False)
    assert shipped(package).read_bytes() == before
    # And back again.
    changed.write_text(SQUARED)
    shutil.rmtree(package / "cache")
    assert asked(package) == ([14.0, 2], [], False)


def test_damaged_kernels_are_compiled_and_whole_ones_are_loaded(package: Path) -> None:
    told, rest = parts(shipped(package))
    ((begin, size, _),) = [
        place for name, place in told["kernels"].items() if ".called.squares " in name
    ]
    middle = begin + size // 2
    flipped = bytes([rest[middle] ^ 1])
    rewrite(shipped(package), told, rest[:middle] + flipped + rest[middle + 1 :])
    # The one that was damaged takes `square` from the file all the same.
    assert asked(package) == ([14.0, 2], ["squares"], True)


def test_a_file_that_was_cut_is_no_crash(package: Path) -> None:
    told, rest = parts(shipped(package))
    ends = sorted(begin + size for begin, size, _ in told["kernels"].values())
    rewrite(shipped(package), told, rest[: ends[0] + 1])
    found, compiled, _ = asked(package)
    assert found == [14.0, 2]
    assert len(compiled) >= len(ALL) - 2  # one is whole, which another may have in itself


WITHOUT = """
import json, sys
import numpy as np
from shoal.kernels.called import highest, squares
found = squares(np.arange(4.0)), int(highest(np.arange(3)))
if "strided" in sys.argv:
    found = squares(np.arange(8.0)[::2]), found[1]
if "true" in sys.argv:
    found = found[0], int(highest(np.array([True])))
print(json.dumps([found, "numba" in sys.modules]))
"""


def without(place: Path, *more: str, **environment: str) -> tuple[list[float], bool]:
    """Return what kernels find in a fresh process, and whether Numba was imported for it."""
    environment |= {"NUMBA_CACHE_DIR": str(place / "cache")}
    found, imported = json.loads(ran(place, "-c", WITHOUT, *more, **environment))
    return found, imported


def test_kernels_go_without_numba_where_they_fit(package: Path) -> None:
    assert without(package) == ([14.0, 2], False)
    assert not (package / "cache").exists()
    # Numba has to be asked for other types, and where it was told how to compile.
    assert without(package, "strided") == ([56.0, 2], True)
    assert without(package, NUMBA_BOUNDSCHECK="1") == ([14.0, 2], True)
    # What was compiled here goes without it as well, next time.
    assert without(package, "strided") == ([56.0, 2], False)


def test_types_that_a_kernel_does_not_take_are_refused(package: Path) -> None:
    """The bytes of a truth value are not those of a number."""
    with pytest.raises(AssertionError, match="TypeError"):
        without(package, "true")


def test_kept_kernels_go_without_numba_until_anything_changes(package: Path) -> None:
    shipped(package).unlink()
    assert without(package) == ([14.0, 2], True)
    assert without(package) == ([14.0, 2], False)
    (file,) = (package / "cache").glob("*.squares-*.kernel")
    whole = file.read_bytes()
    file.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    assert without(package) == ([14.0, 2], True)
    changed = package / "shoal" / "kernels" / "deeper" / "squared.py"
    changed.write_text(SQUARED.replace("value * value", "value + value"))
    # Bytecode is known by the size of a source, here the same, and its time, which may repeat.
    shutil.rmtree(changed.parent / "__pycache__", ignore_errors=True)
    shutil.rmtree(package / "cache", ignore_errors=False)
    assert without(package) == ([12.0, 2], True)
    assert without(package) == ([12.0, 2], False)


TOLD = ["sources", "Python", "Numba", "llvmlite", "NumPy", "platform", "told"]


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch, package: Path) -> Path:
    """The file of a package that is taken for this one."""
    monkeypatch.setattr(shipping, "HERE", package / "shoal" / "kernels")
    return shipped(package)


def found_in(file: Path, **other: str) -> int:
    """Return how many kernels of a file fit, anew."""
    told, _ = parts(file)
    given = {"platform": told["made for"]["platform"], "features": told["features"]} | other
    return count(file, **given)


def count(file: Path, platform: str, features: str) -> int:
    return len(shipping.fitting.__wrapped__(file, platform, features)[0])


def test_all_kernels_fit_where_nothing_differs(fits: Path) -> None:
    told, _ = parts(fits)
    assert found_in(fits) == len(told["kernels"]) == len(ALL)
    assert sorted(told["made for"]) == sorted(TOLD)
    assert told["made for"]["Numba"] == numba.__version__


@pytest.mark.parametrize("what", TOLD)
def test_none_fits_where_anything_differs(fits: Path, what: str) -> None:
    told, rest = parts(fits)
    here = told["made for"]["platform"]
    told["made for"][what] += "0"
    rewrite(fits, told, rest)
    assert found_in(fits, platform=here) == 0


def test_what_numba_is_told_is_known_without_it() -> None:
    program = """
import numba
from shoal.kernels.shipping import UNTOLD, compiler_told
assert compiler_told() == UNTOLD
"""
    ran(HERE / "src", "-c", program)


def test_none_fits_where_numba_is_told_to_compile_otherwise(
    fits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert found_in(fits) == 0


def test_a_processor_may_do_more_than_kernels_use_never_less(fits: Path) -> None:
    told, rest = parts(fits)
    told["features"] = "+one,+two"
    rewrite(fits, told, rest)
    assert found_in(fits, features="-zero,+two,+three,+one") == len(ALL)
    for less in ("", "+one", "+one,-two", "+two,+three", "-one,-two"):
        assert found_in(fits, features=less) == 0


def test_any_damage_to_what_a_file_says_is_noticed(fits: Path) -> None:
    told, _ = parts(fits)
    here = {"platform": told["made for"]["platform"], "features": told["features"]}
    assert count(fits, **here) == len(ALL)
    whole = fits.read_bytes()
    end = whole.index(b"\n", whole.index(b"\n") + 1)
    for place in range(0, end + 1, end // 200):
        fits.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert count(fits, **here) == 0, place
        fits.write_bytes(whole[:place])
        assert count(fits, **here) == 0, place


def test_a_source_more_or_less_or_under_another_name_is_another_package(fits: Path) -> None:
    before = shipping.sources()
    kernels = fits.parent
    seen = {before}
    (kernels / "more.py").write_text("")
    seen.add(shipping.sources())
    (kernels / "more.py").rename(kernels / "deeper" / "more.py")
    seen.add(shipping.sources())
    (kernels / "deeper" / "squared.py").rename(kernels / "deeper" / "more.py")
    seen.add(shipping.sources())
    assert len(seen) == 4


def test_every_kernel_is_made_of_what_is_looked_at() -> None:
    """No folder of kernels is deeper than the digest looks, and none takes code from elsewhere."""
    folder = HERE / "src" / "shoal" / "kernels"
    files = {*folder.rglob("*.py")}
    assert files == {*folder.glob("*.py"), *folder.glob("*/*.py")}
    for file in files:
        for line in file.read_text().splitlines():
            if line.strip().startswith(("import shoal", "from shoal", "from .")):
                assert line.strip().startswith("from shoal.kernels"), file.name


def test_every_module_of_kernels_is_compiled_for_shipping() -> None:
    program = """
import json, pkgutil, sys
import shoal.kernels
shoal.kernels.load_all()
found = pkgutil.walk_packages(shoal.kernels.__path__, "shoal.kernels.")
print(json.dumps([one.name for one in found if one.name not in sys.modules]))
"""
    assert json.loads(ran(HERE / "src", "-c", program)) == []


@pytest.fixture
def program() -> Any:
    """The program that makes what is shipped."""
    spec = spec_from_file_location("shipped_kernels", HERE / "scripts" / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("system", "machine", "lacking", "said"),
    [
        ("linux", "x86_64", {"avx2", "bmi"}, "lacks avx2, bmi of x86-64-v3"),
        ("linux", "aarch64", set(), "Linux on x86-64"),
        ("darwin", "x86_64", set(), "Linux on x86-64"),
    ],
)
def test_none_are_made_where_they_could_not_be_run(
    program: Any,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    machine: str,
    lacking: set[str],
    said: str,
) -> None:
    monkeypatch.setattr(program, "able", lambda: {*program.FEATURES} - lacking)
    monkeypatch.setattr(program.platform, "machine", lambda: machine)
    monkeypatch.setattr(program.sys, "platform", system)
    hook = program.Kernels(str(HERE), {}, None, None, "", "wheel")
    told: dict[str, Any] = {"force_include": {}}
    with pytest.raises(SystemExit, match=said):
        hook.initialize("standard", told)
    hook.initialize("editable", told)
    assert told == {"force_include": {}}
