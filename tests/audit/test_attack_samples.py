"""What an attack measures on some people: drawn at random, with its error, and right on all."""

from __future__ import annotations

import tracemalloc
from html import escape
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import attacks
from shoal.audit import attack as engine
from shoal.audit import exposure
from shoal.audit.covers import CellCover, cover_column
from shoal.audit.exposure import ROWS, vulnerability
from shoal.audit.learning import learn
from shoal.audit.linking import link
from shoal.audit.published import open_published
from shoal.audit.together import intersect
from shoal.sampling import draw
from shoal.table.groupings import Hierarchy
from shoal.views.pages import attack_page
from shoal.views.text import print_attack
from shoal.views.words import without_draw

SCHEMA = shoal.Schema(quasi=["q"], sensitive="s")
EPSILONS, DELTAS = (0, 1, 3), (0, 0.25, 0.5, 0.75, 1)

box = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted).map(tuple)
releases = st.lists(st.tuples(box, st.integers(0, 5)), min_size=1, max_size=10)
everybody = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=10)


def table(release):
    return pl.DataFrame(
        {"q": [f"[{low}, {high}]" for (low, high), _ in release], "s": [s for _, s in release]}
    )


def frame(people):
    return pl.DataFrame(people, schema=["q", "s"], orient="row")


@given(releases, releases, everybody)
def test_only_a_persons_own_value_is_given_away(first, second, people):
    known = frame(people)
    covers = [CellCover(open_published(table(one), SCHEMA), known) for one in (first, second)]
    both = intersect(covers[0], covers[1], known, "s", draw(len(people), 100))
    matched, right, wrong = attacks.given_away([first, second], people)
    assert (both.people, both.in_both) == (len(people), matched)
    shares = [[count / max(matched, 1) for count in counts] for counts in (right, wrong)]
    assert list(both.pinned) == pytest.approx(shares[0])
    assert list(both.misled) == pytest.approx(shares[1])
    assert "±" not in both.to_dict()["sentence"]


@given(releases, everybody)
def test_without_groups_vulnerability_is_that_of_matching_rows(release, people):
    published = open_published(table(release), SCHEMA)
    published.heterogeneous = True  # as a manifest says
    cover = CellCover(published, frame(people))
    (found,) = vulnerability(
        [published], epsilons=EPSILONS, deltas=DELTAS, covers=[cover],
        sample=draw(len(people), 100),
    )  # fmt: skip
    known = [value for value, _ in people]
    assert found.groups is None
    assert found.breaches == tuple(
        tuple(attacks.vulnerable(release, known, str(e), str(d)) for d in DELTAS) for e in EPSILONS
    )


def test_matching_rows_are_measured_a_few_at_a_time(monkeypatch):
    chance = np.random.default_rng(7)
    release = [
        (tuple(sorted(chance.integers(0, 5, 2).tolist())), int(chance.integers(0, 6)))
        for _ in range(30)
    ]
    published = open_published(table(release), SCHEMA)
    published.heterogeneous = True
    people = frame([(place % 5, 0) for place in range(40)])
    options: Any = {
        "covers": [CellCover(published, people)],
        "sample": draw(40, 40),
        "epsilons": [1],
    }
    whole = vulnerability([published], **options)
    assert ROWS > 40 * 30
    for rows in (1, 7, 100):
        monkeypatch.setattr(exposure, "ROWS", rows)
        assert vulnerability([published], **options)[0].breaches == whole[0].breaches


def test_every_row_is_as_likely_as_any_other():
    """Drawn 3,000 times, 5 of 20: each place about 750 times, the deviation being 24."""
    times = np.zeros(20, np.int64)
    for seed in range(3000):
        sample = draw(20, 5, seed)
        assert len(set(sample.places.tolist())) == 5
        times[sample.places] += 1
    assert np.abs(times - 750).max() < 5 * 24
    assert len({tuple(draw(10**6, 5).places) for _ in range(20)}) == 20  # unseeded: never the same
    assert draw(20, 20).complete
    assert draw(20, 20).share_error(0.3) is draw(20, 20).mean_error(np.arange(20)) is None


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 1.0])
def test_the_error_covers_the_truth_as_often_as_it_says(share):
    """The share of marked among 400, measured on 100 drawn at random, 600 times."""
    marked = np.arange(400) < 400 * share
    off = 0
    for seed in range(600):
        sample = draw(400, 100, seed)
        found = float(marked[sample.places].mean())
        error = sample.share_error(found)
        assert error is not None
        assert error > 0
        off += abs(found - share) > error + 1e-12
    assert off <= 600 * 0.05 + 4 * np.sqrt(600 * 0.05 * 0.95)


