"""Linked tables from the command line."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from engines.test_linked import drawn
from reference import linked as oracle
from system import shell

if TYPE_CHECKING:
    from pathlib import Path


def test_the_command_links_tables_and_names_no_file(tmp_path: Path) -> None:
    table, visits = drawn(random.Random(7), 60)
    table.write_csv(tmp_path / "registry_of_2019.csv")
    visits.write_csv(tmp_path / "hidden_name.csv")
    (tmp_path / "shoal.toml").write_text(
        'table = "registry_of_2019.csv"\nquasi = ["age", "town"]\n'
        'sensitive = ["pay", "visits.diagnosis"]\nother = ["visits.ward", "visits.cost"]\n'
        'person = "patient"\nmost_rows = 2\n'
        'require = ["KAnonymity(k=3)", "visits.diagnosis: FrequencyL(l=2)"]\n'
        'suppress = "30%"\noutput = "out"\n\n[linked]\nvisits = "hidden_name.csv"\n\n'
        '[columns."visits.cost"]\nround = 100\n'
    )
    command = ["anonymize", "--schema", tmp_path / "shoal.toml"]
    done = shell.shoal(*command, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tables"]["visits"]["rows"] > 0
    lines = oracle.read(tmp_path / "out/visits.csv")
    assert all(int(line["cost"]) % 100 == 0 for line in lines)
    for path in (tmp_path / "out").iterdir():
        assert b"hidden_name" not in path.read_bytes()
        assert b"registry_of_2019" not in path.read_bytes()
    for more in (
        ["--form", "two-tables", "--require", "pay: EpsilonM(epsilon=1, m=2)"],
        ["--ledger", tmp_path / "l.db"],
        ["--output", f"sqlite:///{tmp_path}/x.db?table=t"],
        ["--engine", "Spark()"],
    ):
        again = shell.shoal(*command, "--force", *more)
        assert again.code == 2, again.err
        assert "--linked" in again.err
