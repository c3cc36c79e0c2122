"""Estimates in a terminal: every quantity with its status and the reason for it."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from shoal.views.estimates import print_estimates


def quantity(name, status, reason, estimate=-0.3312, **figures):
    known = {"se": 0.0213, "low": -0.3738, "high": -0.2886, "naive": -0.2318, "missing": 0.1}
    known |= {"name": name, "estimate": estimate, "rhat": 1.01, "status": status, "reason": reason}
    return known | figures


MIXED = [
    quantity("Intercept", "valid", "It is exact."),
    quantity("C(marital)[T.Never married]", "approximate", "Much of it is missing. " * 5),
    quantity("age", "refused", "The chains do not agree on age.", rhat=1.42),
    quantity("hours", "approximate", "Much of it is missing. " * 5, estimate=1.234e-7),
    quantity("mean(income)[age < 40=1]", "valid", "It is exact.", 123456.0, rhat=None),
]


def shown(capsys, monkeypatch, quantities, columns=80):
    monkeypatch.setenv("COLUMNS", str(columns))
    worst = max(
        quantities, key=lambda one: ("valid", "approximate", "refused").index(one["status"])
    )
    facts = {key: worst[key] for key in ("status", "reason")}
    print_estimates(facts | {"formula": "log(income) ~ age", "quantities": quantities})
    return capsys.readouterr().out


def test_quantities_have_their_status_and_the_number_of_its_reason(capsys, monkeypatch):
    out = shown(capsys, monkeypatch, MIXED, 140)
    lines = {line.split("  ")[0]: line.rstrip() for line in out.splitlines()}
    assert lines["Intercept"].endswith("valid 1")
    assert lines["C(marital)[T.Never married]"].endswith("approximate 2")
    assert lines["age"].endswith("1.42 refused 3")
    assert lines["hours"].endswith("approximate 2")
    assert lines["mean(income)[age < 40=1]"].endswith("– valid 1")
    assert "-0.3738 to -0.2886" in lines["age"]
    for number, reason in enumerate(("It is exact.", "Much of it", "The chains do not"), 1):
        assert out.count(f"\n{number} {reason}") == 1
    assert "All of it together: not from this release" in out


@pytest.mark.parametrize("quantities", [MIXED, MIXED[:1]])
def test_a_terminal_of_80_columns_shows_all_of_it(quantities, capsys, monkeypatch):
    out = shown(capsys, monkeypatch, quantities)
    lines = out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    head = " ".join(lines[1:3])
    assert all(part in head for part in ("estimate", "naive", "missing", "R̂", "status"))
    for one in quantities:
        assert any(one["status"] in line and "10%" in line for line in lines)
        assert f"{one['low']} to" in out
        assert str(one["high"]) in out


def test_one_reason_for_all_needs_no_numbers(capsys, monkeypatch):
    out = shown(capsys, monkeypatch, [MIXED[0], MIXED[-1]])
    assert "valid\n" in out.replace(" \n", "\n")
    assert "Valid: It is exact." in out
    assert "All of it together" not in out