def periodic():
    """Return 900 people of whom every third is given away by a group of its own value."""
    place = np.arange(900)
    q = np.where(place % 3 == 0, 100 + place, place % 3)
    people = pl.DataFrame({"q": q, "s": place * 10})
    return people, people.with_columns(q=pl.col("q").cast(pl.String))


@pytest.mark.more
def test_the_order_of_the_rows_does_not_matter(monkeypatch):
    """A third is pinned, whichever order; a sample that follows the order finds none or all."""
    people, release = periodic()
    truth = shoal.attack([release], SCHEMA, original=people, epsilons=[0]).links[0]
    assert truth.error is None
    monkeypatch.setattr(engine, "PEOPLE", 300)
    far = 0
    orders = [np.arange(900), np.lexsort([np.arange(900), np.arange(900) % 3])]
    for seed in range(0, 20, 20 // examples(20)):
        order = orders[seed % 2] if seed < 10 else np.random.default_rng(seed).permutation(900)
        (found,) = shoal.attack(
            [release], SCHEMA, original=people[order], epsilons=[0], seed=seed
        ).links
        assert (found.people, found.sample.whole) == (300, 900)
        assert found.prior == truth.prior  # of all people, so never off
        assert found.error is not None
        far += abs(found.hits - truth.hits) > found.error
        again = shoal.attack([release], SCHEMA, original=people[order], epsilons=[0], seed=seed)
        assert again.links[0].hits == found.hits
    assert far <= examples(3)


def test_samples_are_said_in_text_json_and_page(monkeypatch, capsys):
    people, release = periodic()
    drawn = "Measured on 300 of 900 people, drawn at random; ± is the 95% margin of error."
    for most, sampled in ((300, True), (900, False)):
        monkeypatch.setattr(engine, "PEOPLE", most)
        facts = shoal.attack([release, release], SCHEMA, original=people).to_dict()
        for one in (*facts["linking"], *facts["intersection"]):
            assert (one["people"], one["people_in_all"]) == (most, 900)
            assert (drawn in one["sentence"]) == ("±" in one["sentence"]) == sampled
        assert all((one["error"] is not None) == sampled for one in facts["linking"])
        (both,) = facts["intersection"]
        assert all((e is not None) == sampled for e in both["pinned_error"].values())
        print_attack(facts)
        said = " ".join(capsys.readouterr().out.split())
        once = f"Where ± stands: m{drawn[1:]}"
        assert said.count(once) == said.count(drawn[1:]) == sampled
        assert attack_page(facts).count(once) == attack_page(facts).count(drawn[1:]) == sampled
        assert "knows the q of people" in said
        assert attack_page(facts).count(escape(without_draw(both))) == 1  # what it begins with
        assert "quasi values" not in said + attack_page(facts).split("What to bear in mind")[0]


def test_many_distinct_strings_need_no_square_of_memory():
    """20,000 strings in sets of 5: a mark for each pair of string and cell would be 80 MB."""
    names = [f"s{place:05}" for place in range(20_000)]
    cells = ['["' + '", "'.join(names[g * 5 : g * 5 + 5]) + '"]' for g in range(4_000)]
    release = pl.DataFrame({"q": np.repeat(cells, 5), "s": np.arange(20_000) % 7})
    people = pl.DataFrame({"q": names, "s": np.arange(20_000) % 7})
    tracemalloc.start()
    cover = CellCover(open_published(release, SCHEMA), people)
    learn(cover, people, "s")
    link(cover, people, "s", [0], draw(20_000, 20, 0))
    nodes = cover_column(
        pl.Series("q", [f"s{place:02}***" for place in range(20)]),
        people["q"],
        Hierarchy.of("Prefix()"),
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert nodes.unread == 0
    assert nodes.covering(3).tolist() == [True] + [False] * 19
    assert peak < 40e6
