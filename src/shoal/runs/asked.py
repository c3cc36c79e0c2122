"""The public part of what was asked: without places, seeds, secrets and unpublished columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.ask.fields import CONTEXT
from shoal.ask.options import NAMES, OF_COLUMNS, is_said, listable, options_of
from shoal.engines.base import engine_of, is_spark
from shoal.methods.choice import choose_method
from shoal.notation import Term
from shoal.release.stated import StatedAsk
from shoal.table.grid import REGIONS
from shoal.table.schema import BY_COLUMN, OPTIONS

if TYPE_CHECKING:
    from shoal.ask.options import Option
    from shoal.engines.base import Engine
    from shoal.release.manifest import Manifest
    from shoal.runs.run import Run
    from shoal.table.schema import Schema


NO_OPTION = [name for name in BY_COLUMN if not (OPTIONS[name].panel or OPTIONS[name].shares)]


def asked(run: Run) -> dict[str, Any]:
    """Return the public part of what was asked, by the names of options.

    Requirements, form, title, context and threshold have keys of their own in a manifest. Of
    places, of secrets and of the person column it is only said, by `True`, that they were given.
    """
    schema = run.schema if run.cells == REGIONS else replace(run.schema, step={})
    tables = (schema, *schema.linked.values())
    method = None if run.method is None else repr(choose_method(run.method, run.requirements))
    settled: dict[str, Any] = {
        "schema": in_a_file(schema),
        "other": [n for one in tables for n in one.other if n != schema.survey_weight],
        "key_file": bool(schema.pseudonymize),
        "linked": list(schema.linked),
        "method": method,
        "engine": _engine(engine_of(run.engine)),
        "hold_out": None if run.withhold_counts else _plain(run.hold_out),
        "format": None,  # of the files, which is said where they are written
    }
    said = {}
    for name, option in options_of(run.asks).items():
        if not option.in_asked:
            continue
        value = settled[name] if name in settled else _value(run, tables, name, option)
        if is_said(value) and value != option.usual:
            said[option.name] = value
    return said


def say_asked(manifest: Manifest, run: Run) -> None:
    """Put the public part of what was asked into a manifest."""
    manifest.asked = StatedAsk(**asked(run))
    if public := {name: run.context[name] for name in CONTEXT if name in run.context}:
        manifest.context = public


def _value(run: Run, tables: tuple[Schema, ...], name: str, option: Option) -> Any:
    """Return what is said of published columns or of the run, as an option says it."""
    if option.within == OF_COLUMNS:
        return {
            column: _of_column(value)
            for one in tables
            for column, value in getattr(one, name).items()
            if column in one.published and column not in in_a_file(one)
        }
    if option.kind == NAMES:
        return [column for one in tables for column in getattr(one, name)]
    value = getattr(run if hasattr(run, name) else run.schema, name)
    return value is not None if option.secret else _plain(value)


def _of_column(value: object) -> object:
    """Return what is said of one column: of a list of labels only that there is one."""
    if isinstance(value, Term):
        from shoal.table.groupings import Listed

        return True if isinstance(value, Listed) else _plain(value)
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return what an option takes: a number, or a text."""
    if value is None or type(value) in {int, float, str, bool}:
        return value
    return str(value)


def _engine(engine: Engine) -> str | None:
    """Return an engine in the notation, without where it is; None for the usual one."""
    if is_spark(engine):
        return repr(replace(engine, session=None, master=None))
    return None if engine == engine_of(None) else repr(engine)


def in_a_file(schema: Schema) -> list[str]:
    """Return the columns of which something stands in a schema file, as no option can say it."""
    used = (*schema.published, *schema.pseudonymize)
    if schema.linked:
        plain = replace(schema, linked={})
        return sorted(n for one in (plain, *schema.linked.values()) for n in in_a_file(one))
    told = {name for key in NO_OPTION for name in getattr(schema, key)}
    named = {name for name in told if name in used}
    named |= {name for name in used if not listable(name)}
    said = {name for key in BY_COLUMN for name in getattr(schema, key)}
    named |= {name for name in used if name in said and "=" in name}
    return sorted(named)
