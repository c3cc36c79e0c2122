"""The frontier: what a method loses as one parameter of a requirement grows, and its knee.

Which values of a parameter are tried a person says, or they lie around the value that is asked for:
`epsilon` (a grid of our own), `epsilon=1000,2000,4500`, `epsilon=1000..9000` (so many points as
`POINTS`, evenly apart) or `epsilon=1000..9000:5`.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.base import check_method
from shoal.engines.local import Local
from shoal.errors import NotAchievable, UsageError, nearest
from shoal.methods.choice import choose_method, loss_of, search
from shoal.notation import brief
from shoal.principles.groups import Groups
from shoal.progress import Brief, Progress, silent, with_bar
from shoal.runs.knees import FEWEST, Knee, knee
from shoal.runs.publish import audit_spelled, made_of
from shoal.runs.run import Run
from shoal.table.reading import take_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.methods.choice import Searched
    from shoal.principles.base import Principle
    from shoal.principles.requirement import Require, Requirement
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema

    Points = Sequence[float] | NDArray[np.float64]


POINTS = 8
MOST_POINTS = 100
RANGE = re.compile(r"(?P<first>[^.:].*?)\.\.(?P<last>.+?)(?::(?P<points>\d+))?")
FORM = "Write it as epsilon=1000,2000,4500 or epsilon=1000..9000:5."


@dataclass(frozen=True)
class Grid:
    """A parameter of one requirement, and the values to try, ascending."""

    place: int  # of the requirement among all
    parameter: str
    values: tuple[float, ...]


def grid_of(asked: Sequence[Requirement], vary: str | None) -> Grid:
    """Read what is to be varied; without it, the first parameter of the first requirement."""
    name, equals, said = (part.strip() for part in (vary or "").partition("="))
    if (vary and not name) or (equals and not said):
        msg = f"Cannot read {brief(vary or '')}. {FORM}"
        raise UsageError(msg)
    place, parameter = _find(asked, name or None)
    principle = asked[place].principle
    values = _read(said, vary or "") if said else _around(principle, parameter)
    return Grid(place, parameter, values)


def parameters(principle: Principle) -> dict[str, bool]:
    """Return the parameters of a principle that are numbers, and whether each is a whole one."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(principle)  # type: ignore[arg-type]
    return {field.name: field.type == "int" for field in fields if field.type in {"int", "float"}}


def _find(asked: Sequence[Requirement], name: str | None) -> tuple[int, str]:
    known = [parameters(one.principle) for one in asked]
    if name is None:
        return 0, next(iter(known[0]))
    places = [place for place, names in enumerate(known) if name in names]
    if not places:
        every = sorted({name for names in known for name in names})
        msg = f"No requirement has a parameter {name!r}{nearest(name, every)}"
        raise UsageError(msg)
    if len(places) > 1:
        msg = (
            f"{len(places)} requirements have a parameter {name!r}. Vary one that only one of them "
            "has, or tune them one at a time."
        )
        raise UsageError(msg)
    return places[0], name


def _read(said: str, whole: str) -> tuple[float, ...]:
    found = RANGE.fullmatch(said)
    if not found:
        return tuple(sorted({_number(text, whole) for text in said.split(",")}))
    first, last = _number(found["first"], whole), _number(found["last"], whole)
    points = int(found["points"] or POINTS)
    if not 2 <= points <= MOST_POINTS or first >= last:
        msg = (
            f"In {brief(whole)}, a range goes from a smaller to a larger number in 2 to "
            f"{MOST_POINTS} points. {FORM}"
        )
        raise UsageError(msg)
    integers = isinstance(first, int) and isinstance(last, int)
    return _distinct(np.linspace(first, last, points), whole=integers)


def _number(text: str, whole: str) -> float:
    text = text.strip()
    try:
        value = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        finite = abs(value) < float("inf")
    except ValueError:
        finite = False
    if not finite:
        msg = f"In {brief(whole)}, {brief(text)} is not a number. {FORM}"
        raise UsageError(msg)
    return value


