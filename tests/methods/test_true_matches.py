"""The random decomposition: valid, exactly fair edge by edge, and not tied together.

Every test of chance comes with one that shows its power: a choice with a fault is rejected.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from reference.heterogeneous import perfect_matchings
from shoal.kernels.chacha import below, fresh_stream, stream_of
from shoal.kernels.freeform.matchings import decompose, true_matches

RUNS = 6_000
UNLIKELY = 1e-5


def ring(n, k):
    return ((np.arange(n)[:, None] + np.arange(k)) % n).astype(np.int32)


def shuffled_graph(seed, n, k):
    """k disjoint assignments of n records, found by trial."""
    rng = np.random.default_rng(seed)
    columns = [np.arange(n)]
    while len(columns) < k:
        trial = rng.permutation(n)
        if all((trial != column).all() for column in columns):
            columns.append(trial)
    return np.column_stack(columns).astype(np.int32)


def stream(seed):
    return stream_of(np.random.default_rng(seed).bytes(32))


def chance(counts, expected):
    """How likely counts this far from what is expected are."""
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1)


def edge_counts(draw, graph):
    counts = np.zeros(graph.shape)
    for _ in range(RUNS):
        counts += graph == draw()[:, None]
    return counts


def pair_counts(draw):
    """How often two edges were true together, keyed ((record, original), (record, original))."""
    counts: dict = {}
    for _ in range(RUNS):
        for pair in itertools.combinations(enumerate(draw().tolist()), 2):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def ties_beyond_the_graph(counts, graph):
    """Pairs of edges where one makes the other certain though the graph does not."""
    matchings = perfect_matchings(graph.tolist())
    tied = 0
    for a, b in itertools.combinations(range(len(graph)), 2):
        for x, y in itertools.product(graph[a].tolist(), graph[b].tolist()):
            forced = all(m[b] == y for m in matchings if m[a] == x)
            seen = sum(counts.get(((a, x), (b, z)), 0) for z in graph[b].tolist())
            tied += not forced and seen > 0 and counts.get(((a, x), (b, y)), 0) == seen
    return tied


def test_bounded_numbers_are_uniform_and_a_biased_count_is_rejected():
    source = stream(5)
    counts = np.bincount([below(source, 6) for _ in range(60_000)], minlength=6)
    assert chance(counts, 10_000.0) > UNLIKELY
    assert chance(counts + np.array([900, 0, 0, 0, 0, 0]), counts.mean()) < UNLIKELY


@pytest.mark.parametrize(("n", "k"), [(2, 2), (7, 7), (8, 3), (101, 10), (5_000, 4), (9, 1)])
def test_columns_are_perfect_matchings_of_the_same_graph(n, k):
    graph = ring(n, k)
    columns = decompose(graph, fresh_stream())
    assert (np.sort(columns, axis=1) == np.sort(graph, axis=1)).all()
    assert (np.sort(columns, axis=0) == np.arange(n)[:, None]).all()


def test_irregular_graphs_are_refused():
    with pytest.raises(ValueError, match="exactly 2 rows"):
        decompose(np.array([[0, 1], [1, 0], [2, 0]], np.int32), fresh_stream())


@pytest.mark.parametrize("graph", [ring(6, 3), shuffled_graph(1, 7, 3), shuffled_graph(2, 5, 4)])
def test_every_edge_is_the_true_one_with_probability_one_in_k(graph):
    source = stream(11)
    counts = edge_counts(lambda: true_matches(graph, source), graph)
    # The edges of a record sum to RUNS: each record is one chi-square with k - 1 degrees.
    assert min(chance(row, RUNS / graph.shape[1]) for row in counts) > UNLIKELY


def test_a_choice_that_favours_an_edge_is_rejected():
    # A bias of a tenth towards one of the k matchings shows.
    graph, rng = ring(6, 3), np.random.default_rng(1)
    biased = np.array([0.37, 0.315, 0.315])
    counts = edge_counts(lambda: graph[:, rng.choice(3, p=biased)], graph)
    assert min(chance(row, RUNS / 3) for row in counts) < UNLIKELY


@pytest.mark.parametrize("graph", [ring(6, 3), shuffled_graph(1, 7, 3)])
def test_one_known_link_makes_no_other_certain_unless_the_graph_does(graph):
    source = stream(13)
    counts = pair_counts(lambda: true_matches(graph, source))
    assert ties_beyond_the_graph(counts, graph) == 0


def test_a_fixed_decomposition_is_rejected_by_the_test_of_pairs():
    graph, rng = ring(6, 3), np.random.default_rng(3)
    fixed = decompose(graph, stream(14))
    counts = pair_counts(lambda: fixed[:, rng.integers(3)])
    assert ties_beyond_the_graph(counts, graph) > 0


def test_every_perfect_matching_can_come_up():
    graph, source = shuffled_graph(2, 5, 4), stream(15)
    drawn = {tuple(true_matches(graph, source).tolist()) for _ in range(RUNS)}
    assert drawn == set(perfect_matchings(graph.tolist()))


def test_streams_from_the_operating_system_differ():
    graph = ring(200, 5)
    first, second = (true_matches(graph, fresh_stream()) for _ in range(2))
    assert (first != second).any()
