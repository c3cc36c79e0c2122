"""The golden runs: which commands each of them types, in a directory with the tables.

Most follow from `AXES`: every two values of two axes that may go together stand in some run. The
others are refusals, series, other commands, and what only Spark does.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

Command = tuple[str, ...]
Choice = tuple[str, ...]  # a value of each axis

K, EM, BOTH = "KAnonymity(k=3)", "pay: EpsilonM(epsilon=4000, m=3)", "ill: FrequencyL(l=2)"
AXES: dict[str, dict[str, Command]] = {
    "form": {
        "intervals": (),
        "bounds": ("--form", "bounds"),
        "means": ("--form", "means"),
        "two-tables": ("--form", "two-tables"),
    },
    "whom": {
        "rows": ("one.csv",),
        "person": ("more.csv", "--person", "who"),
        "most": ("more.csv", "--person", "who", "--most-rows", "2"),
        "unknown": ("more.csv", "--person", "who", "--rows", "unknown"),
        "linked": (
            *("more.csv", "--person", "who", "--linked", "stays=stays.csv"),
            *("--sensitive", "stays.cost", "--other", "stays.ward"),
        ),
    },
    "require": {
        "epsilon": ("--require", EM),
        "k": ("--require", K),
        "both": ("--require", EM, "--require", BOTH),
        "closeness": ("--require", "pay: TCloseness(t=0.5, ground='ordered')"),
        "distinct": ("--require", "pay: DistinctL(l=3)", "--require", "pay: EntropyL(l=2)"),
        "likeness": ("--require", "pay: Dissimilarity(epsilon=0.05, delta=0.5, k=3)"),
    },
    "method": {
        "usual": (),
        "exchange": ("--method", "Exchange()"),
        "mondrian": ("--method", "Mondrian()"),
        "split": ("--method", "Split()"),
        "oblivious": ("--method", "Oblivious()"),
        "freeform": ("--method", "Freeform()"),
        "squared": ("--method", "Exchange(loss='squared')"),
    },
    "quasi": {
        "plain": ("--quasi", "age,town"),
        "never": ("--quasi", "age,town,sex", "--never-mix", "sex"),
        "file": ("--quasi", "age,town", "--hierarchy", "town=town.csv"),
        "made": (
            *("--quasi", "age,zip", "--type", "zip=code"),
            *("--hierarchy", "zip=Prefix()", "--hierarchy", "age=Bins(width=10)"),
        ),
        "dates": ("--quasi", "born,score", "--hierarchy", "born=Calendar()"),
    },
    "missing": {"none": (), "drop": ("--missing", "drop"), "value": ("--missing", "value")},
    "left": {"all": (), "some": ("--suppress", "6%")},
    "weights": {"none": (), "loss": ("--weight", "age=3"), "survey": ("--survey-weight", "weight")},
    "cells": {"tight": (), "regions": ("--cells", "regions")},
    "other": {
        "none": (),
        "note": ("--other", "note"),
        "known": ("--other", "note", "--nobody-knows", "note"),
    },
    "engine": {"whole": (), "shards": ("--engine", "Local(shard=40)")},
    "format": {"csv": (), "parquet": ("--format", "parquet"), "gz": ("--format", "jsonl.gz")},
    "then": {"audit": (), "coarsen": ("KAnonymity(k=6)",)},
}  # fmt: skip
NAMES = tuple(AXES)
APART = {  # what is refused together, and is among the refusals below, once each
    *(("two-tables", one) for one in ("k", "linked", "unknown", "freeform", "note", "known",
                                      "regions", "survey")),
    *(("freeform", one) for one in ("person", "most", "unknown", "linked", "epsilon", "both",
                                    "closeness", "likeness", "distinct", "some", "regions",
                                    "survey", "means", "coarsen", "shards", "never")),
    *(("split", one) for one in ("k", "closeness", "likeness", "distinct", "linked", "both")),
    *(("oblivious", one) for one in ("closeness", "likeness", "distinct", "linked", "k", "both",
                                     "value")),
    *((whom, one) for whom in ("person", "most", "unknown", "linked", "exchange", "squared")
      for one in ("closeness", "distinct")),
    *(("regions", one) for one in ("exchange", "squared", "split", "means")),
    *(("oblivious", one) for one in ("person", "most", "unknown", "some")),
    ("linked", "survey"), ("linked", "coarsen"), ("regions", "coarsen"), ("freeform", "value"),
    ("dates", "loss"), *(("closeness", one) for one in ("never", "value", "dates")),
    *(("mondrian", one) for one in ("epsilon", "both", "likeness")),
}  # fmt: skip


class Case(NamedTuple):
    """Commands, one after the other, and whether they need Spark."""

    commands: tuple[Command, ...]
    spark: bool = False


def _together(one: str, two: str) -> bool:
    return (one, two) not in APART and (two, one) not in APART


VALUES = [tuple(AXES[name]) for name in NAMES]
Pair = tuple[int, str, int, str]


def _filled(fixed: dict[int, str], left: set[Pair]) -> dict[int, str] | None:
    """Return a choice of all axes with the most pairs that are left, axis by axis; or nothing."""
    open_axes = [axis for axis in range(len(VALUES)) if axis not in fixed]
    if not open_axes:
        return fixed
    axis = max(open_axes, key=lambda one: len(VALUES[one]))

    def new(value: str) -> int:
        pairs = [(axis, value, at, other) for at, other in fixed.items()]
        return sum((a, x, b, y) in left or (b, y, a, x) in left for a, x, b, y in pairs)

    able = [value for value in VALUES[axis] if all(_together(value, x) for x in fixed.values())]
    tried = (_filled({**fixed, axis: value}, left) for value in sorted(able, key=new, reverse=True))
    return next((found for found in tried if found is not None), None)


def chosen() -> list[Choice]:
    """Return choices in which every two values that go together stand; greedily, in order."""
    left = {
        (a, one, b, two)
        for a, b in combinations(range(len(VALUES)), 2)
        for one in VALUES[a]
        for two in VALUES[b]
        if _together(one, two)
    }
    found: list[Choice] = []
    for first in sorted(left):
        if first in left and (full := _filled({first[0]: first[1], first[2]: first[3]}, left)):
            choice = tuple(full[axis] for axis in range(len(VALUES)))
            left -= {(a, choice[a], b, choice[b]) for a, b in combinations(range(len(VALUES)), 2)}
            found.append(choice)
    return found


def _commands(choice: Choice) -> tuple[Command, ...]:
    """Return what is typed for a choice: the run, its audit, and what comes after."""
    said = dict(zip(NAMES, choice, strict=True))
    words = [word for name in NAMES if name != "then" for word in AXES[name][said[name]]]
    if said["missing"] != "none":
        words[words.index("one.csv" if said["whom"] == "rows" else "more.csv")] = (
            "one-gaps.csv" if said["whom"] == "rows" else "more-gaps.csv"
        )
    table = next(word for word in words if word.endswith(".csv") and "=" not in word)
    sensitive = "pay,ill" if said["require"] == "both" else "pay"
    original = ("--original", table) if said["method"] == "freeform" else ()
    commands = [
        anonymize(*_joined([*words, "--sensitive", sensitive]), "--linkage", "linkage.csv"),
        ("audit", "out", *original, "--json"),
    ]
    if said["then"] == "coarsen":
        require = (
            AXES["then"]["coarsen"][0] if said["form"] != "two-tables" else "pay: DistinctL(l=4)"
        )
        commands += [
            ("coarsen", "out", "--require", require, "--output", "out-2", "--seed", "3"),
            ("audit", "out", "out-2", "--json"),
        ]
    return tuple(commands)


def _joined(words: list[str]) -> list[str]:
    """Return the words with what is said twice of columns said once."""
    for name in ("--sensitive", "--other"):
        places = [place for place, word in enumerate(words) if word == name]
        if len(places) == 2:
            first, second = places
            words[first + 1] = f"{words[second + 1]},{words[first + 1]}"
            del words[second : second + 2]
    return words


def anonymize(*words: str, output: str = "out") -> Command:
    """Return the command that publishes."""
    return ("anonymize", *words, "--output", output, "--seed", "7")


PLAIN = ("one.csv", "--quasi", "age,town", "--sensitive", "pay")
ASKED = (*PLAIN, "--require", EM)
PEOPLE = ("more.csv", "--person", "who", "--quasi", "age,town", "--sensitive", "pay")


def series(*words: str, rounds: int = 3) -> tuple[Command, ...]:
    """Return the commands of a series of releases, and of its audits."""
    outputs = [f"out-{number}" for number in range(1, rounds + 1)]
    return (
        *(
            anonymize(
                *(f"round-{number}.csv", "--person", "who", "--quasi", "age,town"),
                *("--sensitive", "pay", "--ledger", "ledger", *words),
                output=output,
            )
            for number, output in enumerate(outputs, 1)
        ),
        ("audit", *outputs, "--json"),
        ("audit", outputs[-1], "--ledger", "ledger", "--json"),
    )


REFUSED: dict[str, Command] = {
    "no table": ("anonymize",),
    "no output": ("anonymize", *ASKED),
    "unknown option": (*anonymize(*ASKED), "--colour", "red"),
    "unknown column": anonymize("one.csv", "--quasi", "aeg", "--sensitive", "pay", "--require", K),
    "two roles": anonymize("one.csv", "--quasi", "age", "--sensitive", "age", "--require", K),
    "nothing required": anonymize(*PLAIN),
    "unknown principle": anonymize(*PLAIN, "--require", "KAnonymty(k=3)"),
    "bad parameter": anonymize(*PLAIN, "--require", "EpsilonM(epsilon=-1, m=3)"),
    "label as number": anonymize(
        "one.csv", "--quasi", "age", "--sensitive", "ill", "--require", "EpsilonM(epsilon=1, m=2)"
    ),
    "not achievable": anonymize(*PLAIN, "--require", "EpsilonM(epsilon=60000, m=5)"),
    "too few rows": anonymize(*PLAIN, "--require", "KAnonymity(k=85)"),
    "too little left out": anonymize(
        *PLAIN, "--require", "EpsilonM(epsilon=30000, m=3)", "--suppress", "1%"
    ),
    "missing cells": anonymize("one-gaps.csv", *PLAIN[1:], "--require", EM),
    "names": anonymize("names.csv", *PLAIN[1:], "--other", "note", "--require", EM),
    "no file": anonymize("nothing.csv", *PLAIN[1:], "--require", K),
    "broken schema": anonymize("one.csv", "--schema", "broken.toml"),
    "reserved name": anonymize(
        "one.csv", "--quasi", "age", "--sensitive", "pay", "--require", K, "--person", "nobody"
    ),
    "people differ": anonymize(*PEOPLE, "--never-mix", "pay", "--require", K),
    "two tables and k": anonymize(*PLAIN, "--require", K, "--form", "two-tables"),
    "two tables and other": anonymize(*ASKED, "--form", "two-tables", "--other", "note"),
    "two tables unknown": anonymize(
        *PEOPLE, "--require", EM, "--form", "two-tables", "--rows", "unknown"
    ),
    "means of everybody": anonymize(
        *PLAIN, "--require", "KMap(k=3)", "--population", "everybody.csv", "--form", "means"
    ),
    "no population": anonymize(*PLAIN, "--require", "KMap(k=3)"),
    "freeform and people": anonymize(*PEOPLE, "--require", K, "--method", "Freeform()"),
    "freeform twice": anonymize(*PLAIN, "--require", K, "--method", "Freeform(k=4)"),
    "split for k": anonymize(*PLAIN, "--require", "ill: DistinctL(l=2)", "--method", "Split()"),
    "regions by exchange": anonymize(*ASKED, "--method", "Exchange()", "--cells", "regions"),
    "ledger without people": anonymize(*ASKED, "--ledger", "ledger"),
    "cannot write": anonymize(*ASKED, output="one.csv/out"),
    "audit of nothing": ("audit", "nothing", "--json"),
    "report of nothing": ("report", "nothing"),
    "bad threshold": (*anonymize(*ASKED), "--threshold", "2"),
    "bad share": (*anonymize(*ASKED), "--suppress", "120%"),
    "bad form": (*anonymize(*ASKED), "--form", "circles"),
}
MORE: dict[str, tuple[Command, ...]] = {
    "series": series("--require", EM),
    "series in bounds, in batches": series(
        "--require", K, "--form", "bounds", "--batch", "6", rounds=2
    ),
    "series of two tables": series("--require", EM, "--form", "two-tables", rounds=2),
    "series of means": series("--require", EM, "--form", "means", "--least-real", "2", rounds=2),
    "series that never mixes": series(
        "--require", EM, "--never-mix", "sex", "--quasi", "age,sex", rounds=2
    ),
    "series asked otherwise": (
        *series("--require", EM, rounds=1)[:1],
        anonymize(*PEOPLE, "--require", K, "--ledger", "ledger", output="out-2"),
    ),
    "schema file": (
        anonymize("one.csv", "--schema", "schema.toml", "--title", "A title", "--purpose", "why"),
        ("audit", "out", "--json"),
    ),
    "schema file and options": (
        anonymize("lines.jsonl", "--schema", "codes.toml", "--require", "pay: DistinctL(l=3)"),
        ("audit", "out", "--json", "--odds", "2"),
    ),
    "population": (
        anonymize(
            *("one.csv", "--quasi", "age,town", "--sensitive", "pay", "--population"),
            *("everybody.csv", "--require", "KMap(k=4)"),
        ),
        ("audit", "out", "--population", "everybody.csv", "--json"),
    ),
    "presence": (
        anonymize(
            *("one.csv", "--quasi", "age,town", "--sensitive", "pay", "--population"),
            *("everybody.csv", "--require", "DeltaPresence(low=0, high=0.8)"),
        ),
    ),
    "trimmed": (
        anonymize(
            *ASKED, "--round", "pay=5000", "--top", "pay=95%", "--bottom", "age=20",
            "--withhold-counts", "--threshold", "0.2",
        ),
    ),
    "replaced": (anonymize(*ASKED), anonymize(*ASKED), (*anonymize(*ASKED), "--force")),
    "spoiled": (
        anonymize(*ASKED),
        anonymize(*PLAIN, "--require", K, output="out-2"),
        ("coarsen", "out", "--require", "KAnonymity(k=900)", "--output", "out-3"),
        ("audit", "out", "out-2", "--json"),
    ),
    "dry run": ((*anonymize(*ASKED), "--dry-run", "--json"),),
    "ring": (anonymize(*PLAIN, "--require", K, "--method", "Ring()"),),
    "color": (anonymize(*ASKED, "--method", "XColor()"),),
    "pseudonyms": (anonymize(*ASKED, "--pseudonymize", "who", "--key-file", "town.csv"),),
    "plain table": (
        ("audit", *PLAIN, "--require", "KAnonymity(k=2)", "--json"),
        ("audit", *PLAIN, "--json"),
    ),
    "plan": (
        ("plan", "one.csv", "--sensitive", "pay", "--json"),
        ("plan", "one.csv", "--sensitive", "pay", "--m", "4", "--json"),
        ("plan", "more.csv", "--sensitive", "pay", "--person", "who", "--epsilon", "99", "--json"),
        ("plan", "one.csv", "--sensitive", "ill", "--require", "DistinctL(l=3)", "--json"),
    ),
    "inspect": (("inspect", "one.csv", "--json"), ("inspect", "more-gaps.csv", "--json")),
    "compare": (
        (
            *("compare", *ASKED, "--method", "Split()", "--method", "Exchange()"),
            *("--queries", "20", "--json"),
        ),
    ),
    "tune": (("tune", *ASKED, "--method", "Split()", "--vary", "epsilon=200,9000", "--json"),),
    "attack": (
        anonymize(*ASKED),
        ("attack", "out", "--original", "one.csv", "--seed", "1", "--json"),
    ),
    "attack people": (
        anonymize(*PEOPLE, "--require", EM),
        ("attack", "out", "--original", "more.csv", "--person", "who", "--seed", "1", "--json"),
    ),
    "count": (
        anonymize(*ASKED),
        ("count", "out", "age < 40 and pay > 20000", "--json"),
        ("count", "out", "town = 'Bonn'", "--json"),
    ),
    "certificate": (
        anonymize(*ASKED), ("certificate", "out", "certificate.html", "--json"), ("report", "out"),
    ),
}  # fmt: skip
SPARK: dict[str, Command] = {  # in one shard, which has the groups of one machine, without a seed
    "spark": ASKED,
    "spark people": (*PEOPLE, "--require", EM, "--rows", "unknown"),
    "spark never mixed": (*ASKED, "--quasi", "age,sex", "--never-mix", "sex", "--other", "note"),
    "spark bounds": (*ASKED, "--form", "bounds", "--title", "A title", "--method", "Exchange()"),
    "spark weights": (*ASKED, "--survey-weight", "weight", "--method", "Split()"),
    "spark nodes": (*PLAIN, "--require", K, "--hierarchy", "town=town.csv", "--suppress", "6%"),
    "spark refused: linked": (
        *PEOPLE, "--linked", "stays=stays.csv", "--other", "stays.ward", "--require", EM,
    ),
    "spark refused: not achievable": (*PLAIN, "--require", "EpsilonM(epsilon=60000, m=5)"),
}  # fmt: skip


def cases() -> dict[str, Case]:
    """Return all runs by name."""
    found = {}
    for choice in chosen():
        plain = [next(iter(axis)) for axis in AXES.values()]
        said = [value for value, usual in zip(choice, plain, strict=True) if value != usual]
        found[" ".join(said) or "plain"] = Case(_commands(choice))
    found |= {f"refused: {name}": Case((command,)) for name, command in REFUSED.items()}
    found |= {name: Case(commands) for name, commands in MORE.items()}
    spark = ("--engine", "Spark()", "--output", "out")
    for name, words in SPARK.items():
        commands = (("anonymize", *words, *spark), ("audit", "out", "--json"))
        found[name] = Case(commands, spark=True)
    return found
