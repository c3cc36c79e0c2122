"""A whole wheel with its kernels: made, installed where nothing is compiled, and run.

Where a processor is too old for them, no such wheel is made; the plain one then compiles as ever.
"""

import json
import os
import platform
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from llvmlite import binding

pytestmark = pytest.mark.long
HERE = Path(__file__).parents[2]
ASKED = [
    ("Exchange()", "EpsilonM(epsilon=2000, m=3)"),
    ("Exchange()", "EpsilonM(epsilon=0.05, m=4, relative=True)"),
    ("Exchange()", "KAnonymity(k=5)"),
    ("Split()", "EpsilonM(epsilon=2000, m=3)"),
    ("Split(partition='round-robin')", "EpsilonM(epsilon=2000, m=3)"),
    ("Mondrian()", "TCloseness(t=0.4, ground='ordered')"),
    ("Mondrian()", "DistinctL(l=4)"),
    ("Freeform()", "KAnonymity(k=5)"),
]
RUN = """
import hashlib, json, os, sys
from numba.core import event
compiled = []
class Watch(event.Listener):
    def on_start(self, one):
        compiled.append(one.data["dispatcher"].py_func.__qualname__)
    def on_end(self, one):
        pass
event.register("numba:compile", Watch())
import shoal
table = shoal.census(600)
schema = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
found = {}
for method, require in json.loads(os.environ["ASKED"]):
    release = shoal.anonymize(table, schema, require=require, method=method, seed=7)
    measured = release.audit().measured()
    rows = release.published.write_csv().encode()
    found[f"{method} {require}"] = [hashlib.sha256(rows).hexdigest(), release.loss, measured]
print(json.dumps([shoal.__file__, compiled, found], default=str))
"""
FITTING = """
{before}
from numba.core.registry import cpu_target
from shoal.kernels import shipping
platform, _, features = cpu_target.target_context.codegen().magic_tuple()
print(len(shipping.fitting(shipping.SHIPPED, platform, features)[0]))
"""


@dataclass
class Installed:
    """An environment of its own, and whether its wheel carries kernels."""

    python: Path
    package: Path
    carries: bool

    def say(self, program: str, **environment: str) -> Any:
        plain = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        done = run([self.python, "-c", program], env=plain | environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def run(command: list[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )


def able() -> bool:
    """Say whether kernels for x86-64-v3 run here."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return False
    here = binding.get_host_cpu_features()
    return all(here.get(one) for one in ("avx2", "fma", "bmi2", "f16c", "movbe", "lzcnt"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("wheel")
    make = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    make += ["--directory", str(place / "dist")]
    done = run(make, cwd=HERE, env=os.environ | {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"})
    assert (done.returncode == 0) is able(), done.stderr
    if not able():
        assert "Kernels are shipped" in done.stderr or "This processor lacks" in done.stderr
        assert run(make, cwd=HERE).returncode == 0
    (wheel,) = (place / "dist").glob("*.whl")
    assert run([sys.executable, "-m", "venv", place / "env"]).returncode == 0
    python = place / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--no-deps", "--no-index", wheel]
    assert run(pip).returncode == 0
    packages = next((place / "env" / "lib").glob("python*")) / "site-packages"
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib"))
    return Installed(python, packages / "shoal", able())


def test_a_wheel_with_kernels_says_where_it_fits_and_a_plain_one_fits_anywhere(
    installed: Installed, tmp_path: Path
) -> None:
    if installed.carries:
        (wheel,) = (installed.python.parents[2] / "dist").glob("*.whl")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        assert wheel.name.endswith(f"-{python}-{python}{sys.abiflags}-manylinux_2_17_x86_64.whl")
        with zipfile.ZipFile(wheel) as opened:
            assert "shoal/kernels/shipped.kernels" in opened.namelist()
            assert not [name for name in opened.namelist() if name.endswith((".nbi", ".nbc"))]
            assert str(HERE).encode() not in opened.read("shoal/kernels/shipped.kernels")
    make = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    assert run([*make, "--directory", tmp_path], cwd=HERE).returncode == 0
    (plain,) = tmp_path.glob("*.whl")
    assert plain.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(plain) as opened:
        assert not [name for name in opened.namelist() if "shipped.kernels" in name]


def test_a_first_run_compiles_nothing_and_finds_what_kernels_made_here_find(
    installed: Installed,
) -> None:
    file, compiled, found = installed.say(RUN, ASKED=json.dumps(ASKED))
    assert Path(file).parent == installed.package
    assert bool(compiled) is not installed.carries
    kept = [*installed.package.rglob("*.nb[ic]")]
    assert bool(kept) is not installed.carries
    # Those of this directory are compiled for this very processor: every cell and every measured
    # number is the same.
    here = run([sys.executable, "-c", RUN], env=os.environ | {"ASKED": json.dumps(ASKED)})
    assert here.returncode == 0, here.stderr
    assert json.loads(here.stdout)[2] == found


def test_after_a_change_kernels_are_compiled_and_kept(installed: Installed) -> None:
    source = installed.package / "kernels" / "windows.py"
    before = source.read_bytes()
    source.write_bytes(before + b"\n# changed\n")
    found = [installed.say(RUN, ASKED=json.dumps(ASKED[-2:-1])) for _ in range(2)]
    source.write_bytes(before)
    (_, compiled, first), (_, again, second) = found
    assert compiled
    assert not again
    assert first == second


def test_another_version_or_an_older_processor_takes_none(installed: Installed) -> None:
    assert bool(installed.say(FITTING.format(before=""))) is installed.carries
    for name in ("numba", "llvmlite"):
        before = (
            "from shoal.kernels import shipping; was = shipping.version_of\n"
            f"shipping.version_of = lambda one: was(one) + '0' * (one == {name!r})"
        )
        assert installed.say(FITTING.format(before=before)) == 0
    assert installed.say(FITTING.format(before=""), NUMBA_ENABLE_AVX="0") == 0
    assert installed.say(FITTING.format(before=""), NUMBA_CPU_FEATURES="") == 0
