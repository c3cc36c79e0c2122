"""A manifest is hostile input: whatever is spoiled in it or in a file beside it, is noticed."""

import hashlib
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.audit.described import Wrong
from shoal.audit.files import audit_directory
from shoal.audit.tables import check_shape
from shoal.notation import known_terms, parse
from system.shell import anonymize, people, write_csv
from system.shell import shoal as run

EPSILON_M = "EpsilonM(epsilon=500, m=3)"
HUGE = 10**400
WRONG: tuple[Any, ...] = (
    None, True, False, "", "x", "1", [], {}, [[]], {"a": {}}, -1, -0.5, 1.5, 2**64, HUGE, -HUGE,
    float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
TREE = {
    "leaves": 5,
    "nodes": [
        {"name": "*", "parent": None, "leaves": 5},
        {"name": "a", "parent": "*", "leaves": 3},
        {"name": "b", "parent": "a", "leaves": 1},
    ],
}
# What the tables cannot tell to be false, as long as it is of the right shape: the report can.
TAKEN_ON_TRUST = {"shoal", "id", "title", "method", "date", "threshold"}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("honest")
    rows = people(60)
    rows[7]["town"] = ""
    table = write_csv(base / "table.csv", rows)
    options = ("--title", "Salaries", "--weight", "age=2", "--type", "town=categorical")
    more = ("--decimal", ".", "--escape-formulas")
    seeded = ("--missing", "drop", "--seed", "1")
    made = anonymize(table, base / "out", *options, *more, *seeded, require=EPSILON_M)
    assert made.code == 0, made
    return base / "out"


@pytest.fixture
def copy(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "out"))