def _around(principle: Principle, parameter: str) -> tuple[float, ...]:
    """Return values from a quarter of what is asked for to twice as much, those that are allowed.

    Where these are whole numbers and too few, all from 2 to 9 instead.
    """
    asked, whole = getattr(principle, parameter), parameters(principle)[parameter]
    if not asked:
        msg = f"Shoal cannot choose values around {parameter}={asked}. Name some to try. {FORM}"
        raise UsageError(msg)
    steps = np.arange(1, POINTS + 1) * asked / (POINTS / 2)
    values = _distinct(steps, whole=whole)
    if whole:
        values = tuple(value for value in values if value >= min(2, asked))  # 1 protects nobody
    if whole and len(values) < 6:
        values = tuple(sorted({*range(2, 2 + POINTS), asked}))
    return tuple(value for value in values if _allowed(principle, parameter, value))


def _allowed(principle: Principle, parameter: str, value: float) -> bool:
    try:
        dataclasses.replace(principle, **{parameter: value})  # type: ignore[type-var]
    except UsageError:
        return False
    return True


def _distinct(values: Any, *, whole: bool) -> tuple[float, ...]:
    if whole:
        return tuple(sorted({round(value) for value in values.tolist()}))
    return tuple(sorted({float(f"{value:.6g}") for value in values.tolist()}))


@dataclass(frozen=True)
class Setting:
    """One value of the parameter and what it costs; where it is not achievable, why not.

    `left_out` are the rows that people have beyond those that are published of them.
    """

    value: float
    require: str
    loss: float | None
    groups: int | None
    seconds: float | None
    problem: str | None = None
    left_out: int = 0

    def lost(self, rows: int) -> float:
        """Return the loss of all rows: of a row that is left out everything is lost."""
        share = self.left_out / max(1, rows)
        return share + (1 - share) * (self.loss or 0.0)


@dataclass(frozen=True, repr=False)
class Frontier(Brief):
    """Loss against one parameter, in the order of the parameter.

    `asked` is the value in the requirement. `grows` says whether a larger parameter asks for more
    protection. `knee` is the point at which the curve bends most, None if it does not bend.
    """

    _brief = ("parameter", "rows", "sentence")
    rows: int
    method: str
    require: tuple[str, ...]
    parameter: str
    asked: float
    grows: bool  # whether more protection is asked for as the parameter grows
    points: tuple[Setting, ...]
    knee: Knee | None

    @property
    def reached(self) -> bool:
        """Whether any point is achievable."""
        return any(point.problem is None for point in self.points)

    @property
    def refusal(self) -> str:
        """Why no point is, in the words of the least."""
        return f"Shoal reached none of the {len(self.points)} settings. {self.points[0].problem}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, like the JSON of the command."""
        facts = asdict(self) | {"knee": None, "sentence": self.sentence}
        if self.knee is not None:
            point = self.points[self.knee.place]
            facts["knee"] = {
                "value": point.value,
                "loss": point.loss,
                "distance": self.knee.distance,
            }
        return facts

    @property
    def sentence(self) -> str:
        """What the curve says, in a sentence."""
        more = f"as {self.parameter} {'grows' if self.grows else 'falls'}"
        if self.knee is None:
            losses = [point.lost(self.rows) for point in self.points if point.loss is not None]
            if len(losses) < FEWEST:
                reached = "1 point was" if len(losses) == 1 else f"{len(losses)} points were"
                return f"No knee: {reached} reached, and {FEWEST} make a curve."
            weakest, strictest = (losses[0], losses[-1]) if self.grows else (losses[-1], losses[0])
            if weakest >= strictest:
                return f"No knee: more protection, {more}, does not cost more here."
            return f"No knee: the loss grows evenly with protection, {more}."
        at = f"{self.parameter} = {self.points[self.knee.place].value:,g}"
        if self.knee.rises:
            return (
                f"The knee is at {at}: up to it protection is cheap; past it, {more}, the loss "
                "grows faster."
            )
        return (
            f"The knee is at {at}: most of the loss comes before it; past it more protection, "
            f"{more}, costs little."
        )

    def _repr_html_(self) -> str:
        from shoal.views.pages import frontier_part

        return frontier_part(self.to_dict())


