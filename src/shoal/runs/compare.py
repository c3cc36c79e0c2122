"""Several methods under one requirement, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.engines.base import check_method
from shoal.engines.local import Local
from shoal.errors import InputError, NotAchievable, UsageError
from shoal.methods.choice import choose_method, search, warm_up
from shoal.methods.exchange import Exchange
from shoal.methods.freeform.method import Freeform
from shoal.methods.mondrian import Mondrian
from shoal.methods.splitting import Split
from shoal.progress import Brief, Progress, silent, with_bar
from shoal.release.manifest import conclusion_of
from shoal.runs.doing import trial_of
from shoal.runs.learning import part
from shoal.runs.publish import audit_spelled, made_of
from shoal.runs.run import Run
from shoal.table.forms import TWO_TABLES
from shoal.table.reading import take_frame
from shoal.utility.least import least_loss, times_least
from shoal.utility.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from shoal.methods.base import Method, Task
    from shoal.principles.requirement import Require
    from shoal.runs.learned import LearningUtility
    from shoal.runs.release import Release
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema
    from shoal.utility.workload import CountQueries

USUAL = (Exchange(), Split(), Split(partition="round-robin"), Mondrian(), Freeform())
QUERIES = 1000
SEED = 0  # of queries and models: nothing is published, and equal calls are to agree


@dataclass(frozen=True)
class Entry:
    """What one method made of the table; everything but its name is None where it found nothing.

    `loss` is the GCP, `times_least` how many times the least possible one it is at most (see
    `shoal.utility.least`; None where that is not known), `query_error` holds mean, median and 95th
    percentile of the relative error of count queries, `learning` what `learning_utility` measures,
    `squared_error` what the means of groups lose (SSE / SST; see `shoal.release.squares`),
    `risk` the worst in the published table, `regression` what may be concluded from a release in
    the form `Comparison.form`: valid, approximate or refused. `seconds` are those of the search,
    `megabytes` what it held at its peak beyond the table (see `shoal.methods.choice`; None where
    the system does not tell).
    """

    method: str
    loss: float | None = None
    times_least: float | None = None
    query_error: dict[str, float] | None = None
    learning: dict[str, Any] | None = None
    squared_error: float | None = None
    risk: float | None = None
    holds: bool | None = None
    groups: int | None = None
    seconds: float | None = None
    megabytes: float | None = None
    regression: str | None = None
    problem: str | None = None


@dataclass(frozen=True, repr=False)
class Comparison(Brief):
    """Methods in the order of their loss; `workload` says what queries were about, if any were.

    No method can lose less than `least_loss` where the requirements hold. `form` is what
    regressions are judged in: two-tables where the requirements allow it.

    Those whose release fails its own audit stand behind those that hold, whatever they lose, and
    those that found nothing stand last.
    """

    _brief = ("require", "rows", "holds", "losses")

    require: tuple[str, ...]
    rows: int
    workload: dict[str, float] | None
    entries: tuple[Entry, ...]
    remarks: tuple[str, ...] = ()
    least_loss: float | None = None
    form: str = TWO_TABLES

    @property
    def losses(self) -> dict[str, float | None]:
        """What each method loses (GCP), None where it found nothing."""
        return {entry.method: entry.loss for entry in self.entries}

    @property
    def reached(self) -> bool:
        """Whether any method reached what is required."""
        return any(entry.problem is None for entry in self.entries)

    @property
    def holds(self) -> bool:
        """Whether any method's release holds what is required."""
        return any(entry.holds for entry in self.entries)

    @property
    def refusal(self) -> str:
        """Why none did, each reason once."""
        return " ".join(dict.fromkeys(entry.problem for entry in self.entries if entry.problem))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from shoal.views.pages import comparison_part

        return comparison_part(self.to_dict())


