"""Systems on one scale: what makes rows, and how rows follow from cells."""

import importlib
import inspect
import math
import sys
from pathlib import Path
from random import Random

import pytest

SYSTEMS = Path(__file__).parents[2] / "benchmarks" / "systems"
NAMES = sorted(path.stem for path in SYSTEMS.glob("by_*.py"))


@pytest.fixture(autouse=True)
def systems(monkeypatch):
    monkeypatch.syspath_prepend(str(SYSTEMS))
    yield
    for name in [*NAMES, "completion", "scaling"]:
        sys.modules.pop(name, None)


def test_every_system_is_one_file_that_makes_rows():
    assert {"by_shoal", "by_anonypy", "by_aim", "by_itself", "by_nothing"} <= {*NAMES}
    readme = (SYSTEMS / "README.md").read_text("utf-8")
    for name in NAMES:
        system = importlib.import_module(name)  # without its package
        taken = [*inspect.signature(system.make).parameters]
        assert taken == ["source", "target", "case", "setting", "seed"]
        assert f"def make({', '.join(taken)}):" in readme
        assert system.SETTINGS
        assert all("==" in one or one in {"pandas", "numpy"} for one in system.REQUIREMENTS)


def test_a_completed_value_is_any_of_its_cell():
    completion = importlib.import_module("completion")
    cells = ["7", "[3, 5]", "16-18", "[-4, -2]"] * 60
    found = completion.complete_cells(cells, Random(1))
    own = [set(found[at::4]) for at in range(4)]
    assert own == [{7}, {3, 4, 5}, {16, 17, 18}, {-4, -3, -2}]
    with pytest.raises(ValueError, match="neither"):
        completion.complete_cells(["a"], Random(1))


def test_what_aim_spends_is_what_its_epsilon_allows():
    aim = importlib.import_module("by_aim")
    # Bun, Steinke 2016: rho-zCDP gives (rho + 2 sqrt(rho ln(1/delta)), delta); ours is no weaker.
    for epsilon in (0.5, 1, 4):
        rho = aim.concentrated(epsilon, 1e-6)
        usual = rho + 2 * (rho * 13.815510557964274) ** 0.5
        assert epsilon <= usual <= 1.3 * epsilon


def test_shuffled_columns_keep_each_column_and_nothing_else(tmp_path):
    import polars as pl

    nothing = importlib.import_module("by_nothing")
    table = pl.DataFrame({"age": range(500), "pay": range(500)})
    table.write_csv(tmp_path / "a.csv")
    nothing.make(tmp_path / "a.csv", tmp_path / "b.csv", {}, {}, 1)
    made = pl.read_csv(tmp_path / "b.csv")
    assert sorted(made["age"]) == sorted(made["pay"]) == list(range(500))
    assert abs(pl.DataFrame(made).select(pl.corr("age", "pay")).item()) < 0.2


def test_the_page_says_who_protects_better_at_an_error():
    scaling = importlib.import_module("scaling")

    def figures(counts, gain):
        return {"counts": counts, **dict.fromkeys(scaling.OVER, gain)}

    known = {
        ("t", "aim", "weak"): figures(0.05, 2.0),
        ("t", "aim", "strong"): figures(0.2, 0.5),
        ("t", "aim", "exact"): figures(0.01, 30.0),
        ("t", "shoal", "tight"): figures(0.04, 20.0),
        ("t", "shoal", "regions"): figures(0.15, 0.0),
        ("t", "nothing", "columns shuffled"): figures(0.1, 0.0),
    }
    said = {
        key[2]: (best, verdict)
        for key, attack, best, verdict in scaling.compare(known)
        if attack == "inference"
    }
    assert said == {
        "weak": ((20.0, ("t", "shoal", "tight")), "does not protect as well"),
        "strong": ((0.0, ("t", "shoal", "regions")), "protects alike"),
        "exact": (None, "has no error as small"),
    }
    assert scaling.sentences(known)[2] == (
        "Inference, beside AIM (3 comparisons): Shoal protects alike in 1, does not protect as "
        "well in 1, has no error as small in 1."
    )
    assert scaling.comparisons(known).count("| Shoal does not protect as well |") == 4
    chance = {("t", "aim", "a"): figures(0.2, 1.7), ("t", "shoal", "b"): figures(0.1, -3.3)}
    assert {one[-1] for one in scaling.compare(chance)} == {"protects alike"}
    chance["t", "aim", "a"] = figures(0.2, 2.1)
    assert {one[-1] for one in scaling.compare(chance)} == {"protects better"}
    known["t", "shoal", "two tables"] = figures(0.01, math.nan)
    assert scaling.compare(known)[-1][2] is None  # what cannot be tried is no best
    page = scaling.BLANK.read_text("utf-8")
    for mark in ("found", "compared", "salaries", "health", "shipped", "anonymeter"):
        page = scaling.put(page, mark, "here")
    assert page.count("here") >= 5
    for attack in scaling.OVER:
        assert f"results/scale-{attack.replace(' ', '-')}.svg" in page


