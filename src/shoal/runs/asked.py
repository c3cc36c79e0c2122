"""The public part of what was asked: without places, seeds, secrets and unpublished columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.engines.base import is_spark
from shoal.engines.local import engine_of
from shoal.methods.choice import choose_method
from shoal.release.manifest import CONTEXT
from shoal.release.stated import StatedAsk
from shoal.table.grid import REGIONS, TIGHT
from shoal.table.groupings import Listed
from shoal.table.settings import is_said
from shoal.views.again import listable

if TYPE_CHECKING:
    from shoal.engines.base import Engine
    from shoal.release.manifest import Manifest
    from shoal.runs.run import Run
    from shoal.table.schema import Schema

ROLES = ("quasi", "sensitive", "other", "nobody_knows", "pseudonymize")
BY_COLUMN = {  # what a schema says of single columns, by the option that says it
    "type": "types",
    "hierarchy": "hierarchies",
    "weight": "weights",
    "date_format": "date_formats",
    "round": "round",
    "bottom": "bottom",
    "top": "top",
    "missing_cells": "missing_cells",
}


def asked(run: Run) -> dict[str, Any]:
    """Return the public part of what was asked, by the names of options.

    Requirements, form, title, context and threshold have keys of their own in a manifest. Of
    places, of secrets and of the person column it is only said, by `True`, that they were given.
    """
    schema = run.schema if run.cells == REGIONS else replace(run.schema, step={})
    tables = (schema, *schema.linked.values())
    columns = {option: _by_column(tables, option) for option in BY_COLUMN}
    said: dict[str, Any] = {
        "schema": in_a_file(schema),
        **{role: [name for one in tables for name in getattr(one, role)] for role in ROLES},
        "key_file": bool(schema.pseudonymize),
        "person": schema.person is not None,
        "most_rows": schema.most_rows,
        "rows": None if schema.rows_known else schema.rows,
        "linked": list(schema.linked),
        "never_mix": list(schema.never_mix),
        "survey_weight": schema.survey_weight,
        **columns,
        "decimal": schema.decimal,
        "missing": None if run.missing == "error" else run.missing,
        "population": run.population is not None,
        "method": None if run.method is None else repr(choose_method(run.method, run.asked)),
        "suppress": _plain(run.suppress),
        "seconds": run.seconds,
        "engine": _engine(engine_of(run.engine)),
        "ledger": run.ledger is not None,
        "batch": None if run.batch == 1 else run.batch,
        "least_real": None if run.least_real == 1 else run.least_real,
        "keep_other": run.keep_other,
        "cells": None if run.cells == TIGHT else run.cells,
        "withhold_counts": run.withhold_counts,
        "hold_out": None if run.withhold_counts else _plain(run.hold_out),
        "escape_formulas": run.escape_formulas,
        "delimiter": run.delimiter,
        "encoding": run.encoding,
    }
    return {name: value for name, value in said.items() if is_said(value)}


def say_asked(manifest: Manifest, run: Run) -> None:
    """Put the public part of what was asked into a manifest."""
    manifest.asked = StatedAsk(**asked(run))
    if public := {name: run.context[name] for name in CONTEXT if name in run.context}:
        manifest.context = public


def _by_column(tables: tuple[Schema, ...], option: str) -> dict[str, Any]:
    """Return what is said of published columns, where an option can say it."""
    return {
        name: True if isinstance(value, Listed) else _plain(value)
        for one in tables
        for name, value in getattr(one, BY_COLUMN[option]).items()
        if name in one.published and name not in in_a_file(one)
    }


def _plain(value: Any) -> Any:
    """Return what an option takes: a number, or a text."""
    if value is None or type(value) in {int, float, str}:
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
    told = (*schema.order, *schema.near, *schema.step, *schema.bounds)
    named = {name for name in told if name in used}
    named |= {name for name in used if not listable(name)}
    said = {*schema.types, *schema.hierarchies, *schema.weights}
    said |= {name for entries in schema.said_of(used).values() for name in entries}
    named |= {name for name in used if name in said and "=" in name}
    return sorted(named)
