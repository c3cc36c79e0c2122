"""Publishing a frame: the whole way of the data in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.progress import Progress, silent, with_bar
from shoal.runs.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shoal.engines.base import Engine
    from shoal.methods.base import Method
    from shoal.principles.requirement import Require
    from shoal.runs.release import Release
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema


@with_bar
def anonymize(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    missing: Missing = "error",
    population: Any = None,
    linked: Mapping[str, Any] | None = None,
    suppress: str | float | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    engine: Engine | str | None = None,
    escape_formulas: bool = False,
    key: bytes | None = None,
    title: str | None = None,
    context: Mapping[str, str] | None = None,
    withhold_counts: bool = False,
    form: str = "intervals",
    keep_other: bool = False,
    cells: str = "tight",
    progress: Progress = silent,
) -> Release:
    """Publish a table so that the requirements hold in every group.

    What is returned was audited: Shoal spells its cells, reads them again and measures every
    requirement on them. `AuditFailed` is raised where one does not hold.

    Parameters
    ----------
    frame : a pandas, Polars or PyArrow table; it is not changed. A lazy frame of Polars, a relation
        of DuckDB and a dataset of PyArrow are read once, in batches. With the engine `Spark()`, a
        frame of Spark: then so is the `table` of the release.
    schema : the roles of its columns.
    require : one principle or several, as objects or in the notation.
    method : how to search; by default the best one for what is required.
    missing : what to do about missing cells: "error", "drop" or "value".
    population : the path or frame of a table of everyone who could be in the table, with the
        quasi columns as they really are; for `KMap` and `DeltaPresence`.
    linked : more tables about the same people, frames or paths, by the names that they are
        published under. Their columns have names such as `visits.diagnosis` in the schema and in
        requirements.
    suppress : how much of the table may be left out, for example "1%". Shoal first leaves out the
        fewest rows without which the requirements can hold. Then it leaves out rows where that
        lowers the total loss.
    seconds : how long a search that can go on improving may take. If it ends earlier, Shoal uses
        the rest to lose less. The result then depends on the clock, and a seed does not repeat it.
    seed : for tests only: makes the order of published rows repeatable, and so guessable.
    engine : where the work is done, `Local()` by default.
    escape_formulas : put an apostrophe before headers, labels and cells that a spreadsheet would
        run.
    key : the secret of at least 16 bytes that pseudonyms are made with; it is kept nowhere.
    title : what the release is called in its manifest and report, public.
    context : who publishes the release and why, public: `institution`, `purpose`, `recipients`,
        `legal_basis` and `review_date` (a day, for example "2027-01-31").
    withhold_counts : whether the public files leave out how many rows came in, and how many were
        left out for which reason.
    form : how quasi values are spelled: "intervals", "bounds" (two columns of numbers), "means"
        (the mean of the group, and its bounds) or "two-tables" (quasi values as they are in one
        table, sensitive ones in another, linked by group).
    keep_other : whether two tables may have other columns, beside the quasi values.
    cells : how the cells of a group are drawn: "tight" (the smallest that cover its rows) or
        "regions" (what lies between cuts on a public grid, so that no end points at a row). The
        schema's `step` and `bounds` say where that grid lies.
    progress : called with the name of a phase and the share of it that is done.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({
    ...     "age": [17, 19, 20, 24, 29, 34, 39, 45],
    ...     "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    ... })
    >>> schema = shoal.Schema(quasi="age", sensitive="salary")
    >>> release = shoal.anonymize(people, schema, require="EpsilonM(epsilon=100, m=2)")
    >>> release.audit().holds
    True
    """
    asked = {**locals()}
    for name in ("frame", "schema", "progress"):
        del asked[name]
    return Run.over(frame, schema, **asked).release(progress)
