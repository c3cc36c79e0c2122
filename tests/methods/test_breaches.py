"""Where exchanges end in breach, what is around the breach gets coarser and nothing else does."""

import contextlib
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.distances.relation import Band, Bits, Points, Several, near, pack
from shoal.kernels.metrics import MANHATTAN
from shoal.kernels.relations import proximate, related
from shoal.methods.base import Task
from shoal.methods.breaches import united
from shoal.methods.exchange import PARTS, Board
from shoal.methods.exchanging import Exchanging
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.table.people import by_people

M = 3


def task_of(values):
    frame = pl.DataFrame({"age": list(range(len(values))), "charges": values})
    schema = shoal.Schema(quasi="age", sensitive="charges")
    require = requirements(f"EpsilonM(epsilon=10, m={M})", schema.sensitive)
    return Task(code_table(frame, schema), tuple(require))


def engine_of(task, size):
    board = Board.of(task, size)
    order = np.arange(len(task.coded))
    cuts = np.arange(0, len(order) + 1, size)
    return Exchanging(board.space, board.relations, board.values, board.codes, order, cuts)


@pytest.mark.parametrize("place", [0, 7, 19])
def test_what_is_far_from_a_breach_stays_as_it_was(place):
    """Groups of three in a row, one of them with three equal values."""
    values = [1000 * row for row in range(60)]
    values[3 * place : 3 * place + 3] = [5, 5, 5] if place else [1, 1, 1]
    task = task_of(values)
    before = Groups(np.arange(60) // 3)
    assert not task.holds(before)
    after = united(task, before, engine_of(task, 3))
    assert after is not None
    assert task.holds(after)
    changed = {
        group
        for group in range(20)
        if set(after.labels[3 * group : 3 * group + 3])
        & set(np.delete(after.labels, range(3 * group, 3 * group + 3)))
        or len(set(after.labels[3 * group : 3 * group + 3])) > 1
    }
    assert place in changed
    assert len(changed) <= 4
    assert max(changed) - min(changed) <= 4


def test_groups_that_hold_stay_as_they_are():
    task = task_of([1000 * row for row in range(30)])
    before = Groups(np.arange(30) // 3)
    assert united(task, before, engine_of(task, 3)) is before


def test_nothing_is_found_where_the_whole_does_not_hold():
    task = task_of([5] * 11 + [1000 * row for row in range(1, 20)])
    before = Groups(np.arange(30) // 3)
    assert united(task, before, engine_of(task, 3)) is None


def test_a_bound_on_whom_a_person_is_near_is_not_what_is_measured():
    """Each of a person's values has one other near it; the person has three."""
    frame = pl.DataFrame(
        {
            "who": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
            "age": [1] * 12,
            "charges": [100, 200, 300, 100, 410, 510, 200, 420, 520, 300, 430, 530],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    release = shoal.anonymize(
        frame, schema, require="EpsilonM(epsilon=5, m=2)", method="Exchange()"
    )
    assert release.audit().holds
    assert release.manifest.people == 4
    assert release.manifest.capped == 0


@pytest.mark.parametrize(("least", "loose"), [(6, True), (5, False)])
def test_exchanges_count_those_near_to_each_value(least, loose):
    """Two values a person, one near to the person before, one near to the next: a ring of six."""
    people = range(6)
    values = [(100 * person, 100 * ((person + 1) % 6)) for person in people]
    frame = pl.DataFrame(
        {
            "who": [person for person in people for _ in range(2)],
            "age": [person for person in people for _ in range(2)],
            "charges": [value for both in values for value in both],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    task = Task(
        by_people(code_table(frame, schema)),
        tuple(requirements("EpsilonM(epsilon=5, m=3)", schema.sensitive)),
    )
    board = Board.of(task, least)  # in groups of five nobody else may be near to anybody
    assert board.relations.forms.size == (2 if loose else 1)
    order, cuts = np.arange(6), np.array([0, 6])
    engine = Exchanging(board.space, board.relations, board.values, board.codes, order, cuts)
    assert (engine.wrong == 0) == loose
    assert task.holds(Groups(np.zeros(6, np.int64)))


@pytest.mark.parametrize("rows", [PARTS, 3 * PARTS])
def test_values_beyond_the_parts_are_counted_together(rows):
    """With a part for each value the engine counts what is measured, with fewer never less."""
    chance = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "who": np.repeat(np.arange(12), rows),
            "age": np.repeat(np.arange(12), rows),
            "charges": chance.integers(0, 10_000, 12 * rows),
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    require = tuple(requirements("EpsilonM(epsilon=20, m=2)", schema.sensitive))
    task = Task(by_people(code_table(frame, schema)), require)
    board = Board.of(task, 4)
    assert board.relations.forms.size == PARTS
    order, cuts = np.arange(12), np.arange(0, 13, 4)
    engine = Exchanging(board.space, board.relations, board.values, board.codes, order, cuts)
    counted = engine.groups.counts.max(axis=(1, 2))
    (measured,) = task.measure(Groups(np.arange(12) // 4))
    if rows == PARTS:
        assert counted.tolist() == measured.parts.tolist()
    else:
        assert (counted >= measured.parts).all()
        assert (counted > measured.parts).any()


def crowd(rows):
    """Return a search for people with so many values each, of 300: near ones are everywhere."""
    chance = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "who": np.repeat(np.arange(60), rows),
            "age": np.repeat(np.arange(60), rows),
            "charges": chance.integers(0, 300, 60 * rows),
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    require = requirements(["EpsilonM(epsilon=5, m=3)", "KAnonymity(k=5)"], schema.sensitive)
    return Task(by_people(code_table(frame, schema)), tuple(require))


@pytest.mark.parametrize(("rows", "sizes"), [(1, {5}), (4, {6})])
def test_larger_groups_are_the_start_where_most_of_the_least_are_in_breach(
    rows, sizes, monkeypatch
):
    """Nobody else may be near in groups of five, one in those of six."""
    task, tried = crowd(rows), set()
    run = Exchanging.run

    def watched(self):
        tried.add(int(np.median(self.groups.sizes)))
        return run(self)

    monkeypatch.setattr(Exchanging, "run", watched)
    with contextlib.suppress(shoal.NotAchievable):
        shoal.methods.Exchange().search(task)
    assert tried == sizes


def test_values_are_counted_together_where_there_is_no_room_for_each(monkeypatch):
    task = crowd(4)
    assert Board.of(task, 6).relations.forms.size == 4
    monkeypatch.setattr("shoal.methods.exchange.MEMORY", 1)
    assert Board.of(task, 6).relations.forms.size == 1


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("relative", [False, True])
def test_kernels_compare_sets_as_the_definition_does(seed, relative, parts):
    chance = np.random.default_rng(seed)
    values = np.sort(chance.choice(60, 12, replace=False)) + 1
    width = chance.uniform(0.1, 0.4) * values if relative else np.full(12, chance.integers(0, 9))
    band = Band(
        np.searchsorted(values, values - width).astype(np.int32),
        (np.searchsorted(values, values + width, side="right") - 1).astype(np.int32),
    )
    codes = np.arange(12)
    every = near(band, codes[:, None], codes[None, :])
    assert band.symmetric == bool((every == every.T).all())
    counts = chance.integers(0, 4, 8)
    ends = np.concatenate([[0], np.cumsum(counts)])
    owned = [np.sort(chance.choice(12, count, replace=False)) for count in counts]
    sets = Several(band, ends, np.concatenate(owned).astype(np.int32), parts)
    both = pack([band, sets, sets])
    for u in range(8):
        for v in range(8):
            # Both ways of writing the same down: a line for each part, and what each covers.
            cuts = [len(owned[v]) * part // parts for part in range(parts + 1)]
            for part, (begin, end) in enumerate(pairwise(cuts)):
                wanted = any(every[a, b] for a in owned[u] for b in owned[v][begin:end])
                for first in (1, 1 + parts):
                    assert proximate(both, first + part, u, v) == wanted
                    assert related(both, first + part, u, v) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_parts_of_points_and_labels_are_compared_as_the_definition_does(seed):
    chance = np.random.default_rng(seed)
    places = chance.integers(0, 20, (12, 2)).astype(np.float64)
    every = np.abs(places[:, None] - places[None]).sum(axis=2) <= 6
    bits = (every.astype(np.uint64) << np.arange(12, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    counts = chance.integers(0, 4, 8)
    ends = np.concatenate([[0], np.cumsum(counts)])
    owned = [np.sort(chance.choice(12, count, replace=False)) for count in counts]
    codes = np.concatenate(owned).astype(np.int32)
    relations = pack(
        [
            Several(Points(places, MANHATTAN, 6.0), ends, codes, 3),
            Several(Bits(bits[:, None]), ends, codes, 3),
        ]
    )
    assert not relations.symmetric.any()
    for u in range(8):
        for v in range(8):
            for part in range(3):
                begin, end = (len(owned[v]) * cut // 3 for cut in (part, part + 1))
                wanted = any(every[a, b] for a in owned[u] for b in owned[v][begin:end])
                assert proximate(relations, part, u, v) == wanted
                assert proximate(relations, 3 + part, u, v) == wanted
