"""What other choices would cost: requirements, methods and forms, tried on some of the rows.

It is for the owner's eyes while deciding: nothing of it is published.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.ask.options import EVERYBODY, KNOWN
from shoal.engines.base import check_method
from shoal.errors import Exposing, NotAchievable, ShoalError, UsageError
from shoal.methods.choice import worth_trying
from shoal.release.manifest import WORDS, conclusion_of
from shoal.runs.consider import as_sure, changed, consider, every, numbers_of
from shoal.runs.doing import trial_of
from shoal.runs.losing import PATIENCE, QUICK, estimate
from shoal.runs.run import Run
from shoal.table.forms import FORMS, INTERVALS
from shoal.table.reading import take_frame
from shoal.utility.workload import Workload

if TYPE_CHECKING:
    import polars as pl

    from shoal.ask.ask import Ask
    from shoal.runs.consider import Linked
    from shoal.runs.losing import ForeseenLoss, Reach

QUERIES = 200  # that every form answers
SEED = 0  # of the queries: nothing is published, and equal calls are to agree
WIDER, ROOM = 3, 0.65  # times the width, as far as that is so much of what the table bears
LEFT_OUT = "1%"
SEARCHED = 2_000  # rows up to which a table is searched to tell whether it keeps something


def price(table: pl.DataFrame, ask: Ask, **how: Any) -> dict[str, Any]:
    """Return about what a release loses, as is asked with some changes, tried on some rows."""
    begun = time.perf_counter()
    return as_price(tried(table, ask, **how), time.perf_counter() - begun)


def tried(
    table: pl.DataFrame,
    ask: Ask,
    *,
    drop: str | None = None,
    whole: int | None = None,
    reach: Reach | None = None,
    like: tuple[int, float] | None = None,
    **changes: Any,
) -> ForeseenLoss:
    """Return what was tried to tell a price.

    `drop` names a quasi column to leave out; the rest as for `estimate`.
    """
    run = Run.of(ask, table=table, **changes)
    if drop is not None:
        others = [one for one in run.schema.quasi if one != drop]
        run = Run.of(ask, table=table, quasi=others, **changes)
    return estimate(run, table, whole=whole, reach=reach, like=like, patience=PATIENCE)


def as_price(found: ForeseenLoss, seconds: float) -> dict[str, Any]:
    """Return a price as plain values."""
    stated = found.release.manifest.to_dict()
    return {
        "loss": {"gcp": found.gcp, "ncp": found.ncp},
        "columns": stated["columns"],
        "going": _going(found),
        "rows": found.rows,
        "all_rows": found.all_rows,
        "rough": found.rough,
        "factor": found.factor,
        "method": stated["method"],
        "tables": stated.get("tables", {}),
        "seconds": seconds,
    }


def _going(found: ForeseenLoss) -> dict[str, float]:
    """Return the shares of the rows that were tried and are not published: all, and by reason."""
    made = found.release.manifest
    known = {name: (getattr(made, name) or 0) / found.rows for name in ("capped", "suppressed")}
    return known | {"all": 1 - made.rows / found.rows}


def alternatives(
    table: pl.DataFrame, ask: Ask, lost: dict[str, float], linked: Linked | None = None
) -> list[dict[str, Any]]:
    """Return what else could be asked for: a kind, and the changes that `price` takes.

    `at` says where in the picture of what is achievable it stands, where it has another place.

    `lost` says what each quasi column loses now; the one that loses most could be left out.
    """
    run = Run.of(ask, table=table, linked=linked)
    sensitive = every(run.schema)
    texts = [repr(one) for one in run.requirements]
    found: list[dict[str, Any]] = []
    least = max((one.principle.least for one in run.requirements), default=0)
    kind, most = ("everybody", EVERYBODY) if least < EVERYBODY else ("known", KNOWN)
    if (other := as_sure(texts, sensitive, most)) != texts:
        found.append({"kind": kind, "require": other})
    wider = _wider(table, run, texts)
    if wider is not None:
        found.append(wider)
    if not run.suppress:
        found.append({"kind": "suppress", "suppress": LEFT_OUT})
    able = {name: loss for name, loss in lost.items() if name not in run.schema.never_mix}
    if len(lost) > 1 and any(able.values()):
        found.append({"kind": "drop", "drop": max(able, key=lambda name: able[name])})
    return found


def _wider(table: pl.DataFrame, run: Run, texts: list[str]) -> dict[str, Any] | None:
    """Return a requirement that hides a wider range, where there is one that is achievable."""
    for place, text in enumerate(texts):
        numbers = numbers_of(text, every(run.schema))
        if "epsilon" not in numbers or "m" not in numbers:
            continue
        known = consider(table, run.schema, text, run.missing, run.linked)
        bound = known["limits"].get("epsilon", {}).get("limit")
        width = numbers["epsilon"]
        most = WIDER * width if bound is None else min(WIDER * width, _short(ROOM * bound))
        if most > width:
            other = changed(text, every(run.schema), {"epsilon": str(most)})
            return {
                "kind": "wider",
                "require": [*texts[:place], other, *texts[place + 1 :]],
                "at": {"place": place, "m": numbers["m"], "epsilon": most},
            }
    return None


def _short(number: float) -> int | float:
    """Return a number with two digits.

    >>> _short(7512.5), _short(0.7512)
    (7500, 0.75)
    """
    short = float(f"{number:.2g}")
    return int(short) if short.is_integer() else short


def methods(table: pl.DataFrame, ask: Ask, linked: Linked | None = None) -> list[dict[str, Any]]:
    """Return the methods that can serve, and which of them is taken where none is named."""
    run = Run.of(ask, table=table, linked=linked)
    settled, plain = replace(run, method=None).with_table(take_frame(table))
    task = plain.prepare(settled).task
    usual = plain.chosen(task)
    found = []
    for method in dict.fromkeys((usual, *worth_trying())):
        try:
            check_method(method, task)
        except UsageError:
            continue
        found.append(method)
    return [{"method": repr(one), "usual": one == usual} for one in found]


def forms(table: pl.DataFrame, ask: Ask, linked: Linked | None = None) -> list[dict[str, Any]]:
    """Return for each form how far counts are from the truth, or why it cannot be had.

    Half of the counts are off by more than `error`; None where the rows are too few to ask.
    `regression` says what an analyst may conclude, and `why`.
    """
    run = Run.of(ask, table=table, linked=linked)
    release = trial_of(replace(run, form=INTERVALS, seconds=QUICK, enough=lambda: True))
    questions = _questions(table, run)
    found: list[dict[str, Any]] = []
    for form in FORMS:
        try:
            made = release.as_form(form, keep_other=run.keep_other)
        except ShoalError as problem:
            found.append({"form": form, "problem": problem.sentence})
            continue
        error = None if questions is None else float(questions.error(made).median)
        status, reason = conclusion_of(made.manifest)
        found.append({"form": form, "error": error, "regression": WORDS[status], "why": reason})
    return found


def _questions(table: pl.DataFrame, run: Run) -> Any:
    """Draw the counts that every form is asked for; None where there is nothing to ask."""
    settled, run = run.with_table(take_frame(table))
    rows = run.coded(settled).rows
    schema = run.schema
    workload = Workload(
        quasi=min(2, len(schema.quasi)),
        sensitive=min(1, len(schema.sensitive)),
        queries=QUERIES,
    )
    try:
        return workload.draw(settled[rows], schema, seed=SEED)
    except ShoalError:
        return None


def kept_together(table: pl.DataFrame, run: Run) -> bool:
    """Return whether a table can keep all that is required: as far as is known before a search.

    A small table is searched, too. What else is wrong is no matter of the requirements.
    """
    try:
        run.ready(table)
        if table.height <= SEARCHED:
            trial_of(replace(run, table=table))
    except NotAchievable as refused:
        return isinstance(refused, Exposing)
    except ShoalError:
        return True
    return True
