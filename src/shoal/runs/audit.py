"""One name for every audit (a room below has its name, so it stands in a module of its own)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from shoal.audit.files import audit_files
from shoal.audit.series import audit_several
from shoal.audit.survey import levels
from shoal.engines.base import engine_of, is_spark
from shoal.errors import UsageError, option
from shoal.progress import Shown
from shoal.runs.facts import Looking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shoal.audit.series import SeriesAudit
    from shoal.audit.survey import Levels
    from shoal.audit.verify import Audit
    from shoal.engines.base import Engine
    from shoal.principles.requirement import Require
    from shoal.runs.release import Release
    from shoal.table.schema import Schema


def audited(what: Any, *given: Any, **options: Any) -> Audit:
    """Measure published files; of a release, the report is compared with the tables too."""
    look = Looking(what)
    return look.compared(audit_files(what, *given, **options, look=look))


def audit_series(
    releases: Sequence[str | Path], *, ledger: str | Path | None = None
) -> SeriesAudit:
    """Audit several releases, the oldest first, or the finer one first.

    Parameters
    ----------
    releases : release directories.
    ledger : the owner's ledger of the series, for what public files cannot show.
    """
    return audit_several(releases, audited, ledger)


@overload
def audit(what: Release) -> Audit: ...


@overload
def audit(
    what: Any,
    schema: Schema | None = None,
    *,
    require: Require | Iterable[Require],
    original: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, object] | None = None,
    engine: Engine | str | None = None,
) -> Audit: ...


@overload
def audit(
    what: Any,
    schema: Schema | None = None,
    *,
    require: None = None,
    original: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, object] | None = None,
    group: str | None = None,
    engine: Engine | str | None = None,
) -> Any: ...


def audit(
    what: Any,
    schema: Schema | None = None,
    *,
    require: Require | Iterable[Require] | None = None,
    original: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, object] | None = None,
    group: str | None = None,
    engine: Engine | str | None = None,
) -> Audit | Levels:
    """Measure what is published: a release, its directory, or any table.

    A release and its directory are measured against what they promise, or against `require`. A
    table is measured against `require`; where nothing is required, the levels of the usual
    principles are returned instead (a `Levels`).

    Parameters
    ----------
    what : a release, a release directory, the path of a table, or a frame.
    schema : the roles of the columns, for a plain table. A release states them itself, except for
        the person column of a population.
    require : what should hold, for a plain table; for a directory, instead of what it promises.
    original : the path or frame of the original table, for a directory without groups.
    population : the path or frame of a table of everyone who could be in the table, for
        requirements about them.
    hierarchies : for a directory, those that its owner listed (files, nested nodes), which say what
        a node covers where the manifest cannot.
    group : the column that names the groups of a plain table of which nothing is required.
    engine : where to measure a directory with part files. Default: this machine.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": ["[1, 2]"] * 3, "pay": [1, 5, 9]})
    >>> schema = shoal.Schema(quasi="age", sensitive="pay")
    >>> shoal.audit(people, schema, require="KAnonymity(k=3)").holds
    True
    """
    released = isinstance(what, str | Path) and Path(what).is_dir()
    made = isinstance(what, Shown) and hasattr(what, "audit")  # here, or on Spark
    plain = not released and not made
    if group is not None and (require is not None or not plain):
        msg = f"{option('group')} is for a plain table of which nothing is required."
        raise UsageError(msg)
    if made:
        given = {"schema": schema, "require": require, "original": original}
        given |= {"population": population, "hierarchies": hierarchies, "engine": engine}
        if named := [name for name, value in given.items() if value is not None]:
            msg = f"A release is audited by what it promises: leave out {option(named[0])}."
            raise UsageError(msg)
        return what.audit()
    if engine is not None and is_spark(where := engine_of(engine)):
        given = {"schema": schema, "original": original, "population": population}
        given |= {"hierarchies": hierarchies or None}
        if not released or any(value is not None for value in given.values()):
            msg = (
                "Spark() audits a release directory with part files by what these say alone. Leave "
                f"out {option('engine')}."
            )
            raise UsageError(msg)
        from shoal.runs.spread import audit_spread

        look = Looking(what)
        return look.compared(audit_spread(Path(what), where, look, require))
    if released or require is not None:
        return audited(
            what,
            schema,
            require=require,
            original=original,
            population=population,
            hierarchies=hierarchies,
        )
    if original is not None or hierarchies:
        msg = "Only a release directory is audited against its original table and hierarchies."
        raise UsageError(msg)
    return levels(what, schema, group=group, population=population)
