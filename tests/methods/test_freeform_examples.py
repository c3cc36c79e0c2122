"""The paper's example, RFC 8439's block, and what Freeform and Ring refuse."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from graphs import ALL, EXACT, PAPER, coded, graph, people
from shoal.errors import BadParameter
from shoal.kernels.chacha import next_block, stream_of
from shoal.kernels.freeform.matchings import decompose
from shoal.methods.freeform.method import Budget
from shoal.notation import parse

PAPER_GRAPH = [
    [0, 1, 7],
    [1, 0, 7],
    [2, 3, 5],
    [3, 4, 5],
    [4, 0, 6],
    [5, 2, 3],
    [6, 2, 4],
    [7, 1, 6],
]


def test_the_example_of_the_paper_is_beaten():
    itself, others = np.split(np.array(PAPER_GRAPH, np.int32), [1], axis=1)
    matches = np.column_stack((itself, decompose(others, stream_of(bytes(32)))))
    printed = shoal.results.GeneralizationGraph(coded(PAPER).space, matches)
    assert printed.gcp == pytest.approx(0.4005, abs=5e-5)
    assert graph(PAPER, 3).gcp <= 0.3573


def test_a_graph_cannot_be_changed():
    found = graph(PAPER, 3)
    with pytest.raises(ValueError, match="read-only"):
        found.matches[0, 0] = 1


@pytest.mark.parametrize(
    "matches",
    [
        [[0, 1], [1, 0], [2, 0]],  # 0 is covered three times
        [[1, 0], [0, 1], [2, 2]],  # the first is not the identity
        [[0, 0], [1, 2], [2, 1]],  # an edge twice
        [[0, 1], [1, 0]],  # a record is missing
    ],
)
def test_what_is_not_regular_is_no_graph(matches):
    space = coded(pl.DataFrame({"age": [1, 2, 3]})).space
    with pytest.raises(ValueError, match="generalization graph"):
        shoal.results.GeneralizationGraph(space, np.array(matches, np.int32))


def test_chacha_gives_the_block_of_rfc_8439():
    # Section 2.3.2: block counter 1 and nonce 00:00:00:09:00:00:00:4a:00:00:00:00.
    state = stream_of(bytes(range(32)))
    state[12:16] = 1, 0x09000000, 0x4A000000, 0
    next_block(state)
    block = state[16:32].astype("<u4").tobytes().hex()
    assert block.startswith("10f1e7e4d13b5915500fdd1fa32071c4")
    assert block.endswith("b5129cd1de164eb9cbd083e8a2503c4e")


def test_a_key_of_another_length_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        stream_of(b"short")


@pytest.mark.parametrize(
    "method", [*ALL, shoal.methods.Freeform(k=4), shoal.methods.Ring(), shoal.methods.Ring(k=2)]
)
def test_methods_are_read_back_from_their_notation(method):
    assert parse(repr(method)) == method


@pytest.mark.parametrize("text", ["Freeform(assignment='best')", "Freeform(k=0)", "Ring(k=1.5)"])
def test_bad_parameters_are_refused(text):
    with pytest.raises(BadParameter):
        parse(text)


def anonymize(method, *require, frame=None, **options):
    table = people(60) if frame is None else frame
    table = table.with_columns(pay=pl.int_range(pl.len()))
    schema = shoal.Schema(quasi=["age", "occupation"], sensitive="pay")
    return shoal.anonymize(table, schema, require=require, method=method, **options)


def test_k_comes_from_the_requirement():
    for method in (shoal.methods.Freeform(), shoal.methods.Freeform(k=5), shoal.methods.Ring(k=5)):
        assert anonymize(method, "KAnonymity(k=5)").audit().worst_risk == 0.2
    release = anonymize(shoal.methods.Freeform(), "KAnonymity(k=3)", "KAnonymity(k=6)")
    assert [entry.holds for entry in release.audit().findings] == [True, True]


def test_two_different_k_are_refused():
    with pytest.raises(shoal.UsageError, match="do not agree on k"):
        anonymize(shoal.methods.Freeform(k=4), "KAnonymity(k=5)")


def test_anything_but_k_anonymity_is_refused():
    with pytest.raises(shoal.UsageError, match=r"EpsilonM\(epsilon=3, m=2\) was required"):
        anonymize(shoal.methods.Freeform(), "KAnonymity(k=5)", "EpsilonM(epsilon=3, m=2)")


def test_fewer_rows_than_k_are_not_achievable():
    with pytest.raises(shoal.NotAchievable, match="the table has 4"):
        anonymize(shoal.methods.Freeform(), "KAnonymity(k=5)", frame=people(4))


@pytest.mark.parametrize("rows", [5, 6])
@pytest.mark.parametrize("method", [*ALL, shoal.methods.Ring()], ids=repr)
def test_barely_enough_rows_are_enough(method, rows):
    assert anonymize(method, "KAnonymity(k=5)", frame=people(rows)).audit().holds


@pytest.mark.parametrize("seconds", [-1, 0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(shoal.UsageError, match="time budget"):
        anonymize(EXACT, "KAnonymity(k=5)", seconds=seconds)


def test_steps_depend_on_rows_alone_and_times_on_the_clock():
    assert [Budget(rows, None).steps for rows in (10, 25_000, 100_000, 500_000)] == [20, 4, 1, 0]
    assert Budget(500_000, None).share == 1
    assert Budget(10, 0.0).share == 1
    assert Budget(10, 60.0).share < 1


def test_the_input_is_not_changed():
    table = people(60)
    before = table.clone()
    anonymize(EXACT, "KAnonymity(k=5)", frame=table)
    assert table.equals(before)
