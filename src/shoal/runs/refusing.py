"""What is refused of a table: percentiles of what is not published, columns that tell people apart.

Percentiles are published, so they follow from published rows alone. Rows with missing cells that
are dropped, and rows beyond the number that is published of a person, are left out before a
percentile is taken. Who else is left out only a search can say: together with that, a percentile is
refused.

Columns are refused that tell people apart as they stand, as names and free text do.
A column that is published unchanged is refused where over half of the people are the only ones of
their group with their cells in it, and it has more than 50 values; a sensitive one, which readers
are not taken to know, only where most of its values are words. A quasi column is refused where the
release would publish sets of names or free texts: it has more than 50 labels, and over half of the
rows have a label of words that at most one other person has. Codes, as those of places, are no
words, and a hierarchy publishes its nodes instead of such labels. Every published column is refused
whose header or cells say that it names or reaches people, or that it is free text, however often
its cells repeat: as it is, as sets, as nodes, as values that are protected. Nothing is refused of
which the owner states that no reader knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.exposed import MANY, Everybody, ShownRows, are_words, count_columns
from shoal.errors import Exposing, Naming, UsageError, option
from shoal.exact import percent, read_share
from shoal.inspection.lexicon import names_private
from shoal.inspection.private import says_names
from shoal.inspection.profile import Profile
from shoal.principles.groups import Groups
from shoal.release.cells import carried_text
from shoal.release.forms import as_it_was
from shoal.release.layout import Randomness
from shoal.table.coded import kept_rows
from shoal.table.coding import code_persons
from shoal.table.forms import TWO_TABLES
from shoal.table.partition import PersonOf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from shoal.audit.verify import Audit
    from shoal.methods.base import Task
    from shoal.runs.checks import Prepared
    from shoal.runs.run import Run
    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.schema import Schema


FEW = 2  # people who share a label that hardly hides any of them


def check_audited(found: Audit) -> None:
    """Raise where a release would publish columns by which most people are told apart."""
    if found.exposed is None or found.exposed.tally is None or not found.exposed.refused:
        return
    counted = found.exposed.tally
    alone = max(counted.columns[name].alone for name in found.exposed.refused)
    who = "rows" if found.people is None else "people"
    raise _exposing(found.exposed.refused, alone / counted.people, who)


def check_columns(run: Run, table: pl.DataFrame, prepared: Prepared) -> None:
    """Raise before a search where columns are certain to be refused after it.

    Cells that nobody else in the table has are nobody else's in a group either. Where there will be
    no groups, this is all that can be said.
    """
    coded, schema = prepared.task.coded, run.schema
    about = {name for one in run.requirements for name in one.columns}
    check_labels(schema, coded, run.form, about)
    shown = [(table, schema, coded.rows, coded.person_of)]
    for each in coded.linked:
        linked = prepared.linked[each.name]
        shown.append((linked.table, linked.schema, each.rows, each.person_of))
    tables: list[ShownRows] = []
    names: list[str] = []
    secret: set[str] = set()
    for cells, own, rows, whom in shown:
        some = shown_unchanged(own, {*about, schema.survey_weight})
        secret.update(own.sensitive)
        if some:
            spelled = cells.select(carried_text(cells[name]) for name in some)[rows]
            check_shown(spelled, some)
            tables.append(ShownRows(spelled, own, whom))
            names += some
    if not names or schema.most_rows is not None:  # which rows go is chance
        return
    people = len(coded.person_of)
    whole = Groups(np.zeros(people, np.int64))
    found = count_columns(Everybody(whole, whole, tuple(tables)), names)
    left = int(people * read_share(run.suppress))  # at most
    sure = [
        name
        for name, column in found.items()
        if column.names_people(people + left, secret=name in secret)
        and (not left or column.alone - left > MANY)
    ]
    if sure:
        alone = max(found[name].alone for name in sure)
        raise _exposing(sure, alone / people, coded.person_of.whom)


def _exposing(names: Sequence[str], share: float, who: str) -> Exposing:
    several = len(names) > 1
    listed, joined = ", ".join(map(repr, names)), ",".join(names)
    they, them = ("Columns {} are", "them") if several else ("Column {} is", "it")
    # Linked columns have no groups, and what is private is no better off in a cell of a few values.
    flat = [name for name in names if not ("." in name or names_private(name))]
    some = them if flat == [*names] else ", ".join(map(repr, flat))
    coarser = f"generalize {some} ({option('quasi', ','.join(flat))}), " if flat else ""
    msg = (
        f"{they.format(listed)} published unchanged, and {percent(share)} of the {who} are unique "
        f"in their group on {'one of ' * several}{them}: anyone who knows the value finds the "
        f"person. Leave {them} out ({option('identifying', joined)}), {coarser}protect {them} as a "
        f"sensitive column with a requirement of its own ({option('require')}), or state that no "
        f"reader knows {them}: {option('nobody_knows', joined)}."
    )
    return Exposing(msg, names)


def check_labels(schema: Schema, coded: Coded, form: str, about: Collection[str]) -> None:
    """Raise where cells of a quasi or protected column name or reach people, or are free text.

    Of a quasi column, sets of them or nodes above them would be published; of a protected one, each
    beside a group.
    """
    for column in map(as_it_was, coded.quasi) if form == TWO_TABLES else coded.quasi:
        if column.name in schema.nobody_knows:
            continue
        rows = np.bincount(column.codes, minlength=column.distinct)
        check_quasi(column, coded.person_of.count(column.codes, column.distinct), rows)
    for column in (*coded.sensitive, *(one for each in coded.linked for one in each.sensitive)):
        if column.name in about and column.name not in schema.nobody_knows:
            rows = np.bincount(column.codes, minlength=column.distinct)
            check_names(column.name, column.spellings, rows)


def check_quasi(column: Column, people: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Raise where labels of a quasi column, or nodes above them, would give people away.

    So many people and rows have each label. A label stands for itself where a whole group has it,
    so a hierarchy does not hide names.
    """
    check_names(column.name, column.spellings, rows)
    if column.tree is not None and column.places is not None:
        for above in column.tree.up[1:-1, column.places]:
            nodes, which = np.unique(above, return_inverse=True)
            counted = np.bincount(which, rows).astype(np.int64)
            check_names(column.name, pl.Series([column.tree.names[n] for n in nodes]), counted)
    if not column.numeric:
        check_counted(column, people, rows)