@with_bar
def tune(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    vary: str | None = None,
    method: Method | str | None = None,
    missing: Missing = "error",
    seconds: float | None = None,
    progress: Progress = silent,
) -> Frontier:
    """Search under one requirement after another that differ in one parameter.

    Parameters
    ----------
    frame, schema, require, method, missing, progress : as for `anonymize`.
    vary : the parameter and what to try, for example "epsilon=1000,2000,4500" or
        "epsilon=1000..9000:5". "epsilon" alone tries from a quarter of what is required to twice as
        much. Default: the first parameter of the first requirement.
    seconds : of each search.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": range(60), "pay": range(0, 6000, 100)})
    >>> schema = shoal.Schema(quasi="age", sensitive="pay")
    >>> found = shoal.tune(people, schema, require="EpsilonM(epsilon=500, m=2)", vary="m=2,3,12")
    >>> [point.problem is None for point in found.points]
    [True, True, False]
    """
    run = Run.over(
        frame,
        schema,
        require=require,
        method=method,
        missing=missing,
        seconds=seconds,
    )
    return tuned(run, vary=vary, progress=progress)


def tuned(run: Run, *, vary: str | None = None, progress: Progress = silent) -> Frontier:
    """Search the table of a run under one requirement after another."""
    schema = run.schema.only("quasi", "sensitive", "person")
    run = replace(run, schema=schema, linked={name: run.linked[name] for name in schema.linked})
    asked = run.requirements
    grid = grid_of(asked, vary)
    tried = [_with(asked, grid, value) for value in grid.values]
    chosen = choose_method(run.method, asked, run.form, run.cells)
    table, run = run.with_table(take_frame(run.frame()))
    prepared = run.prepare(table)
    base = prepared.task
    coded = base.coded

    def broken(made: Searched) -> str | None:
        found = audit_spelled(made_of(prepared, table, run.schema, made, chosen))
        return " ".join(found.complaints()) or None

    points = []
    for place, (value, required) in enumerate(zip(grid.values, tried, strict=True)):
        progress("tune", place / len(tried))
        task = replace(base, requirements=tuple(required))
        points.append(_try(chosen, task, value, repr(required[grid.place]), broken))
    progress("tune", 1.0)
    principle = asked[grid.place].principle
    grows = grid.parameter not in principle.looser
    return Frontier(
        rows=len(coded),
        method=repr(chosen),
        require=tuple(map(repr, asked)),
        parameter=grid.parameter,
        asked=getattr(principle, grid.parameter),
        grows=grows,
        points=tuple(points),
        knee=bend_of(points, grows=grows, rows=len(coded)),
    )


def bend_of(points: list[Setting], *, grows: bool, rows: int) -> Knee | None:
    """Return the knee of loss against protection; none where protection does not cost more."""
    reached = [place for place, point in enumerate(points) if point.loss is not None]
    if not grows:
        reached.reverse()  # so that protection grows along the curve
    losses = [points[place].lost(rows) for place in reached]
    if not losses or losses[-1] <= losses[0]:
        return None
    sign = 1 if grows else -1
    bend = knee([sign * points[place].value for place in reached], losses)
    return None if bend is None else replace(bend, place=reached[bend.place])


def _with(asked: list[Requirement], grid: Grid, value: float) -> list[Requirement]:
    """Return the requirements with one parameter changed."""
    one = asked[grid.place]
    principle = replace(one.principle, **{grid.parameter: value})  # type: ignore[type-var]
    changed = replace(one, principle=principle)
    return [*asked[: grid.place], changed, *asked[grid.place + 1 :]]


def _try(
    method: Method,
    task: Task,
    value: float,
    required: str,
    broken: Callable[[Searched], str | None],
) -> Setting:
    check_method(method, task)
    try:
        made = search(method, task, Local().solve)
    except NotAchievable as problem:
        return Setting(value, required, None, None, None, problem.sentence)
    if said := broken(made):  # what its own audit complains of was not reached
        return Setting(value, required, None, None, None, said)
    groups = len(made.found) if isinstance(made.found, Groups) else None
    loss = loss_of(made.task.coded, made.found)
    left_out = len(task.coded) - len(made.task.coded)
    return Setting(value, required, loss, groups, made.seconds, left_out=left_out)