@with_bar
def compare(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    methods: Sequence[Method | str] | None = None,
    queries: int = QUERIES,
    learning: bool = False,
    target: str | None = None,
    missing: Missing = "error",
    population: Any = None,
    seconds: float | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Publish a table by several methods, in memory, and measure each release.

    Parameters
    ----------
    frame, schema, require, missing, progress : as for `anonymize`.
    methods : which to compare; by default all that can search for what is required.
    queries : how many count queries every release answers, the same for all; 0 for none.
    learning : whether to measure learning utility, which takes a second search by each method.
    target : the column to learn, see `learning_utility`.
    seconds : of each search.
    """
    run = Run.over(
        frame,
        schema,
        require=require,
        missing=missing,
        population=population,
        seconds=seconds,
    )
    return compared(
        run, methods=methods, queries=queries, learning=learning, target=target, progress=progress
    )


def compared(
    run: Run,
    *,
    methods: Sequence[Method | str] | None = None,
    queries: int = QUERIES,
    learning: bool = False,
    target: str | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Publish the table of a run by several methods, whichever it names itself."""
    run = replace(run, suppress=None)
    table, run = run.with_table(take_frame(run.frame()))
    asked, schema = run.requirements, run.schema
    prepared = run.prepare(table)
    task, coded = prepared.task, prepared.task.coded
    chosen = [choose_method(one, asked) for one in methods] if methods else _fitting(task)
    # Several rows of a person share one box, and what is near goes by people.
    bound = least_loss(coded, asked) if not coded.person_of.given else None
    remarks: list[str] = []
    questions = _draw(table[coded.rows], schema, queries, remarks)
    learn = None
    if learning or target is not None:
        learn = _learner(table, run, target)
    entries = []
    exposing = any(one.principle.columns == 0 for one in asked)  # these limit who is found
    form = run.form if exposing else TWO_TABLES
    solve = Local().solve
    for place, method in enumerate(chosen):
        progress("compare", place / len(chosen))
        try:
            check_method(method, task)
            warm_up(method, task, solve)
            made = search(method, task, solve)
        except NotAchievable as problem:
            entries.append(Entry(repr(method), problem=problem.sentence))
            continue
        release = made_of(prepared, table, schema, made, method)
        audit = audit_spelled(release)
        entries.append(
            Entry(
                method=repr(method),
                loss=release.loss,
                times_least=None if bound is None else times_least(release.loss, bound),
                query_error=_error(questions, release),
                learning=_learned(learn, method, remarks),
                squared_error=release.squared_error,
                risk=audit.worst_risk,
                holds=audit.holds,
                groups=release.manifest.groups,
                seconds=made.seconds,
                megabytes=made.megabytes,
                regression=conclusion_of(release.manifest.but(form=form))[0],
            )
        )
    progress("compare", 1.0)
    entries.sort(key=_place)
    workload = None if questions is None else asdict(questions.workload)
    return Comparison(
        tuple(map(repr, asked)), len(coded), workload, tuple(entries), tuple(remarks), bound, form
    )


def _place(entry: Entry) -> tuple[bool, bool, float]:
    """Return by what entries are sorted: what holds first, and of that what loses least."""
    return entry.problem is not None, not entry.holds, entry.loss or 0.0


def _draw(
    original: pl.DataFrame, schema: Schema, queries: int, remarks: list[str]
) -> CountQueries | None:
    """Draw the queries that every release is asked, over two quasi columns and a sensitive one."""
    if queries == 0:
        return None
    workload = Workload(
        quasi=min(2, len(schema.quasi)), sensitive=min(1, len(schema.sensitive)), queries=queries
    )
    try:
        return workload.draw(original, schema, seed=SEED)
    except InputError as problem:  # a table too small for them can be compared all the same
        remarks.append(f"Queries were not asked. {problem}")
        return None


def _error(questions: CountQueries | None, release: Release) -> dict[str, float] | None:
    if questions is None:
        return None
    found = questions.error(release)
    return {"mean": found.mean, "median": found.median, "p95": found.p95}


def _learner(
    table: pl.DataFrame, run: Run, target: str | None
) -> Callable[[Method], LearningUtility]:
    """Part the rows once, and return what anonymizes those for training by a method and learns."""
    trial, train, fixed = part(table, run.schema, target=target, missing=run.missing, seed=SEED)

    def learn(method: Method) -> LearningUtility:
        trained = replace(
            run, table=train, schema=fixed, require=run.requirements, method=method, seed=SEED
        )
        return trial.score(trial_of(trained))

    return learn


def _learned(
    learn: Callable[[Method], LearningUtility] | None, method: Method, remarks: list[str]
) -> dict[str, Any] | None:
    if learn is None:
        return None
    try:
        return learn(method).to_dict()
    except NotAchievable as problem:  # fewer rows may not reach what all of them do
        remarks.append(f"{method!r} was not learned from: on the training rows, {problem}")
        return None


def _fitting(task: Task) -> list[Method]:
    """Return the usual methods that can search for what is required."""
    fitting: list[Method] = []
    for method in USUAL:
        try:
            check_method(method, task)
        except UsageError:
            continue
        fitting.append(method)
    usual = choose_method(None, list(task.requirements), cells=task.coded.cells)
    return fitting or [usual]  # whose check says why not
