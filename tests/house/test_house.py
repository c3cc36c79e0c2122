"""The rules that keep the house as it is: who may know whom, and what stands where."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import shoal
from house.source import ROOT, SOURCE, modules, room
from shoal.names import homes
from shoal.principles.base import Principle
from shoal.release.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OF_CLI = {"cli", "views", "web"}  # `serve` starts the page
PUBLIC = ("shoal", *(f"shoal.{name}" for name, home in homes("shoal").items() if home == "shoal"))
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def imported(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield each module that is imported, with each name that is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every string of a module with its line, docstrings and parts of f-strings included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_flag_stands_outside_the_command_line():
    found = [
        f"{name}:{line}: {FLAG.findall(text)}"
        for name, tree in modules().items()
        if room(name) != "cli"
        for line, text in texts(tree)
        if FLAG.search(text)
    ]
    assert found == []


def formats(tree: ast.Module) -> Iterator[str]:
    """Yield how values are written into the strings of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            yield ast.unparse(node.format_spec)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\{:[^{}]*%\}", node.value)


def test_one_place_spells_what_is_in_per_cent():
    """So that no page says 5.05 % where the terminal says 5.05%."""
    formatted = [
        f"{name}: {one}"
        for name, tree in modules().items()
        if name != "shoal.exact"
        for one in formats(tree)
        if one.rstrip("'\"}").endswith("%")
    ]
    spaced = [
        f"{name}:{line}: {text}"
        for name, tree in modules().items()
        for line, text in texts(tree)
        if re.search(r"(^|\d)[ \u00a0]%(?![\w({])", text)
    ]
    pages = [
        f"{path.name}: {found}"
        for path in sorted((SOURCE / "shoal").rglob("templates/*.html"))
        for found in re.findall(
            r"(?:\d|\}\})(?:[ \u00a0]|&nbsp;)+%(?![}])", path.read_text("utf-8")
        )
    ]
    assert formatted == []
    assert spaced == []
    assert pages == []


def test_no_class_name_stands_twice():
    names = Counter(
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_no_algorithm_audit_or_view_names_a_principle():
    principles = {
        name
        for name in dir(shoal.principles)
        if inspect.isclass(one := getattr(shoal.principles, name)) and issubclass(one, Principle)
    }
    assert len(principles) > 15
    found = [
        f"{name} imports {taken}"
        for name, tree in modules().items()
        if room(name) in {"methods", "audit", "views"}
        for module, taken in imported(tree)
        if module.startswith("shoal") and taken in principles
    ]
    assert found == []


def test_the_command_line_knows_the_public_names_and_the_views_alone():
    found = [
        f"{name} imports {module}"
        for name, tree in modules().items()
        if room(name) == "cli"
        for module, _ in imported(tree)
        if module.startswith("shoal") and module not in PUBLIC and room(module) not in OF_CLI
    ]
    assert found == []


FRAMELESS = {"kernels", "principles", "distances", "methods", "views", "cli", "web"}


def test_what_searches_and_what_shows_knows_no_frames():
    """Frames are read, coded, published and measured; a search sees codes, a view sees facts."""
    known = {
        name
        for name, tree in modules().items()
        if room(name) in FRAMELESS
        and any(module.split(".")[0] == "polars" for module, _ in imported(executed(tree)))
    }
    assert known == set()


def executed(tree: ast.Module) -> ast.Module:
    """Return a module without what only a type checker reads."""
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return ast.Module(body, [])


def test_what_is_searched_does_not_depend_on_the_processor():
    """BLAS adds in another order on every kind of processor, and a last digit may decide."""
    searching = {"methods", "kernels", "release", "engines", "table", "distances", "principles"}
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if room(name) in searching
        and (
            (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
            or (isinstance(node, ast.Attribute) and node.attr in {"dot", "matmul", "vdot"})
        )
    ]
    assert found == []


def test_layers_have_no_exceptions():
    for contract in SETTINGS["tool"]["importlinter"]["contracts"]:
        assert contract.get("ignore_imports", []) == []


def test_a_manifest_has_fields_and_no_keys():
    assert not hasattr(Manifest, "__getitem__")


@pytest.mark.parametrize("space", PUBLIC)
def test_a_public_name_has_its_page(space):
    reference = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    own = [name for name in dir(import_module(space)) if name != "__version__"]
    entries = r"(?m)^#+ shoal\.{0}$|\[`{0}[`(]|^\| `{0}` "
    assert [name for name in own if not re.search(entries.format(name), reference)] == []


def test_types_and_public_names_ship():
    assert (SOURCE / "shoal" / "py.typed").exists()
    for space in PUBLIC:
        assert Path(str(import_module(space).__file__)).with_suffix(".pyi").exists()


def test_public_names_are_all_that_is_shown_and_no_room_hides_one():
    import shoal.audit.files  # a room of this name is imported, and the public name stays

    assert len(dir(shoal)) <= 40
    for space in map(import_module, PUBLIC):
        assert sorted(dir(space)) == sorted(space.__all__)
        assert [name for name in dir(space) if name.startswith("_")] in ([], ["__version__"])
        shown = {f"shoal.{name}" for name in dir(space) if inspect.ismodule(getattr(space, name))}
        assert shown == (set(PUBLIC) - {"shoal"} if space is shoal else set())


def test_a_name_that_has_moved_is_found_with_a_warning_that_says_where():
    with pytest.warns(DeprecationWarning, match=r"Write shoal\.principles\.EpsilonM\."):
        assert getattr(shoal, "EpsilonM") is shoal.principles.EpsilonM  # noqa: B009
    with pytest.raises(AttributeError, match="has no attribute 'Epsilon'"):
        getattr(shoal, "Epsilon")  # noqa: B009
    names = Counter(name for space in PUBLIC for name in dir(import_module(space)))
    assert {name: times for name, times in names.items() if times > 1} == {}


def test_what_is_pointed_at_is_there():
    """A file or module that code, CONTRIBUTING.md or a page names exists."""
    rooms = "|".join(sorted({room(name) for name in modules() if "." in name}))
    pointed = re.compile(rf"(?<![\w/.-])(?:src/shoal/)?((?:{rooms})/[a-z_/]+)\.py\b")
    pages = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*(SOURCE / "shoal").rglob("*.py"), *pages]
        for name in pointed.findall(path.read_text("utf-8"))
        if not (SOURCE / "shoal" / f"{name}.py").exists()
    ]
    assert found == []