def test_the_page_shows_the_risks_that_anonymeter_reports(tmp_path, monkeypatch):
    scaling = importlib.import_module("scaling")
    line = {
        f"{attack} {what}": share
        for attack in scaling.ATTACKS[:3]
        for what, share in {"members": "0.5", "controls": "0.2", "risk": "0.375"}.items()
    }
    key = ("t", "shoal", "tight")
    text = ",".join([*scaling.KEY, *line]) + "\n" + ",".join([*key, "1", *line.values()]) + "\n"
    (tmp_path / "meter.csv").write_text(text, "utf-8")
    monkeypatch.setattr(scaling, "METER_FILE", tmp_path / "meter.csv")
    table = scaling.meter_table({key: dict.fromkeys(scaling.ATTACKS, 12.0)})
    heads, _, row = table.splitlines()
    assert heads.count("its risk") == 3
    assert row == "| t | Shoal: tight | " + " | ".join(["+30.0 / 38% / +12.0"] * 3) + " |"


def test_settings_of_shoal_name_every_method_and_form_that_cuts_or_groups():
    settings = importlib.import_module("by_shoal").SETTINGS.values()
    assert {one["form"] for one in settings} == {"intervals", "bounds", "means", "two-tables"}
    cut = {(one["method"], one["cells"]) for one in settings if one["form"] == "intervals"}
    for method in ("Mondrian()", "Split()", "Oblivious()"):
        assert {(method, "tight"), (method, "regions")} <= cut


def test_the_page_is_that_of_its_figures_and_claims_what_they_say():
    """Every setting has three draws; what the page says in words holds of the means over them."""
    scaling = importlib.import_module("scaling")
    lines = [line for line in scaling.read() if not line["status"]]
    known = scaling.means(lines, (*scaling.ERRORS, *scaling.OVER))
    assert {one["seeds"] for one in known.values()} == {3}
    assert len({table for table, *_ in known}) == 3
    for name in NAMES:
        own = {setting for _, system, setting in known if system == name[3:]}
        assert own == {*importlib.import_module(name).SETTINGS}
    assert scaling.page_of(known) == scaling.PAGE.read_text("utf-8")

    def of(system, *words, end=""):
        return [
            one for (_, by, setting), one in known.items()
            if by == system and all(word in setting for word in words) and setting.endswith(end)
        ]  # fmt: skip

    assert max(one[attack] for one in of("aim") for attack in scaling.OVER) < 2
    assert min(one["inference"] for one in of("shoal", end="m = 3")) > 14
    assert max(one["inference"] for one in of("shoal", "Oblivious", end="m = 10")) < 2
    assert max(one["regression"] for one in of("shoal", "Exchange", end="m = 3")) < 0.14
    assert min(one["regression"] for one in of("aim", end="= 4")) > 0.45
    regions = [*of("shoal", "regions", end="m = 3"), *of("shoal", "regions", end="k = 5")]
    assert max(one["singling out"] for one in regions) < 2
    assert min(one["singling out"] for one in of("shoal", "Exchange", end="m = 3")) > 30