def read(directory: Path) -> dict[str, Any]:
    found = json.loads((directory / "manifest.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def state(directory: Path, manifest: Any) -> None:
    (directory / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def verdict(directory: Path) -> str:
    """Return how an audit ends: accepted, rejected (exit 1) or refused (exit 2).

    The report is not looked at, so that more than the report has to notice.
    """
    try:
        found = audit_directory(directory)
    except (shoal.UsageError, shoal.InputError):  # exit 2
        return "refused"
    return "accepted" if found.holds else "rejected"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value of a manifest."""
    if path:
        yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from places(value[key], (*path, key))


def changed(manifest: dict[str, Any], path: tuple[Any, ...], change: Callable[..., None]) -> Any:
    """Return a copy of a manifest, changed in one place."""
    found = json.loads(json.dumps(manifest))
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return found


def put(value: Any) -> Callable[..., None]:
    def change(inner: Any, key: Any) -> None:
        inner[key] = value

    return change


def same(one: Any, two: Any) -> bool:
    return type(one) is type(two) and one == two


def test_every_value_spoiled_in_every_way_is_refused_or_rejected(copy: Path) -> None:
    manifest = read(copy)
    tried = 0
    for path in list(places(manifest)):
        for wrong in WRONG:
            if same(_at(manifest, path), wrong) or _still_true(path, wrong):
                continue
            spoiled = changed(manifest, path, put(wrong))
            tried += 1
            try:
                check_shape(spoiled)
            except Wrong:
                continue  # which `read_manifest` says with exit 2
            state(copy, spoiled)
            assert verdict(copy) != "accepted", (path, wrong)
    assert tried > 1000


def _still_true(path: tuple[Any, ...], wrong: Any) -> bool:
    """Return whether a value of the right shape is believed, there being nothing to compare."""
    trusted = next((key for key in path if key in TAKEN_ON_TRUST), None)
    if trusted == "threshold":
        return isinstance(wrong, int | float) and not isinstance(wrong, bool) and 0 < wrong < 1
    return isinstance(wrong, str) and trusted == "title"


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("shoal", "9.9.9"), ("id", "0" * 32), ("title", "Wages"), ("method", "Split()"),
        ("date", "2001-01-01"), ("reproducible", None),
    ],
)  # fmt: skip
def test_what_tables_cannot_tell_the_report_does(copy: Path, key: str, other: Any) -> None:
    spoiled = read(copy) | {key: other}
    state(copy, {name: said for name, said in spoiled.items() if said is not None})
    assert verdict(copy) == "accepted"
    assert any("report.html" in one for one in shoal.audit(copy).problems)


def test_every_number_that_is_measured_is_compared(copy: Path) -> None:
    manifest = read(copy)
    for path in list(places(manifest)):
        value = _at(manifest, path)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if path[0] == "threshold":
            continue
        for other in (value + 1, value * 2 + 1, value - 1, value + 1e-6):
            state(copy, changed(manifest, path, put(other)))
            assert verdict(copy) in {"rejected", "refused"}, (path, other)


def test_a_key_that_is_missing_renamed_or_unknown_is_refused(copy: Path) -> None:
    manifest = read(copy)
    optional = {"title", "reproducible"}
    objects = [(), *(p for p in places(manifest) if isinstance(_at(manifest, p), dict))]
    for path in objects:
        for key in _at(manifest, path):
            spoiled = json.loads(json.dumps(manifest))
            inner = _at(spoiled, path)
            value = inner.pop(key)
            if key not in optional:
                state(copy, spoiled)
                assert verdict(copy) != "accepted", (path, key)
            inner[key + "s"] = value
            state(copy, spoiled)
            assert verdict(copy) != "accepted", (path, key)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


TEXTS: dict[str, Callable[[str], str]] = {
    "nothing": lambda _: "",
    "a list": lambda _: "[]",
    "a number": lambda _: "5",
    "a key twice": lambda text: text.replace('"rows":', '"rows": 1, "rows":', 1),
    "a key twice, deep": lambda text: text.replace('"gcp":', '"gcp": 0, "gcp":', 1),
    "a key twice, escaped": lambda text: text.replace('"rows":', '"ro\\u0077s": 1, "rows":', 1),
    "NaN": lambda text: text.replace('"rows": 59', '"rows": NaN', 1),
    "an infinity": lambda text: text.replace('"rows": 59', '"rows": -Infinity', 1),
    "a huge double": lambda text: text.replace('"rows": 59', '"rows": 1e999', 1),
    "5,000 digits": lambda text: text.replace('"rows": 59', '"rows": ' + "9" * 5000, 1),
    "deep lists": lambda text: text.replace('"rows": 59', '"rows": ' + "[" * 100_000, 1),
    "deep closed lists": lambda _: "[" * 100_000 + "]" * 100_000,
    "deep objects": lambda _: '{"rows":' * 100_000 + "1" + "}" * 100_000,
    "deep and not too deep": lambda _: "[" * 500 + "]" * 500,
    "half a pair": lambda text: text.replace("Salaries", "\\ud800", 1),
    "cut": lambda text: text[:-10],
    "twice": lambda text: text + text,
}


@pytest.mark.parametrize("name", TEXTS)
def test_json_that_has_no_one_reading_is_refused(copy: Path, name: str) -> None:
    path = copy / "manifest.json"
    before = path.read_text("utf-8")
    after = TEXTS[name](before)
    assert before != after
    path.write_text(after, "utf-8")
    outcome = run("audit", copy)
    assert outcome.code == 2, outcome
    assert "manifest.json" in outcome.said
    assert "unforeseen" not in outcome.said
    assert not outcome.out


def domains() -> Iterator[dict[str, Any]]:
    """Yield node domains that are none."""
    for path in places(TREE):
        for wrong in (*WRONG, 6):
            if not same(_at(TREE, path), wrong):
                yield changed(TREE, path, put(wrong))
    for change in ({"parent": "b"}, {"parent": "nobody"}, {"name": "*"}):
        for node in (1, 2):
            yield changed(TREE, ("nodes", node), lambda n, k, c=change: n[k].update(c))


def test_published_nodes_are_checked_like_everything_else(copy: Path) -> None:
    manifest = read(copy)
    (column,) = (c for c in manifest["columns"] if c["name"] == "score")
    column.update(kind="node", domain=TREE, hierarchy="Quantiles(parts=3)")
    check_shape(manifest)
    del column["hierarchy"]
    check_shape(manifest)
    tried = 0
    for domain in domains():
        column["domain"] = domain
        if _is_tree(domain):
            check_shape(manifest)
            continue
        tried += 1
        with pytest.raises(Wrong):
            check_shape(manifest)
    assert tried > 100


def _is_tree(domain: Any) -> bool:
    """Return whether a domain is one, by another way than that of the check."""
    try:
        nodes = {node["name"]: node for node in domain["nodes"]}
        leaves = [domain["leaves"], *(node["leaves"] for node in nodes.values())]
        roots = [node["leaves"] for node in nodes.values() if node["parent"] is None]
        roots += [0] * (set(domain) != {"leaves", "nodes"})
        if len(nodes) < len(domain["nodes"]) or roots != [domain["leaves"]]:
            return False
        if any(type(n) is not int or not 1 <= n <= domain["leaves"] <= 2**53 for n in leaves):
            return False
        for node in nodes.values():
            if set(node) != {"name", "parent", "leaves"} or not isinstance(node["name"], str):
                return False
            up = node
            for _ in nodes:
                if up["parent"] is None:
                    break
                if up["leaves"] > nodes[up["parent"]]["leaves"]:
                    return False
                up = nodes[up["parent"]]
            if up["parent"] is not None:
                return False
    except (TypeError, KeyError, AttributeError):
        return False
    return True


# Files


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Return a pipe: whoever opens it to read waits for ever."""
    path = tmp_path / "trap"
    os.mkfifo(path)
    return path


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """Return a list that every file is added to that this process opens."""
    found: list[str] = []
    sys.addaudithook(lambda event, args: found.append(str(args[0])) if event == "open" else None)
    return found


def test_no_term_of_a_manifest_opens_a_file(trap: Path, opened: list[str]) -> None:
    # Every parameter of everything the notation knows, in every role it may stand in.
    for name, kind in known_terms().items():
        for field in kind.__dataclass_fields__:  # type: ignore[attr-defined]
            for value in (repr(str(trap)), f"[{str(trap)!r}]", f"Lookup(file={str(trap)!r})"):
                try:
                    parse(f"{name}({field}={value})", files=False)
                except shoal.ShoalError:
                    continue
    assert str(trap) not in opened


@pytest.mark.parametrize("term", ["Lookup(file={0!r})", "Hierarchical(file={0!r})"])
def test_a_manifest_that_names_a_file_is_refused(
    copy: Path, trap: Path, opened: list[str], term: str
) -> None:
    inner = term.format(str(trap))
    distance = f"Dissimilarity(epsilon=0.1, delta=0.5, k=2, distance={inner})"
    manifest = read(copy)
    spoils: list[Callable[[dict[str, Any]], object]] = [
        lambda m: m.update(require=[distance]),
        lambda m: m.update(require=[EPSILON_M, f"salary: {distance}"]),
        lambda m: m.update(require=[f"TCloseness(t=0.5, ground={inner})"]),
        lambda m: m.update(method=distance),
        lambda m: m.update(method=inner),
        lambda m: m["columns"][3].update(kind="node", domain=TREE, hierarchy=inner),
        lambda m: m["columns"][3].update(kind="node", domain=TREE, hierarchy=str(trap)),
        lambda m: m["columns"][3].update(kind="node", domain=str(trap)),
        lambda m: m["digests"].update({str(trap): "sha256:" + "0" * 64}),
        lambda m: m["digests"].update({"../trap": "sha256:" + "0" * 64}),
    ]
    for spoil in spoils:
        spoiled = json.loads(json.dumps(manifest))
        spoil(spoiled)
        state(copy, spoiled)
        outcome = run("audit", copy)
        assert outcome.code == 2, outcome
        assert "manifest.json" in outcome.said
    assert str(trap) not in opened


@pytest.mark.parametrize("name", ["release.csv", "manifest.json", "report.html"])
@pytest.mark.parametrize("link", [True, False])
def test_what_is_no_ordinary_file_is_not_opened(
    copy: Path, trap: Path, name: str, *, link: bool
) -> None:
    (copy / name).unlink()
    if link:
        (copy / name).symlink_to(trap)
    else:
        os.mkfifo(copy / name)
    assert run("audit", copy).code == (2 if name == "manifest.json" else 1)
    if name == "release.csv":
        with pytest.raises(shoal.AuditFailed):
            shoal.count(copy, "age > 3")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["release.csv", "manifest.json", "report.html"])
def test_any_byte_changed_added_or_taken_away_is_noticed(copy: Path, name: str) -> None:
    chance = random.Random(name)
    path = copy / name
    if name == "manifest.json":  # of which every run is to change the same places
        manifest = read(copy)
        path.write_text(json.dumps(manifest | {"id": "0" * 32}, indent=2))
    before = path.read_bytes()
    for turn in range(40):
        place = chance.randrange(len(before))
        other = bytes([before[place] ^ chance.choice((1, 2, 4, 8, 16, 32, 64, 128))])
        after = [
            before[:place] + other + before[place + 1 :],
            before[:place] + before[place + 1 :],
            before[:place] + other + before[place:],
        ][turn % 3]
        path.write_bytes(after)
        if name == "manifest.json" and _same_but_trusted(before, after):
            continue
        assert verdict(copy) in {"rejected", "refused"}, (name, place, other)


def _same_but_trusted(before: bytes, after: bytes) -> bool:
    """Return whether two manifests say the same but for what is taken on trust."""
    try:
        one, two = json.loads(before), json.loads(after)
    except ValueError:
        return False
    for manifest in (one, two):
        if not isinstance(manifest, dict):
            return False
        for key in TAKEN_ON_TRUST:
            manifest.pop(key, None)
        if manifest.get("decimal") in {".", ","}:  # which no cell of this table tells
            del manifest["decimal"]
        if "require" in manifest:  # spaces in a term say nothing
            manifest["require"] = [text.replace(" ", "") for text in manifest["require"]]
        for column in manifest.get("columns", []):
            column.pop("weight", None)
            column.pop("type", None)
    losses = [_losses(one), _losses(two)]
    return bool(one == two) and all(
        type(losses[1].get(name)) is float and abs(losses[1][name] - loss) <= 1e-9
        for name, loss in losses[0].items()
    )


def _losses(manifest: dict[str, Any]) -> dict[str, Any]:
    """Take the losses out of a manifest; they are compared to nine digits."""
    loss = manifest.pop("loss", {})
    return {"gcp": loss.get("gcp"), **loss.get("ncp", {})}


def test_any_cell_of_any_column_changed_is_noticed(copy: Path) -> None:
    path = copy / "release.csv"
    header, *lines = path.read_text("utf-8").split("\n")
    names = header.split(",")
    assert names == ["group", "age", "note", "town", "score", "salary"]
    for name, old, new in (("salary", "0", "1"), ("note", "plain", "plein")):
        place = next(i for i, line in enumerate(lines) if old in line)
        spoiled = [*lines]
        spoiled[place] = new.join(spoiled[place].rsplit(old, 1))
        path.write_text("\n".join([header, *spoiled]), "utf-8")
        outcome = run("audit", copy, "--json")
        assert outcome.code == 1, name
        assert "'release.csv' is not the one" in " ".join(outcome.json()["problems"])


def test_a_missing_file_fails_and_another_is_only_named(copy: Path) -> None:
    (copy / "notes.txt").write_text("x", "utf-8")
    (copy / "more").mkdir()
    (copy / "more" / "secret.csv").write_text("x", "utf-8")
    outcome = run("audit", copy, "--json")
    assert outcome.code == 0
    (warning,) = outcome.json()["warnings"]
    assert "'more/secret.csv', 'notes.txt'" in warning
    assert "Warning" in outcome.said
    for name in ("report.html", "release.csv"):
        (copy / name).unlink()
        outcome = run("audit", copy, "--json")
        assert outcome.code == 1
        assert f"'{name}' is missing" in " ".join(outcome.json()["problems"])
        assert run("audit", copy).code == 1


# What it says


def test_the_audit_says_first_how_the_manifest_reads_cells(copy: Path) -> None:
    outcome = run("audit", copy)
    first = " ".join(outcome.out.split("Measured")[0].split())
    assert "decimal sign '.'" in first
    assert "apostrophe" in first
    assert "'town' is of type categorical" in first
    assert len(run("audit", copy, "--json").json()["reading"]) == 3


def test_the_manifest_names_itself_its_rows_and_its_files(honest: Path) -> None:
    manifest = read(honest)
    assert len(bytes.fromhex(manifest["id"])) == 16
    assert manifest["title"] == "Salaries"
    assert manifest["form"] == "intervals"
    assert (manifest["rows_in"], manifest["dropped"], manifest["rows"]) == (60, 1, 59)
    assert manifest["digests"] == {
        name: f"sha256:{hashlib.sha256((honest / name).read_bytes()).hexdigest()}"
        for name in ("codebook.csv", "release.csv", "report.html")
    }
    page = (honest / "report.html").read_text("utf-8")
    assert manifest["digests"]["release.csv"] in page
    assert "<h1>Salaries" in page


def test_a_seed_repeats_all_but_times_id_and_what_follows(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "table.csv", people(60))
    found = []
    for name in ("one", "two"):
        assert anonymize(table, tmp_path / name, "--seed", "7", require=EPSILON_M).code == 0
        found.append(read(tmp_path / name))
    one, two = found
    assert one.pop("id") != two.pop("id")
    digests = [one.pop("digests"), two.pop("digests")]
    assert digests[0]["release.csv"] == digests[1]["release.csv"]
    assert one == two


@pytest.mark.parametrize("title", ["", "  ", "two\nlines", "x" * 201, "\x1b[31mred"])
def test_a_title_that_is_none_is_refused(tmp_path: Path, title: str) -> None:
    table = write_csv(tmp_path / "table.csv", people(60))
    outcome = anonymize(table, tmp_path / "out", "--title", title, require=EPSILON_M)
    assert outcome.code == 2
    assert "title" in outcome.said
    assert not (tmp_path / "out").exists()


def test_a_schema_file_may_give_the_title(tmp_path: Path) -> None:
    write_csv(tmp_path / "table.csv", people(60))
    (tmp_path / "schema.toml").write_text(
        'table = "table.csv"\nquasi = ["age"]\nsensitive = "salary"\ntitle = "Pay"\n'
        f'require = "{EPSILON_M}"\noutput = "out"\n',
        "utf-8",
    )
    assert run("anonymize", "--schema", tmp_path / "schema.toml").code == 0
    assert read(tmp_path / "out")["title"] == "Pay"


def test_json_lines_and_hierarchies_with_a_key_twice_are_refused(tmp_path: Path) -> None:
    lines = ['{"age": 1, "pay": 2}', '{"age": 1, "pay": 3, "age": 4}']
    for twice in (lines[1], '{"age": 1, "pay": 3, "\\u0061ge": 4}'):
        (tmp_path / "t.jsonl").write_text(f"{lines[0]}\n{twice}\n", "utf-8")
        options = ("--quasi", "age", "--sensitive", "pay", "--require", "KAnonymity(k=2)")
        outcome = run("audit", tmp_path / "t.jsonl", *options)
        assert outcome.code == 2
        assert "Line 2" in outcome.said
        assert "twice" in outcome.said
    (tmp_path / "tree.json").write_text('{"a": ["1"], "b": ["2"], "a": ["3"]}', "utf-8")
    table = write_csv(tmp_path / "table.csv", people(60))
    tree = f"town={tmp_path / 'tree.json'}"
    outcome = anonymize(table, tmp_path / "out", "--hierarchy", tree, require=EPSILON_M)
    assert outcome.code == 2
    assert "twice" in outcome.said


@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
@pytest.mark.parametrize("said", ["intervals", "bounds", "means", "two-tables"])
def test_another_form_than_that_of_the_files_is_told_in_words(place, form, said):
    rows = [{"age": str(20 + i), "pay": str(100 * i)} for i in range(12)]
    asked = ("--require", "EpsilonM(epsilon=1, m=2)", "--form", form, "--output", place / "out")
    table = write_csv(place / "t.csv", rows)
    assert run("anonymize", table, "--quasi", "age", "--sensitive", "pay", *asked).code == 0
    path = place / "out" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"form": said}))
    told = run("audit", place / "out")
    assert told.code == (0 if said == form else told.code)
    assert said == form or (told.code in {1, 2} and "unforeseen" not in told.said)


@pytest.mark.parametrize("suppressed", [-1, 1, 7])
def test_people_who_were_left_out_have_rows_that_were(place, suppressed):
    rows = [{"who": str(i // 2), "age": str(20 + i // 2), "pay": str(i)} for i in range(24)]
    rows += [{"who": "far", "age": "99", "pay": "3"}]
    asked = ("--require", "KAnonymity(k=3)", "--suppress", "10%", "--output", place / "out")
    roles = ("--person", "who", "--quasi", "age", "--sensitive", "pay")
    assert run("anonymize", write_csv(place / "t.csv", rows), *roles, *asked).code == 0
    path = place / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    assert (manifest["suppressed"], manifest["suppressed_people"]) == (1, 1)
    manifest["suppressed_people"] += suppressed
    path.write_text(json.dumps(manifest))
    assert run("audit", place / "out").code == 1