def check_names(name: str, labels: pl.Series, rows: NDArray[np.int64]) -> None:
    """Raise where labels name or reach people, however many share one, or are free text."""
    held = rows > 0
    found = says_names(name, labels.filter(pl.Series(held)), rows[held])
    if found is not None:
        msg = (
            f"Column {name!r} looks like {found.what} ({found.why}), and the release would publish "
            f"them. Leave it out ({option('identifying', name)}). If it is something else, state "
            f"that no reader knows it of a person: {option('nobody_knows', name)}."
        )
        raise Naming(msg, [name])


def shown_unchanged(schema: Schema, about: Collection[str | None]) -> list[str]:
    """Return the columns published as they are that nothing is required of or stated about."""
    known = {*about, *schema.nobody_knows, schema.survey_weight}
    return [name for name in (*schema.sensitive, *schema.other) if name not in known]


def check_shown(table: pl.DataFrame, names: Iterable[str]) -> None:
    """Raise where columns that are published unchanged name or reach people, or are free text."""
    for name in names:
        profile = Profile.of(carried_text(table[name]))
        check_names(name, profile.cells, profile.counts)


def check_counted(column: Column, people: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Raise where labels are names or free text, of which so many people and rows have each.

    Nodes hide a label unless they are called after it, as `Anna..Zoe` is.
    """
    held = rows > 0
    if int(held.sum()) <= MANY:
        return
    rare = held & (people <= FEW) & are_words(column.spellings).to_numpy()
    if column.tree is not None and column.places is not None:
        from shoal.table.groupings import BETWEEN

        own, nodes = {*column.spellings.filter(pl.Series(rare))}, column.tree.up[1, column.places]
        called = {node: column.tree.names[node].split(BETWEEN) for node in np.unique(nodes)}
        show = [node for node, ends in called.items() if len(ends) > 1 and not own.isdisjoint(ends)]
        rare = held & np.isin(nodes, show)
    count, whole = int(rows[rare].sum()), int(rows.sum())
    if 2 * count <= whole:
        return
    msg = (
        f"Column {column.name!r} looks like names or free text: {count:,} of {whole:,} rows have a "
        f"text that at most one other person has, and the release would publish such texts. Leave "
        f"it out ({option('identifying', column.name)}), give it a {option('hierarchy')} whose "
        f"nodes are not called after them, or state that no reader knows it: "
        f"{option('nobody_knows', column.name)}."
    )
    raise Naming(msg, [column.name])


NUMBER = "Give the threshold as a number instead."


def check_percentiles(run: Run) -> None:
    """Raise where rows may be left out that a percentile would be taken of."""
    said = _said(run.schema, *run.schema.linked.values())
    if said and read_share(run.suppress):
        msg = (
            f"{said} takes its threshold from the rows of the table, and {option('suppress')} may "
            "leave some of them out: the threshold would then show something about rows that are "
            f"not published. {NUMBER}"
        )
        raise UsageError(msg)


def offered_rows(run: Run, table: pl.DataFrame) -> pl.Series | None:
    """Return which rows may be published: complete ones, of each person no more than are asked for.

    Which of a person's those are is left to chance. The others leave no trace. Nothing is returned
    where neither percentiles nor the number of rows of a person ask for it.
    """
    schema = run.schema
    capped = schema.person is not None and schema.most_rows is not None
    if not capped and not _said(schema):
        return None
    stays = kept_rows(table, schema, run.missing)
    if not capped:
        return stays
    whom = PersonOf(code_persons(table[str(schema.person)].filter(stays)))
    kept = stays.arg_true().filter(pl.Series(offered_of(run, whom)))
    return pl.int_range(table.height, eager=True).is_in(kept.implode())


def offered_of(run: Run, whom: PersonOf) -> NDArray[np.bool_]:
    """Return which rows of people may be published, by chance as many of each as are asked for."""
    most = run.schema.most_rows
    if most is None:
        return np.ones(len(whom.labels), np.bool_)
    (order,) = Randomness(run.seed).permutations(len(whom.labels))
    return whom.turns(order) < most


def offered_linked(run: Run, table: pl.DataFrame, schema: Schema) -> pl.Series | None:
    """Return the rows of a linked table that percentiles are taken of, where there are any."""
    return kept_rows(table, schema, run.missing) if _said(schema) else None


def check_published(run: Run, prepared: Prepared, task: Task) -> None:
    """Raise where a search left out rows that percentiles were taken of."""
    _refuse(_said(run.schema), len(prepared.task.coded) - len(task.coded))
    for one in task.coded.linked:
        asked, linked = run.schema.linked[one.name], prepared.linked[one.name]
        stays = offered_linked(run, linked.table, asked)
        if stays is not None:
            _refuse(_said(asked), int(stays.sum()) - len(one.rows))


def _refuse(said: str | None, left_out: int) -> None:
    if said and left_out:
        msg = (
            f"{said} takes its threshold from the rows of the table, and {left_out:,} of them are "
            "not published, because their people fit into no group: the threshold would show "
            f"something about these rows. {NUMBER}"
        )
        raise UsageError(msg)


def _said(*schemas: Schema) -> str | None:
    """Return the first percentile of schemas as it is asked for, None where there is none."""
    for schema in schemas:
        for name, trim in schema.trims.items():
            for side, share in trim.percentiles:
                return option(side, f"{name}={share}")
    return None
