"""What a manifest and its tables say in numbers is counted anew: leaves of nodes, groups, people,
weights."""

import csv
import hashlib
import json
import random
from pathlib import Path

import polars as pl
import pytest

import shoal
from forged import reported
from shoal.audit.cells import has_leaves
from shoal.release.stated import StatedNode, StatedNodes


def change(directory: Path, name: str, column: str, cells: dict[str, str]) -> None:
    """Spell cells of a published column otherwise, and mend the digest."""
    with (directory / name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index(column)
    for row in rows:
        row[place] = cells.get(row[place], row[place])
    with (directory / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    told = json.loads((directory / "manifest.json").read_text("utf-8"))
    digest = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    told["digests"][name] = f"sha256:{digest}"
    (directory / "manifest.json").write_text(json.dumps(told), "utf-8")
    reported(directory)


# Leaves of nodes


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    people = pl.DataFrame(
        {
            "zip": ["011", "012", "013", "021", "022", "023", "021", "011"],
            "pay": list(range(0, 800, 100)),
        }
    )
    schema = shoal.Schema(
        quasi="zip", sensitive="pay", types={"zip": "code"}, hierarchies={"zip": "Prefix()"}
    )
    release = shoal.anonymize(people, schema, require="KAnonymity(k=3)")
    release.write(tmp_path / "out")
    assert sorted(set(release.table["zip"])) == ["01*", "02*"]
    return tmp_path / "out"


def tell(directory: Path, leaves: dict[str, int], lost: float | None = None) -> None:
    told = json.loads((directory / "manifest.json").read_text("utf-8"))
    domain = told["columns"][0]["domain"]
    for node in domain["nodes"]:
        node["leaves"] = leaves.get(node["name"], node["leaves"])
    domain["leaves"] = leaves.get("*", domain["leaves"])
    if lost is not None:
        told["loss"] = {"gcp": lost, "ncp": {"zip": lost}}
    (directory / "manifest.json").write_text(json.dumps(told), "utf-8")


def test_more_values_than_rows_can_have_make_no_smaller_loss(coded: Path) -> None:
    assert shoal.audit(coded).holds
    tell(coded, {"*": 61, "0**": 61}, 2 / 60)
    (complaint,) = shoal.audit(coded).complaints()
    assert "larger than its published cells" in complaint


def test_a_node_has_the_leaves_of_those_below_it(coded: Path) -> None:
    tell(coded, {"0**": 5})
    with pytest.raises(shoal.InputError, match="fewer leaves than the nodes below"):
        shoal.audit(coded)


@pytest.mark.parametrize("seed", range(40))
def test_leaves_of_any_tree_and_rows_are_believed_and_one_more_is_not(seed: int) -> None:
    draw = random.Random(seed)
    values = [f"{draw.randrange(3)}{draw.randrange(3)}{draw.randrange(3)}" for _ in range(9)]
    cells = [value[: draw.randint(0, 3)] for value in values]  # a prefix of each
    names = {cell[:length] for cell in cells for length in range(len(cell) + 1)}
    leaves = {name: len({v for v in values if v.startswith(name)}) for name in names}
    rows = {name: cells.count(name) for name in set(cells)}

    def domain(leaves: dict[str, int]) -> StatedNodes:
        nodes = [
            StatedNode(name, name[:-1] if name else None, count) for name, count in leaves.items()
        ]
        return StatedNodes(leaves[""], nodes)

    assert has_leaves(rows, domain(leaves))
    for name in names:
        around = sum(count for cell, count in rows.items() if name.startswith(cell))
        below = sum(leaves[one] for one in names if one[:-1] == name and one)
        assert not has_leaves(rows, domain(leaves | {name: below + around + 1}))


# Numbers of groups and people


@pytest.mark.few(4)
@pytest.mark.parametrize("spelled", ["01", "1.0", "+1", " 1", "１", "1e0", "x", ""])
def test_a_group_has_one_number_for_every_reader(spelled: str, tmp_path: Path) -> None:
    # As numbers, both groups would be one: {40, 50, 60, 80} is not (15, 2)-anonymous.
    people = pl.DataFrame({"age": [20, 21, 20, 21], "pay": [40, 60, 50, 80]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(people, schema, require="EpsilonM(epsilon=15, m=2)")
    assert release.manifest.groups == 2
    release.write(tmp_path / "out")
    change(tmp_path / "out", "release.csv", "group", {"0": spelled})
    (complaint,) = shoal.audit(tmp_path / "out").complaints()
    assert "'group'" in complaint


def test_a_person_has_one_number_for_every_reader(tmp_path: Path) -> None:
    people = pl.DataFrame({"who": list("aabbccdd"), "age": [20] * 8, "pay": list(range(8))})
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who")
    shoal.anonymize(people, schema, require="KAnonymity(k=4)").write(tmp_path / "out")
    change(tmp_path / "out", "release.csv", "person", {"0": "01", "3": "02"})
    (complaint,) = shoal.audit(tmp_path / "out").complaints()
    assert complaint.startswith("2 ")
    assert "'person'" in complaint


# Survey weights


@pytest.mark.few(4)
@pytest.mark.parametrize("form", ["intervals", "two-tables"])
@pytest.mark.parametrize("cell", ["", "abc", "-4", "nan", "1e999", "99"])
def test_a_weight_is_one_number_a_group_in_every_form(form: str, cell: str, tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"age": list(range(8)), "pay": list(range(0, 80, 10)), "w": list(range(1, 9))}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    release = shoal.anonymize(
        people, schema, require="EpsilonM(epsilon=1, m=2)", form=form, keep_other=True
    )
    out, name = tmp_path / "out", "release.csv" if form == "intervals" else "people.csv"
    release.write(out)
    assert shoal.audit(out).holds
    lines = (out / name).read_text("utf-8").splitlines()
    first = lines[1].rsplit(",", 1)[0]
    (out / name).write_text("\n".join([lines[0], f"{first},{cell}", *lines[2:]]) + "\n", "utf-8")
    change(out, name, "w", {})
    assert any("survey weight" in one for one in shoal.audit(out).complaints())


def test_two_tables_with_weights_are_made_coarser_without_them(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"age": list(range(12)), "pay": list(range(0, 120, 10)), "w": list(range(1, 13))}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    shoal.anonymize(
        people, schema, require="EpsilonM(epsilon=1, m=2)", form="two-tables", keep_other=True
    ).write(tmp_path / "finer")
    coarser = shoal.coarsen(tmp_path / "finer", require="KAnonymity(k=4)")
    assert coarser.table.columns == ["group", "age", "pay"]
    coarser.write(tmp_path / "coarser")
    assert shoal.audit_series([tmp_path / "finer", tmp_path / "coarser"]).holds
