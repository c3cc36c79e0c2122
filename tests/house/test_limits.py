"""What only falls: how much there is to read, and what still has the name of something else.

`limits.toml` holds how far each of them is allowed today; whoever lowers one lowers it there, or a
test fails as well.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import shoal
from house.source import ROOT, lines, modules, room
from shoal.engines.base import Engine
from shoal.methods.base import Method
from shoal.principles.base import Principle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

LIMITS = tomllib.loads((Path(__file__).parent / "limits.toml").read_text("utf-8"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60  # lines
ROOM = 1_000  # lines that all modules together may grow by before something has to go
NO_NAMES = {"__init__", "base"}  # of modules: what they are is said by their room
Function = ast.FunctionDef | ast.AsyncFunctionDef


def over(found: Mapping[str, int], allowed: Mapping[str, int], limit: int = 0) -> dict[str, str]:
    """Return what is over the limit, or over what it is allowed beyond it."""
    return {
        name: f"{number}, and {max(limit, allowed.get(name, 0))} are allowed"
        for name, number in found.items()
        if number > max(limit, allowed.get(name, 0))
    }


def off(found: Mapping[str, int], allowed: Mapping[str, int], limit: int = 0) -> dict[str, str]:
    """Return what is over its limit, and what is allowed in vain."""
    idle = {
        name: f"{found.get(name, 0)}, and {number} are allowed: lower it"
        for name, number in allowed.items()
        if number > found.get(name, 0) or limit >= number > 0
    }
    return over(found, allowed, limit) | idle


def shared(homes: Mapping[str, set[str]]) -> dict[str, int]:
    """Return in how many places a name stands."""
    return {name: len(places) for name, places in homes.items()}


def test_a_limit_is_neither_exceeded_nor_higher_than_it_has_to_be():
    assert off({"found": 3, "new": 2}, {"found": 3, "new": 2}, 1) == {}
    assert off({"more": 3, "new": 2, "few": 1}, {"more": 2, "few": 1}, 1).keys() == {
        "more",
        "new",
        "few",
    }
    assert off({"fewer": 2}, {"fewer": 3, "gone": 2}, 1).keys() == {"fewer", "gone"}


def functions() -> Iterator[tuple[str, Function]]:
    """Yield every function with the name of its module."""
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield name, node


WALKED = """
import json, sys
import walk
from pathlib import Path
place = Path(sys.argv[1])
asked = walk.plain(place)
if sys.argv[2] == "audit":
    asked = ("audit", asked[-1])
