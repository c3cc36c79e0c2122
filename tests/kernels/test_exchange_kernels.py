"""The exchange engine against plain-Python definitions on small random tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product

import numba
import numpy as np
import pytest

from reference.resizing import Rules, dissolved, founded
from shoal.distances.relation import Band, Bits, Points, pack
from shoal.kernels.exchange.colouring import initialize, xcolor
from shoal.kernels.exchange.loss import LossSpace, ncp_after
from shoal.kernels.exchange.moves import BITS, improve
from shoal.kernels.exchange.resizing import dissolve, found
from shoal.kernels.exchange.start import start
from shoal.kernels.exchange.state import crossing, make_groups, refresh_each, total_loss
from shoal.kernels.exchange.swaps import HELPFUL, chain, merge, repair, round_robin
from shoal.kernels.relations import cross, excess_after, proximate
from shoal.methods import passes
from shoal.methods.annealing import REACH, Annealing
from shoal.methods.exchanging import Exchanging
from shoal.methods.passes import FEW_ROWS, RESIZED, SWAPS, Moves, blocks, nearest_rows

LARGEST = 400


class Table:
    """A random table with the plain-Python meaning of its relations and its loss."""

    def __init__(self, seed: int, n: int, kinds: str = "iis", forms: tuple[str, ...] = ("band",)):
        rng = np.random.default_rng(seed)
        self.n, self.kinds = n, np.array([1 if k == "s" else 0 for k in kinds], np.int8)
        distinct = rng.integers(2, 7, len(kinds))
        self.values = np.stack([rng.integers(0, d, n) for d in distinct], axis=1).astype(float)
        self.values /= np.where(self.kinds == 1, 1, distinct - 1)
        missing = np.random.default_rng(seed + 1000).random(self.values.shape) < 0.1 * (seed % 2)
        self.values = np.where(missing & (self.kinds == 0), 2.0, self.values)
        self.units = np.where(self.kinds == 1, 1.0 / (distinct - 1), 1.0)
        self.space = LossSpace(
            self.kinds, self.units, np.zeros(1), np.zeros(self.kinds.size + 1, np.int64)
        )
        self.codes = np.zeros((len(forms), n), np.int32)
        self.tests: list = []
        self.bounds: list = []
        items: list = []
        for r, form in enumerate(forms):
            m = 2 + r
            bounds = np.arange(LARGEST + 1) // m
            if form in ("band", "relative"):
                raw = rng.integers(0, 40, n)
                known, self.codes[r] = np.unique(raw, return_inverse=True)
                reach = np.full(known.size, 2.0) if form == "band" else known * 0.2
                first = np.searchsorted(known, known - reach)
                last = np.searchsorted(known, known + reach, side="right") - 1
                items.append(Band(first.astype(np.int32), last.astype(np.int32)))
                self.tests.append(lambda u, v, k=known, e=reach: abs(k[u] - k[v]) <= e[v])
            elif form == "vector":
                raw = rng.integers(0, 5, (n, 2)).astype(float)
                known, code = np.unique(raw, axis=0, return_inverse=True)
                self.codes[r] = code.ravel()
                metric = 1 + seed % 4
                items.append(Points(known.astype(float), metric, 1.0))
                share = 1 - Fraction("0.6")
                bounds = np.array([0, *(1 + int(share * (s - 1)) for s in range(1, LARGEST + 1))])
                norms = {
                    1: lambda d: d.sum(),
                    2: lambda d: (d * d).sum() ** 0.5,
                    3: lambda d: d.max(),
                    4: lambda d: d.min(),
                }
                self.tests.append(lambda u, v, k=known, f=norms[metric]: f(abs(k[u] - k[v])) <= 1.0)
            else:
                count = 70
                self.codes[r] = rng.integers(0, count, n)
                table = rng.random((count, count)) < 0.1
                table = table | table.T | np.eye(count, dtype=bool)
                bits = np.zeros((count, 2), np.uint64)
                for u, v in zip(*np.nonzero(table), strict=True):
                    bits[u, v // 64] |= np.uint64(1) << np.uint64(v % 64)
                items.append(Bits(bits))
                self.tests.append(lambda u, v, t=table: bool(t[u, v]))
            self.bounds.append(bounds)
        self.least = max([2, *(2 + r for r in range(len(forms)))])
        shaped = np.array(self.bounds, np.int64).reshape(len(forms), LARGEST + 1)
        self.relations = pack(items, bounds=shaped, least=self.least)

    def counts(self, rows: list[int], r: int) -> list[int]:
        codes = self.codes[r]
        return [sum(bool(self.tests[r](codes[u], codes[v])) for u in rows) for v in rows]

    def excess(self, rows: list[int]) -> int:
        return sum(
            max(0, count - self.bounds[r][len(rows)])
            for r in range(len(self.tests))
            for count in self.counts(rows, r)
        )

    def ncp(self, rows: list[int]) -> float:
        total = 0.0
        for j, kind in enumerate(self.kinds):
            column = [self.values[i, j] for i in rows]
            spread = (len(set(column)) - 1) * self.units[j]
            total += spread if kind == 1 else min(max(column) - min(column), 1.0)
        return total

    def groups(self, size: int):
        order, cuts = start(self.space, self.values, self.n // size)
        groups = make_groups(self.values, self.codes, order, cuts, 3 * size)
        refresh_each(self.space, self.relations, groups, np.arange(groups.sizes.size), 0)
        return groups


FORMS = [(), ("band",), ("relative",), ("vector",), ("matrix",), ("relative", "vector")]


def members(groups, g):
    return groups.rows[g, : groups.sizes[g]].tolist()


def assert_consistent(table: Table, groups) -> None:
    rows = [i for g in range(groups.sizes.size) for i in members(groups, g)]
    assert sorted(rows) == list(range(table.n))
    for g in np.flatnonzero(groups.sizes):
        own = members(groups, g)
        assert groups.excess[g] == table.excess(own)
        assert groups.ncp[g] == pytest.approx(table.ncp(own))
        for r in range(len(table.tests)):
            assert groups.counts[g, r, : len(own)].tolist() == table.counts(own, r)
        assert groups.pairs[g] == sum(sum(table.counts(own, r)) for r in range(len(table.tests)))


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_replacements_are_evaluated_as_the_definitions_say(seed, forms):
    table = Table(seed, 23, forms=forms)
    groups = table.groups(4)
    assert_consistent(table, groups)
    forward = np.zeros((len(forms), 12, 12), np.uint8)
    backward = forward.copy()
    before = {g: members(groups, g) for g in range(groups.sizes.size)}
    for g, h in ((0, 1), (1, 3), (4, 2)):
        cross(table.relations, groups, g, h, forward, backward)
        for i in range(-1, len(before[g])):
            for j in range(-1, len(before[h])):
                after = [row for k, row in enumerate(before[g]) if k != i]
                after += [before[h][j]] if j >= 0 else []
                excess, pairs = excess_after(
                    table.relations, groups, g, i, j, forward, backward, 1 << 40
                )
                assert excess == table.excess(after)
                assert pairs == sum(sum(table.counts(after, r)) for r in range(len(forms)))
                assert ncp_after(table.space, groups, g, i, h, j) == pytest.approx(table.ncp(after))


@pytest.mark.few(4)
@pytest.mark.parametrize("forms", FORMS)
def test_proximity_agrees_with_the_definition_on_all_pairs_of_codes(forms):
    table = Table(3, 60, forms=forms)
    for r in range(len(forms)):
        known = int(table.codes[r].max()) + 1
        for u in range(known):
            for v in range(known):
                assert proximate(table.relations, r, u, v) == bool(table.tests[r](u, v))


def started(table, size):
    order, cuts = start(table.space, table.values, len(table.values) // size)
    return Exchanging(table.space, table.relations, table.values, table.codes, order, cuts)


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("few", [0, FEW_ROWS])
@pytest.mark.parametrize(
    ("n", "kinds", "over"),
    [(7, "ii", 0), (61, "iis", 0), (200, "s", 0), (203, "isi", 0), (135, "s", BITS)],
)
def test_engine_reports_what_it_leaves(n, kinds, over, few, forms, monkeypatch):
    """Groups may have more members than a number has bits."""
    monkeypatch.setattr(passes, "FEW_ROWS", few)
    for seed in range(3):
        table = Table(seed, n, kinds, forms)
        engine = started(table, table.least + over + seed)
        assert (engine.pace is passes.MANY) == (few == 0 and len(forms) <= 1)
        start_loss = total_loss(engine.groups)
        outcome = engine.run()
        assert_consistent(table, engine.groups)
        groups = [
            np.flatnonzero(outcome.labels == g).tolist() for g in range(outcome.labels.max() + 1)
        ]
        assert min(map(len, groups)) >= table.least
        wrong = sum(
            any(table.counts(own, r)[k] > table.bounds[r][len(own)] for r in range(len(forms)))
            for own in groups
            for k in range(len(own))
        )
        assert wrong == outcome.violations
        assert outcome.loss == pytest.approx(sum(len(own) * table.ncp(own) for own in groups))
        if not forms:
            assert outcome.loss <= start_loss + 1e-9


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize(("n", "kinds"), [(61, "iis"), (203, "isi"), (700, "s")])
def test_annealing_keeps_every_bound_and_its_books(n, kinds, forms):
    moved = 0
    for seed in range(3):
        table = Table(seed, n, kinds, forms)
        outcome = started(table, table.least + seed).run()
        if outcome.violations:
            continue
        order = np.argsort(outcome.labels, kind="stable")
        cuts = np.searchsorted(outcome.labels[order], np.arange(outcome.labels.max() + 2))
        annealing = Annealing(
            table.space,
            table.relations,
            table.values,
            table.codes,
            order,
            cuts,
            ends=0.0,
            progress=lambda *_: None,
        )
        before = annealing.homes.copy()
        near = nearest_rows(table.space, table.values, REACH)
        for heat in (1e9, 1.0, 0.01):
            annealing.step(near, 3000, heat)
            assert_consistent(table, annealing.groups)
            assert not annealing.groups.excess.any()
            assert annealing.groups.sizes.min() >= table.least
            for g in range(annealing.groups.sizes.size):
                own = members(annealing.groups, g)
                assert (annealing.homes[own] == g).all()
                assert annealing.slots[own].tolist() == list(range(len(own)))
        moved += not np.array_equal(before, annealing.homes)
    assert moved


def valid(table: Table, size: int):
    """Return groups that hold, from an engine that only repairs, or None."""
    engine = started(table, size)
    engine.price()
    engine.mend()
    return None if engine.groups.excess.any() else engine.groups


def assert_books_are_kept(moves, groups) -> None:
    for g in range(groups.sizes.size):
        own = members(groups, g)
        assert (moves.homes[own] == g).all()
        assert moves.slots[own].tolist() == list(range(len(own)))


@pytest.mark.few(3)
@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize(("n", "kinds"), [(61, "iis"), (203, "isi"), (700, "ss")])
def test_passes_of_moves_keep_every_bound_and_only_ever_lose_less(n, kinds, forms):
    gained = 0
    for seed in range(3):
        table = Table(seed, n, kinds, forms)
        groups = valid(table, table.least + seed)
        if groups is None:
            continue
        moves = Moves(table.space, table.relations, groups)
        for turn in range(RESIZED + 4):
            before = total_loss(groups)
            moves.run()
            assert_consistent(table, groups)
            assert_books_are_kept(moves, groups)
            assert not groups.excess.any()
            assert groups.sizes[groups.sizes > 0].min() >= table.least
            assert total_loss(groups) <= before + 1e-9 or turn < RESIZED
            gained += total_loss(groups) < before - 1e-6
    assert gained


def outcomes(groups: list[list[int]]):
    """Yield what every swap, step to another group, cycle and chain through three makes of them."""
    for g, h in permutations(range(len(groups)), 2):
        for i in groups[g]:
            shorter = [row for row in groups[g] if row != i]
            yield {g: shorter, h: [*groups[h], i]}
            for j in groups[h]:
                taken = [row for row in groups[h] if row != j] + [i]
                yield {g: [*shorter, j], h: taken}
                for k in set(range(len(groups))) - {g, h}:
                    yield {g: shorter, h: taken, k: [*groups[k], j]}
                    for m in groups[k]:
                        last = [row for row in groups[k] if row != m] + [j]
                        yield {g: [*shorter, m], h: taken, k: last}


@pytest.mark.few(3)
@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("kinds", ["ii", "si"])
def test_where_no_move_is_found_there_is_none(kinds, forms):
    """Of all swaps, steps, cycles and chains, tried one by one, none holds and loses less."""
    tried = 0
    for seed in range(4):
        table = Table(seed, 14, kinds, forms)
        groups = valid(table, table.least)
        if groups is None or groups.sizes.size < 3:
            continue
        moves = Moves(table.space, table.relations, groups)
        everybody = np.arange(table.n)
        near = np.array([np.delete(everybody, row) for row in everybody], np.int32)
        block = np.zeros(groups.sizes.size, np.int64)
        seen = np.zeros((2, groups.sizes.size + 1), np.int64)
        while improve(
            *(table.space, table.relations, groups, moves.homes, moves.slots, near, everybody),
            *(block, block, 0, table.n, 0, 1, 1e-9, *seen),
        ):
            assert_consistent(table, groups)
        own = [members(groups, g) for g in range(groups.sizes.size)]
        room = groups.rows.shape[1]
        for after in outcomes(own):
            lost = sum(
                len(after[g]) * table.ncp(after[g]) - len(own[g]) * table.ncp(own[g]) for g in after
            )
            if lost < -1e-8:
                sizes = [len(rows) for rows in after.values()]
                holds = not any(table.excess(rows) for rows in after.values())
                assert not (holds and min(sizes) >= table.least and max(sizes) <= room)
            tried += 1
    assert tried or forms == ("matrix",)


def on_a_grid(table: Table, seed: int, steps: int = 8) -> Table:
    """Give a table positions whose sums are exact, so that equals are equal in any order."""
    rng = np.random.default_rng(seed + 100)
    drawn = rng.integers(0, steps + 1, table.values.shape) * rng.integers(0, 2, (table.n, 1))
    table.values = np.where(table.kinds == 1, drawn, drawn / steps).astype(float)
    table.units = np.where(table.kinds == 1, 1 / steps, 1.0)
    table.space = table.space._replace(units=table.units)
    return table


def rules_of(table: Table, room: int) -> Rules:
    def holds(rows: list[int], size: int) -> bool:
        if size < table.least or any(bounds[size] < 1 for bounds in table.bounds):
            return False
        return all(
            count <= table.bounds[r][size]
            for r in range(len(table.tests))
            for count in table.counts(rows, r)
        )

    loss = lambda rows: len(rows) * table.ncp(rows) if rows else 0.0  # noqa: E731
    return Rules(loss, holds, table.least, room)


@pytest.mark.few(1)
@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize(("n", "kinds"), [(24, "ii"), (41, "isi"), (60, "s")])
def test_groups_dissolve_and_are_founded_as_the_definition_says(n, kinds, forms):
    """Ties, heaps of equal rows, sets, several relations, half a block out of reach, loans."""
    gone = new = 0
    for seed in range(6):
        table = on_a_grid(Table(seed, n, kinds, forms), seed)
        groups = valid(table, table.least + seed % 3)
        if groups is None:
            continue
        moves = Moves(table.space, table.relations, groups)
        state = (table.space, table.relations, groups, moves.homes, moves.slots, moves.near)
        mine, block = np.arange(groups.sizes.size), np.zeros(groups.sizes.size, np.int64)
        went, rules = np.empty(groups.rows.shape[1], np.int64), rules_of(table, len(groups.rows[0]))
        for loan in (0.0, 1.5, 0.25, 0.0):
            own = [members(groups, g) for g in mine]
            before = sum(map(rules.loss, own))
            done = dissolve(*state, mine, block, 0, loan, 1, went)
            assert done == dissolved(rules, own, moves.near.tolist(), loan)
            assert [members(groups, g) for g in mine] == own
            assert_consistent(table, groups)
            assert_books_are_kept(moves, groups)
            assert total_loss(groups) < before + done * loan + 1e-9
            gone += done
            before, spare = sum(map(rules.loss, own)), np.flatnonzero(groups.sizes == 0)
            order = np.random.default_rng(seed).permutation(n)
            done = found(*state, order, block, 0, spare, 0.0, 1, went)
            assert done == founded(rules, own, moves.near.tolist(), order.tolist())
            assert [set(members(groups, g)) for g in mine] == [set(rows) for rows in own]
            assert_consistent(table, groups)
            assert_books_are_kept(moves, groups)
            assert not groups.excess.any()
            assert total_loss(groups) < before + (done == 0) * 1e-9
            assert groups.sizes[groups.sizes > 0].min() >= table.least
            new += done
    assert gone
    assert new or forms


def test_groups_of_other_blocks_are_left_alone():
    table = on_a_grid(Table(3, 60, "ii", ()), 3)
    groups = table.groups(4)
    moves = Moves(table.space, table.relations, groups)
    state = (table.space, table.relations, groups, moves.homes, moves.slots, moves.near)
    block = np.arange(groups.sizes.size) % 2
    before = [members(groups, g) for g in range(block.size)]
    went = np.empty(groups.rows.shape[1], np.int64)
    mine = np.flatnonzero(block == 0)
    assert dissolve(*state, mine, block, 0, 10.0, 1, went)
    spare = mine[groups.sizes[mine] == 0]
    assert found(*state, np.arange(60), block, 0, spare, 0.0, 1, went)
    after = [members(groups, g) for g in range(block.size)]
    assert before[1::2] == after[1::2]
    assert_consistent(table, groups)


def test_a_group_of_two_is_halved_where_only_both_halves_hold():
    """Pairs of near values: with one member less, a group of five holds no longer."""
    table = Table(0, 6, "i", ("band",))
    table.values[:, 0] = [0, 0.25, 0, 1, 0.75, 1]
    codes = np.array([[0, 1, 2, 0, 1, 2]], np.int32)
    band = Band(np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32))
    bounds = np.array([[0, 0, 0, 1, 1, 1, 2]])
    relations = pack([band], bounds=bounds, least=3)
    groups = make_groups(table.values, codes, np.arange(6), np.array([0, 6, 6]), 6)
    refresh_each(table.space, relations, groups, np.arange(2), 0)
    moves = Moves(table.space, relations, groups)
    state = (table.space, relations, groups, moves.homes, moves.slots, moves.near)
    block, went = np.zeros(2, np.int64), np.empty(6, np.int64)
    assert found(*state, np.arange(6), block, 0, np.array([1]), 0.0, 1, went) == 1
    assert sorted(sorted(members(groups, g)) for g in range(2)) == [[0, 1, 2], [3, 4, 5]]
    assert not groups.excess.any()
    assert total_loss(groups) == pytest.approx(3 * 0.25 * 2)


def test_a_loan_that_is_not_repaid_is_taken_back(monkeypatch):
    """Whatever a pass leaves, the best groups on the way are what comes out."""
    table = Table(5, 200, "iis", ("band",))
    run, lost = Moves.run, []

    def spoil(moves):
        run(moves)
        lost.append(total_loss(moves.groups))
        moves.pays = len(lost) < 3
        if not moves.pays:  # a row stands somewhere else in the end, whatever that loses
            moves.groups.values[moves.homes[0], moves.slots[0]] += 100.0
            refresh_each(table.space, table.relations, moves.groups, moves.homes[:1], 99)

    monkeypatch.setattr(Moves, "run", spoil)
    monkeypatch.setattr(passes, "FEW_ROWS", 0)
    engine = started(table, table.least)
    outcome = engine.run()
    assert outcome.violations == 0
    assert_consistent(table, engine.groups)
    assert outcome.loss == pytest.approx(min(lost[:-1]))


def test_moves_end_where_groups_have_one_member():
    table = Table(1, 40, "ii", ())
    groups = table.groups(1)
    relations = pack([], bounds=np.zeros((0, LARGEST + 1), np.int64), least=1)
    moves = Moves(table.space, relations, groups)
    for _ in range(SWAPS + 1):
        moves.run()
    assert_consistent(table, groups)
    assert total_loss(groups) == 0


def test_blocks_are_as_many_at_every_turn_and_cut_elsewhere():
    places = np.random.default_rng(1).random((4000, 3))
    found = [blocks(places, turn) for turn in range(6)]
    for block in found:
        assert sorted(set(block.tolist())) == list(range(8))
    for one, other in pairwise(found):
        assert 0 < np.mean(one == other) < 0.9


def test_rows_are_near_as_the_loss_of_two_says():
    for seed in range(6):
        table = Table(seed, 90, ("ii", "isi", "s")[seed % 3], ())
        near = nearest_rows(table.space, table.values, REACH)
        for row in range(table.n):
            others = [other for other in range(table.n) if other != row]
            found = [table.ncp([row, other]) for other in near[row]]
            assert row not in near[row]
            assert len(set(near[row].tolist())) == near.shape[1]
            best = sorted(table.ncp([row, other]) for other in others)[: len(found)]
            assert found == pytest.approx(best)  # all runs are looked at in so few rows


def test_band_requirements_within_reach_are_always_met():
    for seed in range(20):
        table = Table(seed, 120, "ii", ("relative",))
        engine = started(table, 2)
        assert engine.run().violations == 0


def test_one_thread_equals_many(monkeypatch):
    monkeypatch.setattr(passes, "FEW_ROWS", 0)
    table = Table(5, 3000, "iis", ("vector",))
    many = started(table, 5).run()
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    one = started(table, 5).run()
    assert np.array_equal(one.labels, many.labels)


@pytest.mark.few(3)
@pytest.mark.parametrize("forms", FORMS[1:])
@pytest.mark.parametrize("kinds", ["ii", "isi"])
def test_where_no_helpful_exchange_is_found_there_is_none(kinds, forms):
    mended = 0
    for seed in range(6):
        table = Table(seed, 60, kinds, forms)
        groups = table.groups(table.least)
        scratch = crossing(groups, table.relations)
        for g, h in permutations(range(min(8, groups.sizes.size)), 2):
            mine, other = members(groups, g), members(groups, h)
            wrong, before = table.excess(mine), table.excess(other)
            now = (1e6, HELPFUL, 1, *scratch)
            done = repair(
                table.space, table.relations, groups, np.array([g]), np.array([[h]]), *now
            )
            assert_consistent(table, groups)
            mine, other = members(groups, g), members(groups, h)
            assert table.excess(mine) + table.excess(other) <= wrong + before - done
            mended += done
            if {len(mine), len(other)} != {table.least}:
                continue
            assert done == 0 or table.excess(other) == 0
            for i, j in product(mine, other) if table.excess(mine) else ():
                here = [j if row == i else row for row in mine]
                there = [i if row == j else row for row in other]
                helps = table.excess(here) < table.excess(mine)
                assert not (helps and table.excess(there) == 0)
    assert mended


@pytest.mark.parametrize("step", [chain, merge])
@pytest.mark.parametrize("forms", FORMS[1:])
def test_leftover_steps_only_lower_the_excess(forms, step):
    for seed in range(3):
        table = Table(seed, 60, forms=forms)
        groups = table.groups(table.least)
        before = int(groups.excess.sum())
        wrong = np.flatnonzero(groups.excess)
        near = np.tile(np.arange(min(8, groups.sizes.size)), (wrong.size, 1))
        scratch = crossing(groups, table.relations) if step is chain else ()
        done = step(table.space, table.relations, groups, wrong, near, 1, *scratch)
        assert_consistent(table, groups)
        after = int(groups.excess.sum())
        assert after <= before - done


def test_round_robin_leaves_no_proximate_pair_or_nothing_changed():
    done = []
    for seed in range(10):
        table = Table(seed, 90, forms=("relative",))
        groups = table.groups(3 + 3 * (seed % 2))
        before, size = groups.rows.copy(), 2 if seed % 2 else groups.sizes.size
        done.append(round_robin(table.space, table.relations, groups, np.arange(size), 1))
        assert_consistent(table, groups)
        if done[-1]:
            assert not groups.excess[:size].any()
        else:
            assert np.array_equal(before, groups.rows)
    assert True in done
    assert False in done


@pytest.mark.parametrize(("n", "count"), [(19, 1), (19, 4), (20, 4), (29, 2), (5, 5)])
def test_initialize_is_equitable_and_balances_degrees(n, count):
    degree = np.random.default_rng(n).integers(0, 9, n)
    order, cuts = initialize(degree, count)
    assert sorted(order) == list(range(n))
    assert set(np.diff(cuts)) <= {n // count, -(-n // count)}
    sums = [degree[order[a:b]].sum() for a, b in pairwise(cuts)]
    assert max(sums) - min(sums) <= 2 * degree.max()


@pytest.mark.parametrize("forms", [("band",), ("vector",), ("matrix",)])
def test_xcolor_keeps_sizes_and_never_raises_the_potential(forms):
    for seed in range(4):
        table = Table(seed, 64, forms=forms)
        codes = table.codes[0]
        known = range(int(codes.max()) + 1)
        degrees = np.array([sum(bool(table.tests[0](u, v)) for u in codes) - 1 for v in known])
        groups = xcolor(table.space, table.relations, table.values, table.codes, degrees, 6)
        assert_consistent(table, groups)
        assert groups.sizes.max() - groups.sizes.min() <= 1
        degree = degrees[codes]
        order, cuts = initialize(degree, 64 // 6)
        start_pairs = sum(sum(table.counts(order[a:b].tolist(), 0)) for a, b in pairwise(cuts))
        assert groups.pairs.sum() <= start_pairs


def test_a_search_weighs_a_replacement_without_a_call() -> None:
    """A call hands over all arrays of the groups, which takes longer than what it asks for."""

    @numba.njit(_nrt=False)  # type: ignore[call-overload]
    def both(space, groups, g, i, h, j):
        return ncp_after(space, groups, g, i, h, j) + ncp_after(space, groups, h, j, g, i)

    table = Table(0, 23)
    both(table.space, table.groups(4), 0, 0, 1, 0)
    (found,) = both.inspect_asm().values()
    assert "_ZN5shoal7kernels8exchange4loss" not in found  # the name of a loop, as it is linked