entered, loaded = walk.walk(*asked)
print(json.dumps([sorted(entered), loaded, sorted(sys.modules)]))
"""


def walked(place: Path, command: str) -> list[list[str]]:
    """Return what a command enters and loads, of Shoal and of anybody, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", WALKED, str(place), command],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """Return what is entered and loaded by a plain `anonymize`, then by an audit of it."""
    place = tmp_path_factory.mktemp("walked")
    return {command: walked(place, command) for command in ("anonymize", "audit")}


def test_a_plain_run_enters_and_loads_few_modules(commands):
    entered, loaded, _ = commands["anonymize"]
    assert "shoal.methods.splitting" in entered
    found = {"entered": len(entered), "loaded": len(loaded)}
    assert over(found, LIMITS["walk"]) == {}


def test_an_audit_loads_no_method_and_nothing_of_spark(commands):
    entered, loaded, everybody = commands["audit"]
    assert "shoal.audit.files" in entered
    methods = [name for name in loaded if room(name) == "methods"]
    assert over({"methods in an audit": len(methods)}, LIMITS["walk"]) == {}, methods
    assert [name for name in loaded if name.startswith("shoal.engines.spark")] == []
    assert {"pyspark", "py4j"}.isdisjoint(everybody)


def test_any_is_said_seldom():
    found = sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for tree in modules().values()
        for node in ast.walk(tree)
    )
    assert off({"Any": found}, LIMITS["types"]) == {}


def test_nothing_is_decided_by_the_words_of_a_sentence():
    """What a refusal says is for people; programs ask for its fields."""
    found = {
        name: sum(
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and isinstance(node.comparators[0], ast.Attribute)
            and node.comparators[0].attr == "sentence"
            for node in ast.walk(tree)
        )
        for name, tree in modules().items()
    }
    assert off(found, LIMITS["decisions by a sentence"]) == {}


def test_no_two_modules_share_a_name():
    homes = defaultdict(set)
    for name in modules():
        own = name.rpartition(".")[2]
        if own not in NO_NAMES and not is_package(name):
            homes[own].add(name)
    assert len(homes) > 100
    assert off(shared(homes), LIMITS["modules of one name"], 1) == {}


def is_package(name: str) -> bool:
    return any(other.startswith(f"{name}.") for other in modules())


def test_no_two_public_functions_share_a_name():
    """Of functions that modules have: those of classes are what their class makes them."""
    homes = defaultdict(set)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                homes[node.name].add(name)
    assert len(homes) > 500
    assert off(shared(homes), LIMITS["functions of one name"], 1) == {}


def test_modules_are_short():
    found = {name: lines(name) for name in modules()}
    assert off(found, LIMITS["lines of modules"], LONGEST_MODULE) == {}


def test_the_house_does_not_grow():
    allowed, whole = LIMITS["house"], sum(map(lines, modules()))
    assert len(modules()) == allowed["modules"]
    assert allowed["lines"] - ROOM < whole <= allowed["lines"]


def test_functions_are_short():
    found: dict[str, int] = {}
    for name, node in functions():
        assert node.end_lineno is not None
        length = node.end_lineno - node.lineno + 1
        own = f"{name}.{node.name}"
        found[own] = max(length, found.get(own, 0))
    assert off(found, LIMITS["lines of functions"], LONGEST_FUNCTION) == {}


def family(base: type) -> set[str]:
    """Return the names of a class and of all that derive from it."""
    return {base.__name__}.union(*map(family, base.__subclasses__()))


def asked_for(tree: ast.Module) -> Iterator[str]:
    """Yield the classes that `isinstance` and `issubclass` name in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
            for one in ast.walk(node.args[1]):
                yield one.id if isinstance(one, ast.Name) else getattr(one, "attr", "")


def families() -> dict[str, set[str]]:
    """Return the names of the members of each family, by their room."""
    for space, name in (
        (shoal, "Local"),
        (shoal, "Spark"),
        *public(shoal.principles, shoal.methods),
    ):
        getattr(space, name)  # which loads it
    return {
        "engines": family(Engine),
        "principles": family(Principle) - {"Principle"},
        "methods": family(Method),
    }


def public(*spaces: ModuleType) -> Iterator[tuple[ModuleType, str]]:
    return ((space, name) for space in spaces for name in dir(space))


@pytest.mark.parametrize("home", ["engines", "principles", "methods"])
def test_members_of_a_family_are_told_apart_in_their_room_alone(home):
    members = families()[home]
    assert len(members) > 2
    found = sum(
        one in members
        for name, tree in modules().items()
        if room(name) != home
        for one in asked_for(tree)
    )
    assert off({home: found}, {home: LIMITS["isinstance outside the room"][home]}) == {}


@pytest.mark.parametrize("shows", ["web", "views"])
def test_what_shows_names_no_principle(shows):
    names = families()["principles"]
    assert len(names) > 15
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        if room(name) == shows
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Constant)
        and names & words(node.id if isinstance(node, ast.Name) else node.value)
    ]
    found += [
        path.name
        for path in (ROOT / "src/shoal" / shows).rglob("*.html")
        if names & words(path.read_text("utf-8"))
    ]
    assert off({shows: len(found)}, {shows: LIMITS["names of principles"][shows]}) == {}, found


def words(value: object) -> set[str]:
    """Return the words of a text, as far as names of Python go."""
    return set("".join(c if c.isalnum() else " " for c in str(value)).split())
